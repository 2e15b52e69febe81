//! Names of tools and of their operations.
//!
//! A name enters from configuration, from tool definition files and from Rust code; a model's own
//! text is never a [`ToolName`], it is compared with one. The grammar is
//! `[A-Za-z_][A-Za-z0-9_.-]{0,63}`, checked wherever a name is made, also when it is deserialised.

use std::{borrow::Borrow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The longest name, in bytes (names are ASCII).
const MAX_NAME: usize = 64;

/// The name of a tool, unique in a registry. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(Arc<str>);

/// The name of one operation of a tool (`extract` in `browser.extract`): a [`ToolName`] without
/// dots. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperationName(Arc<str>);

/// A text that is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} is not a name: {problem} (a name is 1 to 64 of A-Z a-z 0-9 _ {dots}-, and begins \
     with a letter or _)", dots = if *.allows_dots { ". " } else { "" }
)]
pub struct NameError {
    name: String,
    problem: &'static str,
    allows_dots: bool,
}

impl NameError {
    fn new(name: &str, problem: &'static str, allows_dots: bool) -> Self {
        Self { name: crate::clip(name, 80).to_owned(), problem, allows_dots }
    }
}

fn check(name: &str, allows_dots: bool) -> Result<Arc<str>, NameError> {
    let problem = match name.as_bytes() {
        [] => "it is empty",
        bytes if bytes.len() > MAX_NAME => "it is longer than 64 bytes",
        [first, ..] if !(first.is_ascii_alphabetic() || *first == b'_') => {
            "its first character is not a letter or _"
        }
        [_, rest @ ..] => {
            let fits = |b: &u8| {
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') || (*b == b'.' && allows_dots)
            };
            if rest.iter().all(fits) {
                return Ok(name.into());
            }
            "it holds a character that is not allowed"
        }
    };
    Err(NameError::new(name, problem, allows_dots))
}

macro_rules! name_type {
    ($type:ident, $allows_dots:expr) => {
        impl $type {
            /// Checks `name` against the grammar.
            ///
            /// # Errors
            /// [`NameError`] says what is wrong and what would be accepted.
            pub fn new(name: impl AsRef<str>) -> Result<Self, NameError> {
                check(name.as_ref(), $allows_dots).map(Self)
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;
            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl TryFrom<&str> for $type {
            type Error = NameError;
            fn try_from(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl std::str::FromStr for $type {
            type Err = NameError;
            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.as_str().to_owned()
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }
    };
}

name_type!(ToolName, true);
name_type!(OperationName, false);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_holds_at_its_edges() {
        let longest = "a".repeat(64);
        for good in ["a", "_", "math.factorial", "read-file", "A9._-", longest.as_str()] {
            assert!(ToolName::new(good).is_ok(), "{good}");
        }
        let too_long = "a".repeat(65);
        for bad in ["", "9a", ".a", "-a", "a b", "a/b", "ä", "a\0", "; rm -rf /", &too_long] {
            assert!(ToolName::new(bad).is_err(), "{bad}");
        }
        assert!(OperationName::new("extract").is_ok());
        assert!(OperationName::new("a.b").is_err());
    }

    #[test]
    fn a_bad_name_is_refused_when_deserialised() {
        let error = serde_json::from_str::<ToolName>(r#""; rm -rf /""#).unwrap_err();
        assert!(error.to_string().contains("not a name"), "{error}");
    }
}
