//! The bearer token. It is compared by its hash, so that the time says nothing of how much was right,
//! and is shown nowhere.

use std::fmt;

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};

use crate::random;

/// The fewest bytes of a token.
const LEAST: usize = 16;

/// What a client has to send as `Authorization: Bearer …`.
#[derive(Clone)]
pub struct Token {
    hash: [u8; 32],
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A text that is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is too short, or has characters that no header carries.
    #[error("a token must have at least {LEAST} visible ASCII characters, and no spaces")]
    Unfit,
    /// There is no source of random bytes.
    #[error("no token can be made")]
    Random(#[from] std::io::Error),
}

impl Token {
    /// The token with this text; white space around it is no part of it.
    ///
    /// # Errors
    /// A text that is too short, or that a header can't carry.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() < LEAST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Unfit);
        }
        Ok(Self { hash: Sha256::digest(text.as_bytes()).into() })
    }

    /// A new token of 256 random bits, and its text, which is to be shown once.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn generate() -> Result<(Self, String), TokenError> {
        let text = random::hex::<32>()?;
        Ok((Self::new(&text)?, text))
    }

    /// Whether a request brings it, once.
    pub(super) fn is_borne_by(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let Some((scheme, token)) = value.to_str().ok().and_then(|value| value.split_once(' '))
        else {
            return false;
        };
        let hash: [u8; 32] = Sha256::digest(token.trim().as_bytes()).into();
        scheme.eq_ignore_ascii_case("bearer") && hash == self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_opens() {
        let token = Token::new(" 0123456789abcdef\n").unwrap();
        let bears = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            token.is_borne_by(&headers)
        };
        assert!(bears(&["Bearer 0123456789abcdef"]) && bears(&["bearer 0123456789abcdef"]));
        for wrong in [
            &[][..],
            &["0123456789abcdef"],
            &["Basic 0123456789abcdef"],
            &["Bearer 0123456789abcde"],
            &["Bearer 0123456789abcdeF"],
            &["Bearer "],
            &["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"],
        ] {
            assert!(!bears(wrong), "{wrong:?}");
        }
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn a_weak_text_is_no_token() {
        for text in ["", "short", "0123456789 abcdef", "0123456789abcdeé"] {
            assert!(matches!(Token::new(text), Err(TokenError::Unfit)), "{text}");
        }
        assert_ne!(Token::generate().unwrap().1, Token::generate().unwrap().1);
    }
}
