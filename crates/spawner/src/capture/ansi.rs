//! Terminal escapes out of a text, for readers that are no terminal (ECMA-48).

/// The text without escape sequences.
///
/// ```
/// assert_eq!(spawner::without_ansi("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}x"), "red x");
/// ```
#[must_use]
pub fn without_ansi(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[sequence(rest.as_bytes()).unwrap_or(rest.len())..];
    }
    plain.push_str(rest);
    plain
}

/// How many bytes at the end are a sequence that is not complete.
pub(crate) fn incomplete_tail(text: &[u8]) -> usize {
    /// No sequence that is worth waiting for is longer.
    const LONGEST: usize = 256;
    let from = text.len().saturating_sub(LONGEST);
    let window = text.get(from..).unwrap_or_default();
    let Some(last) = window.iter().rposition(|byte| *byte == 0x1b) else { return 0 };
    let tail = window.get(last..).unwrap_or_default();
    if sequence(tail).is_none() { tail.len() } else { 0 }
}

/// The length of the escape sequence at the start; nothing where it is not complete. Never cuts a
/// character.
fn sequence(text: &[u8]) -> Option<usize> {
    let rest = text.get(1..)?;
    match *rest.first()? {
        // CSI: parameters, then one final byte.
        b'[' => {
            let end = rest.iter().skip(1).position(|byte| !(0x20..=0x3f).contains(byte))?;
            let is_final = rest.get(end + 1).is_some_and(|byte| (0x40..=0x7e).contains(byte));
            Some(end + 2 + usize::from(is_final))
        }
        // OSC and other strings: up to BEL or ST.
        b']' | b'P' | b'X' | b'^' | b'_' => {
            let end = rest.iter().position(|byte| *byte == 0x07 || *byte == 0x1b)?;
            match rest.get(end) {
                Some(0x07) => Some(end + 2),
                _ => rest.get(end + 1).map(|next| end + if *next == b'\\' { 3 } else { 1 }),
            }
        }
        // Two characters, or an intermediate one and a final one.
        0x20..=0x2f => rest.get(1).map(|next| if next.is_ascii() { 3 } else { 2 }),
        0x30..=0x7e => Some(2),
        _ => Some(1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        let cases = [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b", "alinkb"),
            ("\u{1b}(Bx\u{1b}7y\u{1b}[?25lz", "xyz"),
            ("end\u{1b}[3", "end"),
            ("\u{1b}[é", "é"),
            ("def f():\n\n    return 1\n", "def f():\n\n    return 1\n"),
        ];
        for (text, plain) in cases {
            assert_eq!(without_ansi(text), plain, "{text:?}");
        }
        assert_eq!(incomplete_tail(b"ab\x1b[3"), 3);
        assert_eq!(incomplete_tail(b"ab\x1b[3m"), 0);
    }

    proptest! {
        #[test]
        fn nothing_panics_and_no_escape_is_left(text in "[\u{1b}\\[\\]a-c0-9;é\u{7}\\\\ ]{0,40}") {
            let plain = without_ansi(&text);
            prop_assert!(!plain.contains(char::from(0x1b)));
        }
    }
}
