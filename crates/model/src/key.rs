//! A provider's key, kept out of everything that is read by people or written to disk.
//!
//! A key comes from the caller; this crate reads no environment variable. `Debug` and `Display` never
//! show it, no serialisation exists, and [`ApiKey::redact`] takes it out of texts that a server
//! sent, so that a server that echoes the key back can't put it into an error.

use std::fmt;

use crate::ModelError;

/// What stands in the place of a key.
const MASK: &str = "[redacted]";

/// How much of a key, in bytes, is already too much to show; shorter keys are masked where they stand
/// whole.
const PIECE: usize = 12;

/// A secret that authorizes requests.
///
/// ```
/// let key = model::ApiKey::new("sk-very-secret")?;
/// assert_eq!(format!("{key} {key:?}"), "[redacted] ApiKey([redacted])");
/// assert!(model::ApiKey::new("two words").is_err());
/// # Ok::<(), model::ModelError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key from its text: visible ASCII, no white space.
    ///
    /// # Errors
    /// [`ModelError::Config`] for an empty text, or one that can't stand in an HTTP header. The error
    /// says where the first such character is, and not which.
    pub fn new(key: impl Into<String>) -> Result<Self, ModelError> {
        let key = key.into();
        if key.is_empty() {
            return Err(ModelError::Config("the key is empty".to_owned()));
        }
        match key.bytes().position(|byte| !byte.is_ascii_graphic()) {
            None => Ok(Self(key)),
            Some(at) => Err(ModelError::Config(format!(
                "the key has white space or a character that is not ASCII at byte {at} (of {}); \
                 perhaps a line break came along with it",
                key.len()
            ))),
        }
    }

    /// The secret itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without this key: it, and every piece of it of at least 12 bytes, is masked.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let covered = self.covered(text.as_bytes());
        let mut clean = String::with_capacity(text.len());
        let mut is_masked = false;
        for (at, character) in text.char_indices() {
            let masks = covered.get(at).is_some_and(|covered| *covered);
            if !masks {
                clean.push(character);
            } else if !is_masked {
                clean.push_str(MASK);
            }
            is_masked = masks;
        }
        clean
    }

    /// For every byte of `text`, whether it belongs to a piece of the key.
    fn covered(&self, text: &[u8]) -> Vec<bool> {
        let key = self.0.as_bytes();
        let piece = PIECE.min(key.len());
        let mut covered = vec![false; text.len()];
        for (at, window) in text.windows(piece).enumerate() {
            if key.windows(piece).any(|part| part == window) {
                covered.iter_mut().skip(at).take(piece).for_each(|byte| *byte = true);
            }
        }
        covered
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({MASK})")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_can_not_stand_in_a_header_is_refused_without_being_shown() {
        for bad in ["", "secretive key", "secretive\n", "secretivé", "\u{0}secretive"] {
            let error = ApiKey::new(bad).unwrap_err().to_string();
            assert!(!error.contains("secretiv"), "{error}");
        }
    }

    #[test]
    fn a_piece_of_the_key_is_masked_too() {
        let key = ApiKey::new("sk-abcdefghijklmnop").unwrap();
        let clean = key.redact("wrong key sk-abcdefghijkl…, or “fghijklmnop”, or sk-abc");
        assert_eq!(clean, "wrong key [redacted]…, or “fghijklmnop”, or sk-abc");
        assert_eq!(ApiKey::new("ollama").unwrap().redact("key ollama?"), "key [redacted]?");
    }

    proptest! {
        #[test]
        fn no_text_keeps_the_key(key in "[!-~]{1,40}", before in "\\PC{0,30}", after in "\\PC{0,30}") {
            let key = ApiKey::new(key).unwrap();
            let clean = key.redact(&format!("{before}{}{after}", key.expose()));
            prop_assert!(!clean.replace(MASK, "\u{0}").contains(key.expose()), "{}", clean);
        }

        #[test]
        fn a_text_without_the_key_is_kept(text in "[a-z ä]{0,60}") {
            let key = ApiKey::new("SK-0123456789").unwrap();
            prop_assert_eq!(key.redact(&text), text);
        }
    }
}
