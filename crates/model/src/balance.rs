//! Whether a JSON text that arrives in pieces is still open.
//!
//! It counts brackets outside of strings, nothing more: a text that is closed may still be no JSON.

/// What was seen of one text so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Balance {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_begun: bool,
}

impl Balance {
    /// The balance of a whole text.
    pub(crate) fn of(text: &str) -> Self {
        let mut balance = Self::default();
        balance.push(text);
        balance
    }

    /// Goes on reading.
    pub(crate) fn push(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.step(byte));
    }

    fn step(&mut self, byte: u8) {
        self.is_begun |= !byte.is_ascii_whitespace();
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_in_string => self.is_escaped = true,
            b'"' => self.is_in_string = !self.is_in_string,
            b'{' | b'[' if !self.is_in_string => self.depth += 1,
            b'}' | b']' if !self.is_in_string => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Something has begun, and is not at its end.
    pub(crate) fn is_open(self) -> bool {
        self.depth > 0 || self.is_in_string
    }

    /// Something has begun, and may be at its end.
    pub(crate) fn is_closed(self) -> bool {
        self.is_begun && !self.is_open()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_object_is_open_until_its_last_byte() {
        let text = r#"{"a": ["}\"", {"b": "\\"}]}"#;
        for end in 1..text.len() {
            assert!(Balance::of(&text[..end]).is_open(), "{}", &text[..end]);
        }
        assert!(Balance::of(text).is_closed());
        assert!(!Balance::of("  ").is_closed() && !Balance::of("  ").is_open());
        assert!(Balance::of("null").is_closed());
    }

    proptest! {
        #[test]
        fn pieces_are_read_as_the_whole(text in "[{}\\[\\]\"\\\\a ]{0,20}", cut in 0usize..20) {
            let cut = cut.min(text.len());
            let mut pieces = Balance::of(&text[..cut]);
            pieces.push(&text[cut..]);
            prop_assert_eq!(pieces.is_open(), Balance::of(&text).is_open());
            prop_assert_eq!(pieces.is_closed(), Balance::of(&text).is_closed());
        }
    }
}
