//! A request of a model, before anything was decided about it.
//!
//! Everything in here is untrusted text: the name may be no name, the arguments no JSON. Nothing is
//! interpreted before the [`Gate`](crate::Gate) has checked the name, the scope and the size.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The id that a model (or we, where it gave none) gave a call. Its result carries the same id.
///
/// Ids are opaque and need not be unique: results are matched by position, the id is only passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// An id from its text; may be empty.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the caller gave no id at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for CallId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Arguments as they came: JSON text (the usual case, nothing parsed yet) or a value that a Rust
/// program built.
#[derive(Debug, Clone, PartialEq)]
pub enum RawArguments {
    /// The JSON text of the arguments, unparsed.
    Text(String),
    /// A value made in this process.
    Json(Value),
}

impl RawArguments {
    /// The size that stage 3 measures, in bytes: of the text, or of the value written as compact JSON.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Json(value) => value.to_string().len(),
        }
    }

    /// The JSON text, written out where the arguments came as a value.
    #[must_use]
    pub fn to_text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Json(value) => value.to_string().into(),
        }
    }
}

/// One request: which tool, with which arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id its result will carry.
    pub id: CallId,
    /// The name as the model wrote it; perhaps of no tool.
    pub name: String,
    /// The arguments as they came.
    pub arguments: RawArguments,
}

impl ToolCall {
    /// A call with its arguments as JSON text.
    pub fn from_text(
        id: impl Into<CallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let arguments = RawArguments::Text(arguments.into());
        Self { id: id.into(), name: name.into(), arguments }
    }

    /// A call with its arguments as a value.
    pub fn from_json(id: impl Into<CallId>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: RawArguments::Json(arguments) }
    }
}
