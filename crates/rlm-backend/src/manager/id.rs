//! The name of a session: a ULID, so that ids sort by age and none can be guessed.

use std::{fmt, io, str::FromStr, time::SystemTime};

use ulid::Ulid;

use super::SessionError;

/// The id of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Ulid);

impl SessionId {
    /// A new one.
    pub(super) fn new() -> io::Result<Self> {
        let mut random = [0_u8; 16];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let ms = u64::try_from(now.as_millis()).unwrap_or_default();
        Ok(Self(Ulid::from_parts(ms, u128::from_le_bytes(random))))
    }
}

impl FromStr for SessionId {
    type Err = SessionError;

    fn from_str(text: &str) -> Result<Self, SessionError> {
        let malformed = || SessionError::Malformed(tool_core::clip(text, 64).to_owned());
        Ulid::from_string(text).map(Self).map_err(|_| malformed())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; ulid::ULID_LEN];
        f.pad(self.0.array_to_str(&mut text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written_and_no_two_are_alike() {
        let (one, other) = (SessionId::new().unwrap(), SessionId::new().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.to_string().parse::<SessionId>().unwrap(), one);
        for text in ["", "abc", "01ARZ3NDEKTSV4RRFFQ69G5FAV0", "01ARZ3NDEKTSV4RRFFQ69G5FA!"] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }
}
