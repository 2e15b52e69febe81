//! What is asked, and what it is asked about.

use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};

use model::Model;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ContextFile;
use crate::SessionId;

/// What a question is about: the variable `context` of the session. It never goes through a model.
#[derive(Debug, Clone, Default)]
pub enum Context {
    /// There is none.
    #[default]
    None,
    /// A text, a list, a dict, or any other JSON.
    Value(Value),
    /// A text file of the host. The session reads it where it lies, and cannot change it.
    File(PathBuf),
    /// A file that goes with the last of its users, of text or of JSON.
    Temporary {
        /// The file.
        file: Arc<ContextFile>,
        /// Whether it holds JSON.
        is_json: bool,
    },
}

/// From how many bytes on a text is handed over as a file.
const LARGE: usize = 1 << 20;

impl Context {
    /// A text; a large one is written to a file that is deleted after its use.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn text(text: String) -> std::io::Result<Self> {
        if text.len() < LARGE {
            return Ok(Self::Value(Value::String(text)));
        }
        let mut file = ContextFile::new()?;
        file.write_all(text.as_bytes())?;
        Ok(Self::Temporary { file: Arc::new(file), is_json: false })
    }

    /// The file that a session must be able to read.
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::None | Self::Value(_) => None,
            Self::File(path) => Some(path.clone()),
            Self::Temporary { file, .. } => Some(file.path().to_owned()),
        }
    }

    /// The same as the session's part reads it.
    pub(super) fn argument(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Value(value) => json!({"kind": "value", "value": value}),
            Self::File(path) => json!({"kind": "file", "path": path.to_string_lossy()}),
            Self::Temporary { file, is_json } => {
                let kind = if *is_json { "json" } else { "file" };
                json!({"kind": kind, "path": file.path().to_string_lossy()})
            }
        }
    }
}

/// What a caller may spend of what the configuration allows; never more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueryBudget {
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Sub-calls.
    pub sub_calls: Option<u64>,
    /// Levels of queries below the first.
    pub depth: Option<u64>,
    /// Turns of a query.
    pub iterations: Option<u64>,
    /// Milliseconds.
    pub time_ms: Option<u64>,
}

impl QueryBudget {
    pub(crate) fn time(&self, most: Duration) -> Duration {
        self.time_ms.map_or(most, |ms| Duration::from_millis(ms).min(most))
    }
}

/// A question, with all that a caller can say about it.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// What is asked.
    pub prompt: String,
    /// What it is asked about.
    pub context: Context,
    /// The session to work in; a new one, which ends with the query, where there is none.
    pub session: Option<SessionId>,
    /// The name of the model that works; the configured one where there is none.
    pub model: Option<String>,
    /// What it may spend.
    pub budget: QueryBudget,
}

/// A question as one level works on it.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) prompt: String,
    pub(super) context: Context,
    pub(super) model: Arc<dyn Model>,
}
