//! Bytes as text: base64 with the standard alphabet and padding. Source: RFC 4648, section 4.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = 0_u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(group.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            let sextet = (bits >> (18 - 6 * at)) & 63;
            let is_there = at <= group.len();
            text.push(if is_there { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    text
}

/// The bytes of a text of base64; line breaks in it don't count. `None` where it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    let last = digits.len() / 4;
    for (at, group) in (1..).zip(digits.chunks(4)) {
        let padding = group.iter().rev().take_while(|&&digit| digit == b'=').count();
        if padding > 2 || (padding > 0 && at < last) {
            return None;
        }
        let mut bits = 0_u32;
        for &digit in &group[..4 - padding] {
            bits = bits << 6 | value(digit)?;
        }
        bits <<= 6 * padding;
        let [_, whole @ ..] = bits.to_be_bytes();
        // What the padding says is not there must be zero.
        if whole[3 - padding..].iter().any(|&byte| byte != 0) {
            return None;
        }
        bytes.extend_from_slice(&whole[..3 - padding]);
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_source() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(decode("Zm9v\nYmFy\r\n").unwrap(), b"foobar");
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Z===", "Zm9-", "Zm9é"]
        {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[test]
    fn every_byte_is_read_as_it_was_written() {
        let all: Vec<u8> = (0..=255).collect();
        for end in 0..all.len() {
            assert_eq!(decode(&encode(&all[..end])).unwrap(), &all[..end]);
        }
    }
}
