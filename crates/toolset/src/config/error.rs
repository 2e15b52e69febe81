//! What can be wrong with a configuration: its text, a key, or a value, with its origin.

/// A configuration that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("{file}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        message: String,
    },
    /// A key that does not exist.
    #[error("{origin}: unknown key {key:?}; the nearest valid one is {nearest:?}")]
    UnknownKey {
        /// Where it was set.
        origin: String,
        /// The key, with its section.
        key: String,
        /// The valid key that is spelt most alike.
        nearest: String,
    },
    /// A value of the wrong kind.
    #[error("{origin}: {key}: {message}")]
    Value {
        /// Where it was set.
        origin: String,
        /// The key, with its section.
        key: String,
        /// What was expected, and what was there.
        message: String,
    },
}
