//! Numbers of a configuration that have a range.

/// A number out of its range, told with the key that holds it and what would be accepted.
///
/// ```
/// let ranges = [("jobs", 4, 1, 64), ("timeout_secs", 0, 1, 3600)];
/// let error = tool_core::OutOfRange::check(&ranges).unwrap_err();
/// assert_eq!(error.to_string(), "timeout_secs is 0, and must be from 1 to 3600");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {given}, and must be from {least} to {most}")]
pub struct OutOfRange {
    /// The key, within its section.
    pub key: &'static str,
    /// Its value.
    pub given: u64,
    /// The least that is accepted.
    pub least: u64,
    /// The most that is accepted.
    pub most: u64,
}

impl OutOfRange {
    /// Checks numbers, each given as `(key, given, least, most)`.
    ///
    /// # Errors
    ///
    /// The first that is out of its range.
    pub fn check(ranges: &[(&'static str, u64, u64, u64)]) -> Result<(), Self> {
        let bad = ranges.iter().find(|(_, given, least, most)| given < least || given > most);
        match bad {
            Some(&(key, given, least, most)) => Err(Self { key, given, least, most }),
            None => Ok(()),
        }
    }
}
