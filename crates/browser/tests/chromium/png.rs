//! Reading a screenshot: PNG with 8 bits a channel, as Chromium writes it. Source: the PNG
//! specification, third edition (<https://www.w3.org/TR/png-3/>).

use std::io::Read;

use flate2::read::ZlibDecoder;

/// An image: its size, and its pixels as red, green and blue.
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Image {
    /// Reads base64 of a PNG.
    pub(crate) fn read(data: &str) -> Self {
        let bytes = bytes_of_base64(data);
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let (mut at, mut header, mut packed) = (8, Vec::new(), Vec::new());
        while at < bytes.len() {
            let length = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let body = &bytes[at + 8..at + 8 + length];
            match &bytes[at + 4..at + 8] {
                b"IHDR" => header = body.to_vec(),
                b"IDAT" => packed.extend_from_slice(body),
                _ => {}
            }
            at += length + 12;
        }
        let number =
            |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap()) as usize;
        let (width, height) = (number(0), number(4));
        let channels = match (header[8], header[9]) {
            (8, 2) => 3,
            (8, 6) => 4,
            other => panic!("another kind of PNG: {other:?}"),
        };
        let mut raw = Vec::new();
        ZlibDecoder::new(packed.as_slice()).read_to_end(&mut raw).unwrap();
        let pixels = unfiltered(&raw, width * channels, channels);
        let pixels = pixels.chunks(channels).map(|one| [one[0], one[1], one[2]]).collect();
        Self { width, height, pixels }
    }

    /// The colour at a place.
    pub(crate) fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }
}

/// Takes the filters of lines away.
fn unfiltered(raw: &[u8], line: usize, step: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut above = vec![0_u8; line];
    for filtered in raw.chunks(line + 1) {
        let mut now = filtered[1..].to_vec();
        for at in 0..line {
            let (left, corner) = match at.checked_sub(step) {
                Some(before) => (now[before], above[before]),
                None => (0, 0),
            };
            let up = above[at];
            let guess = match filtered[0] {
                0 => 0,
                1 => left,
                2 => up,
                3 => u8::midpoint(left, up),
                4 => paeth(left, up, corner),
                other => panic!("no filter: {other}"),
            };
            now[at] = now[at].wrapping_add(guess);
        }
        all.extend_from_slice(&now);
        above = now;
    }
    all
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |one: u8| (guess - i16::from(one)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}

fn bytes_of_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for digit in text.bytes().filter(|&digit| digit != b'=') {
        let value = ALPHABET.iter().position(|&one| one == digit).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}
