//! A section that can't be used, with the key to mend.

use tool_core::OutOfRange;

/// A value of `[subagent]` that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubagentConfigError {
    /// A number out of its range.
    #[error("{key} is {given}, and must be from {least} to {most}")]
    Range {
        /// The key, within the section.
        key: String,
        /// Its value.
        given: u64,
        /// The least that is accepted.
        least: u64,
        /// The most that is accepted.
        most: u64,
    },
    /// A provider that is not there.
    #[error("there is no provider {name:?} (valid: {valid})")]
    UnknownProvider {
        /// The provider that names it; empty where the section does.
        of: String,
        /// The name.
        name: String,
        /// Those that are there.
        valid: String,
    },
    /// A value of one provider.
    #[error("{message}")]
    Provider {
        /// The provider.
        name: String,
        /// Its key.
        key: &'static str,
        /// What is wrong.
        message: String,
    },
}

impl SubagentConfigError {
    /// The key of the section whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Range { key, .. } => key.clone(),
            Self::UnknownProvider { of, .. } if of.is_empty() => "provider".to_owned(),
            Self::UnknownProvider { of, .. } => format!("providers.{of}.fallback"),
            Self::Provider { name, key, .. } => format!("providers.{name}.{key}"),
        }
    }
}

/// Refuses the first number that is out of its range.
pub(super) fn check_ranges(
    provider: Option<&str>,
    ranges: &[(&'static str, u64, u64, u64)],
) -> Result<(), SubagentConfigError> {
    OutOfRange::check(ranges).map_err(|OutOfRange { key, given, least, most }| {
        let key = match provider {
            Some(name) => format!("providers.{name}.{key}"),
            None => key.to_owned(),
        };
        SubagentConfigError::Range { key, given, least, most }
    })
}
