//! One line of the trail.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tool_core::{ByteCount, RawArguments, Reading, Stage, clip};

/// The longest text of a model (a name, an id) that a line repeats, in bytes.
const MAX_TEXT: usize = 128;

/// What a line reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditEvent {
    /// The call passed stages 1 to 4 and is about to run.
    Admitted,
    /// The call was answered.
    Answered,
}

/// A decision about a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditRecord {
    /// What is reported.
    pub event: AuditEvent,
    /// The id of the call, at most 128 bytes of it.
    pub call_id: String,
    /// The name that was called, at most 128 bytes of it.
    pub tool: String,
    /// The stage that decided.
    pub stage: Stage,
    /// `ok`, `admitted`, or the kind of error.
    pub outcome: String,
    /// The capabilities that the operator authorized.
    pub scope: Vec<String>,
    /// Bytes of the arguments as they came.
    pub args_bytes: ByteCount,
    /// SHA-256 of the arguments as they came, in hexadecimal.
    pub args_sha256: String,
    /// How the arguments were read, where that was not the plain way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// Bytes of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<ByteCount>,
    /// From the arrival of the call to its answer, a person's time included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// What every line about one call says alike.
#[derive(Debug, Clone)]
pub(crate) struct CallFacts {
    call_id: String,
    tool: String,
    args_bytes: ByteCount,
    args_sha256: String,
}

impl CallFacts {
    pub(crate) fn new(call_id: &str, tool: &str, arguments: &RawArguments) -> Self {
        let text = arguments.to_text();
        Self {
            call_id: clip(call_id, MAX_TEXT).to_owned(),
            tool: clip(tool, MAX_TEXT).to_owned(),
            args_bytes: text.len().into(),
            args_sha256: hex(&Sha256::digest(text.as_bytes())),
        }
    }

    pub(crate) fn record(
        &self,
        event: AuditEvent,
        stage: Stage,
        outcome: &str,
        scope: &tool_core::AuthorizationScope,
    ) -> AuditRecord {
        AuditRecord {
            event,
            call_id: self.call_id.clone(),
            tool: self.tool.clone(),
            stage,
            outcome: outcome.to_owned(),
            scope: scope.allowed().map(str::to_owned).collect(),
            args_bytes: self.args_bytes,
            args_sha256: self.args_sha256.clone(),
            reading: None,
            output_bytes: None,
            duration_ms: None,
        }
    }
}

/// A line: its place in the chain, then the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Counts from 1.
    pub(crate) seq: u64,
    /// RFC 3339, UTC.
    pub(crate) time: String,
    /// SHA-256 of the line before, without its line break; zeros for the first.
    pub(crate) prev: String,
    #[serde(flatten)]
    pub(crate) record: AuditRecord,
}

/// The `prev` of the first line.
pub(crate) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The hash that the next line carries.
pub(crate) fn hash_of(line: &str) -> String {
    hex(&Sha256::digest(line.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
