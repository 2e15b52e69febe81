//! The name of an agent: a ULID, so that ids sort by age and are never used again.

use std::{fmt, io, str::FromStr, time::SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use ulid::Ulid;

/// The id of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(Ulid);

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no agent id; an id is 26 characters, as spawn and list give it")]
pub struct MalformedId(String);

impl AgentId {
    /// A new one.
    ///
    /// # Errors
    /// The machine gives no random bytes.
    pub(crate) fn new() -> io::Result<Self> {
        let mut random = [0_u8; 16];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let ms = u64::try_from(now.as_millis()).unwrap_or_default();
        Ok(Self(Ulid::from_parts(ms, u128::from_le_bytes(random))))
    }
}

impl FromStr for AgentId {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let malformed = || MalformedId(tool_core::clip(text, 64).to_owned());
        Ulid::from_string(text).map(Self).map_err(|_| malformed())
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; ulid::ULID_LEN];
        f.pad(self.0.array_to_str(&mut text))
    }
}

impl Serialize for AgentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AgentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written_and_no_two_are_alike() {
        let (one, other) = (AgentId::new().unwrap(), AgentId::new().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.to_string().parse::<AgentId>().unwrap(), one);
        for text in ["", "abc", "01ARZ3NDEKTSV4RRFFQ69G5FAV0", "01ARZ3NDEKTSV4RRFFQ69G5FA!"] {
            assert!(text.parse::<AgentId>().is_err(), "{text}");
        }
    }
}
