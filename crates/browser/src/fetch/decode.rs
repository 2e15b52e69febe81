//! A body out of its content codings, up to a ceiling.
//!
//! Every decoder writes into a buffer that never grows past the ceiling, and none keeps more than its
//! window: 32 KiB for gzip and deflate, at most 8 MiB for zstd (RFC 9659). A body that breaks off gives
//! what it gave until then.

use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

use super::encodings::Coding;

/// The largest window of a zstd frame in HTTP.
const ZSTD_WINDOW: u64 = 8 << 20;

/// What came out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// There was more than the ceiling.
    pub(super) is_truncated: bool,
    /// It broke off.
    pub(super) is_broken: bool,
}

/// Undoes the codings, the last one first.
///
/// # Errors
/// What is wrong, where not one byte came out.
pub(super) fn decode(body: Vec<u8>, codings: &[Coding], max: usize) -> Result<Decoded, String> {
    let mut decoded = Decoded { bytes: body, is_truncated: false, is_broken: false };
    for coding in codings.iter().rev() {
        if decoded.bytes.is_empty() {
            break;
        }
        let one = decode_one(&decoded.bytes, *coding, max)?;
        decoded.is_truncated |= one.is_truncated;
        decoded.is_broken |= one.is_broken;
        decoded.bytes = one.bytes;
    }
    if decoded.bytes.len() > max {
        decoded.bytes.truncate(max);
        decoded.is_truncated = true;
    }
    Ok(decoded)
}

fn decode_one(body: &[u8], coding: Coding, max: usize) -> Result<Decoded, String> {
    match coding {
        Coding::Gzip => read(MultiGzDecoder::new(body), max),
        // Two things are called deflate: with the header of zlib, as it is written, and without.
        Coding::Deflate if is_zlib(body) => read(ZlibDecoder::new(body), max),
        Coding::Deflate => read(DeflateDecoder::new(body), max),
        Coding::Zstd => read(Frames { rest: body, current: None }, max),
    }
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..]
        if first & 0x0f == 8 && (u16::from(*first) * 256 + u16::from(*second)) % 31 == 0)
}

/// Reads up to one byte more than the ceiling, to know whether there is more.
fn read(decoder: impl Read, max: usize) -> Result<Decoded, String> {
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let result = decoder.take(limit).read_to_end(&mut bytes);
    let is_truncated = bytes.len() > max;
    bytes.truncate(max);
    match result {
        Err(error) if bytes.is_empty() => Err(error.to_string()),
        result => Ok(Decoded { bytes, is_truncated, is_broken: result.is_err() && !is_truncated }),
    }
}

/// The frames of a zstd body, one after the other (RFC 8878, section 3).
struct Frames<'a> {
    rest: &'a [u8],
    current: Option<Box<StreamingDecoder<&'a [u8], ruzstd::decoding::FrameDecoder>>>,
}

impl Read for Frames<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.current {
                let read = frame.read(buf)?;
                if read > 0 {
                    return Ok(read);
                }
                self.rest = frame.get_ref();
                self.current = None;
            }
            if self.rest.is_empty() {
                return Ok(0);
            }
            if let Some(after) = skippable(self.rest) {
                self.rest = after?;
                continue;
            }
            let frame = StreamingDecoder::new_with_max_window_size(self.rest, ZSTD_WINDOW);
            self.current = Some(Box::new(frame.map_err(io::Error::other)?));
        }
    }
}

/// What follows a frame that holds no data, where this is one.
fn skippable(bytes: &[u8]) -> Option<io::Result<&[u8]>> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    let [a, b, c, d, size @ ..] = *head;
    if u32::from_le_bytes([a, b, c, d]) & 0xffff_fff0 != 0x184d_2a50 {
        return None;
    }
    let size = usize::try_from(u32::from_le_bytes(size)).unwrap_or(usize::MAX);
    Some(rest.get(size..).ok_or_else(|| io::ErrorKind::UnexpectedEof.into()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = write::GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    #[test]
    fn every_coding_gives_its_text_back() {
        let text = b"a text a text a text".repeat(100);
        let mut zlib = write::ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        let mut raw = write::DeflateEncoder::new(Vec::new(), Compression::fast());
        raw.write_all(&text).unwrap();
        let skipped = [b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec(), zstd(&text)].concat();
        for (body, codings) in [
            (gzip(&text), vec![Coding::Gzip]),
            (zlib.finish().unwrap(), vec![Coding::Deflate]),
            (raw.finish().unwrap(), vec![Coding::Deflate]),
            (zstd(&text), vec![Coding::Zstd]),
            (skipped, vec![Coding::Zstd]),
            (gzip(&zstd(&text)), vec![Coding::Zstd, Coding::Gzip]),
            (text.clone(), vec![]),
        ] {
            let decoded = decode(body, &codings, 1 << 20).unwrap();
            assert_eq!(decoded.bytes, text, "{codings:?}");
            assert!(!decoded.is_truncated && !decoded.is_broken, "{codings:?}");
        }
        let twice = [zstd(&text), zstd(&text)].concat();
        assert_eq!(decode(twice, &[Coding::Zstd], 1 << 20).unwrap().bytes.len(), 2 * text.len());
    }

    #[test]
    fn a_bomb_gives_its_ceiling_and_no_more() {
        let zeros = vec![0; 8 << 20];
        for (body, coding) in [(gzip(&zeros), Coding::Gzip), (zstd(&zeros), Coding::Zstd)] {
            let decoded = decode(body, &[coding], 1000).unwrap();
            assert_eq!(decoded.bytes.len(), 1000);
            assert!(decoded.is_truncated && decoded.bytes.capacity() < 8192, "{coding:?}");
        }
    }

    #[test]
    fn what_breaks_off_gives_what_it_gave() {
        let text: Vec<u8> = (0..20_000_u32).flat_map(u32::to_le_bytes).collect();
        let whole = gzip(&text);
        let cut = decode(whole[..whole.len() / 2].to_vec(), &[Coding::Gzip], 1 << 20).unwrap();
        assert!(cut.is_broken && !cut.is_truncated);
        assert!(!cut.bytes.is_empty() && text.starts_with(&cut.bytes));
        assert!(decode(b"no gzip".to_vec(), &[Coding::Gzip], 100).is_err());
        assert!(decode(b"no zstd at all".to_vec(), &[Coding::Zstd], 100).is_err());
    }

    #[test]
    fn a_window_over_the_ceiling_is_refused_before_it_is_made() {
        // Magic, a descriptor without a content size, and a window of 2^41 bytes.
        let body = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0];
        assert!(decode(body.to_vec(), &[Coding::Zstd], 100).is_err());
    }
}
