//! Unpacking of streams, within a budget of bytes.

use std::io::Read as _;

use super::{
    file::File,
    object::{Dictionary, Object},
};

/// Most filters of one stream.
const MAX_FILTERS: usize = 4;

/// Unpacks a stream; the other value says whether more was there than could be given.
pub(super) fn unpack(
    file: &File<'_>,
    dictionary: &Dictionary,
    packed: &[u8],
    most: usize,
) -> (Vec<u8>, bool) {
    let list = |key: &str| match file.get(dictionary, key) {
        Object::Array(items) => items.iter().map(|item| file.resolve(item)).collect(),
        Object::Null => Vec::new(),
        item => vec![item],
    };
    let (filters, parameters) = (list("Filter"), list("DecodeParms"));
    let mut bytes = packed.get(..most).unwrap_or(packed).to_vec();
    let mut cut = packed.len() > most || filters.len() > MAX_FILTERS;
    for (number, filter) in filters.iter().take(MAX_FILTERS).enumerate() {
        let Object::Name(filter) = filter else { continue };
        let parameters = match parameters.get(number) {
            Some(Object::Dictionary(parameters)) => parameters.clone(),
            _ => Dictionary::default(),
        };
        bytes = match filter.as_str() {
            "FlateDecode" | "Fl" => predict(&parameters, inflate(&bytes, most)),
            "LZWDecode" | "LZW" => predict(&parameters, lzw(&bytes, most)),
            "ASCIIHexDecode" | "AHx" => hexadecimal(&bytes),
            "ASCII85Decode" | "A85" => base85(&bytes),
            "RunLengthDecode" | "RL" => run_lengths(&bytes, most),
            // Images, and what is encrypted on its own.
            _ => Vec::new(),
        };
        cut |= bytes.len() >= most;
    }
    (bytes, cut)
}

/// Inflates with a zlib header, or without one where it is missing; what is before a mistake is kept.
fn inflate(packed: &[u8], most: usize) -> Vec<u8> {
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let _ = flate2::read::ZlibDecoder::new(packed).take(limit).read_to_end(&mut bytes);
    if bytes.is_empty() {
        let _ = flate2::read::DeflateDecoder::new(packed).take(limit).read_to_end(&mut bytes);
    }
    bytes
}

fn lzw(packed: &[u8], most: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    // Each entry is a stretch of what was given: where it begins, and its length.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    let mut previous: Option<(usize, usize)> = None;
    for &byte in packed {
        bits = bits << 8 | u32::from(byte);
        count += 8;
        let codes = 258 + table.len() + usize::from(previous.is_some());
        let width = match codes {
            0..511 => 9,
            511..1023 => 10,
            1023..2047 => 11,
            _ => 12,
        };
        if count < width {
            continue;
        }
        count -= width;
        let code = (bits >> count & ((1 << width) - 1)) as usize;
        match code {
            256 => {
                table.clear();
                previous = None;
                continue;
            }
            257 => break,
            _ => {}
        }
        let start = out.len();
        if let Ok(byte) = u8::try_from(code) {
            out.push(byte);
        } else if let Some(&(from, length)) = table.get(code - 258) {
            out.extend_from_within(from..from + length);
        } else if let Some((from, length)) = previous {
            out.extend_from_within(from..from + length);
            out.extend_from_within(from..=from);
        } else {
            break;
        }
        if let Some((from, length)) = previous
            && table.len() < 4096
        {
            // What was given last, and the first byte of what is given now, which follows it.
            table.push((from, length + 1));
        }
        previous = Some((start, out.len() - start));
        if out.len() > most {
            break;
        }
    }
    out
}

fn hexadecimal(text: &[u8]) -> Vec<u8> {
    let digits = text
        .iter()
        .take_while(|&&byte| byte != b'>')
        .filter_map(|&byte| char::from(byte).to_digit(16));
    let digits: Vec<u8> = digits.filter_map(|digit| u8::try_from(digit).ok()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn base85(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group: Vec<u32> = Vec::new();
    for &byte in text.strip_prefix(b"<~").unwrap_or(text) {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => out.extend([0; 4]),
            b'!'..=b'u' => {
                group.push(u32::from(byte - b'!'));
                if group.len() == 5 {
                    push_group(&mut out, &group, 4);
                    group.clear();
                }
            }
            _ => {}
        }
    }
    if group.len() > 1 {
        let kept = group.len() - 1;
        group.resize(5, 84);
        push_group(&mut out, &group, kept);
    }
    out
}

fn push_group(out: &mut Vec<u8>, group: &[u32], kept: usize) {
    let value =
        group.iter().fold(0_u32, |value, digit| value.wrapping_mul(85).wrapping_add(*digit));
    out.extend(value.to_be_bytes().into_iter().take(kept));
}

fn run_lengths(packed: &[u8], most: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = packed.iter().copied();
    while let Some(length) = bytes.next().filter(|_| out.len() < most) {
        match length {
            128 => break,
            0..128 => out.extend(bytes.by_ref().take(usize::from(length) + 1)),
            _ => {
                if let Some(byte) = bytes.next() {
                    out.extend(std::iter::repeat_n(byte, 257 - usize::from(length)));
                }
            }
        }
    }
    out
}

/// Takes back the predictor of PNG that parameters name.
fn predict(parameters: &Dictionary, bytes: Vec<u8>) -> Vec<u8> {
    let size = |key, or| parameters.get(key).and_then(Object::size).unwrap_or(or);
    if size("Predictor", 1) < 10 {
        return bytes;
    }
    let (colours, bits, columns) =
        (size("Colors", 1).min(32), size("BitsPerComponent", 8).min(16), size("Columns", 1));
    let pixel = (colours * bits).div_ceil(8).max(1);
    let Some(width) =
        columns.checked_mul(colours * bits).map(|bits| bits.div_ceil(8)).filter(|&width| width > 0)
    else {
        return bytes;
    };
    let mut out = Vec::with_capacity(bytes.len());
    let mut above = vec![0_u8; width.min(bytes.len())];
    for row in bytes.chunks(width.saturating_add(1)) {
        let Some((&kind, row)) = row.split_first() else { break };
        let mut line = row.to_vec();
        for at in 0..line.len() {
            let left = if at >= pixel { line[at - pixel] } else { 0 };
            let up = above.get(at).copied().unwrap_or(0);
            let corner = if at >= pixel { above.get(at - pixel).copied().unwrap_or(0) } else { 0 };
            let guess = match kind {
                1 => left,
                2 => up,
                3 => u8::midpoint(left, up),
                4 => paeth(left, up, corner),
                _ => 0,
            };
            line[at] = line[at].wrapping_add(guess);
        }
        out.extend_from_slice(&line);
        above = line;
    }
    out
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let guess = a + b - c;
    let (da, db, dc) = ((guess - a).abs(), (guess - b).abs(), (guess - c).abs());
    if da <= db && da <= dc {
        left
    } else if db <= dc {
        up
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packings_are_undone() {
        assert_eq!(hexadecimal(b"48 65 6C6c 6F>"), b"Hello");
        assert_eq!(base85(b"<~87cURDZ~>"), b"Hello");
        assert_eq!(
            run_lengths(&[4, b'H', b'e', b'l', b'l', b'o', 255, b'!', 128], 100),
            b"Hello!!"
        );
        let packed = [0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01];
        assert_eq!(lzw(&packed, 100), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
    }
}
