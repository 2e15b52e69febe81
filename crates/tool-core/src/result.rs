//! What a caller reads back: one result for every call.
//!
//! A [`ToolOutput`] is what a tool gives; a [`ToolResult`] is that output, or an error, with the
//! call's id. Never both, never neither: the type cannot hold it, and JSON that does is refused.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ByteCount, CallId, ErrorBody, ErrorKind, Reading, ToolError, head_and_tail};

/// One piece of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A JSON value.
    Json {
        /// The value.
        json: Value,
    },
    /// An image.
    Image {
        /// Its type, for example `image/png`.
        media_type: String,
        /// Its bytes in base64 (RFC 4648, with padding).
        data: String,
    },
    /// A file that the caller can read, relative to the working directory.
    File {
        /// Its path.
        path: String,
        /// Its size, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<ByteCount>,
        /// Its type, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
}

impl Content {
    /// The bytes it adds to a result: of the text, the written JSON, the base64 text or the path.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Json { json } => json.to_string().len(),
            Self::Image { media_type, data } => media_type.len() + data.len(),
            Self::File { path, media_type, .. } => {
                path.len() + media_type.as_ref().map_or(0, String::len)
            }
        }
    }
}

/// How much was left out of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truncation {
    /// Bytes left out. They lay between the first and the second content where the head and the
    /// tail were kept, and after the last one otherwise.
    pub omitted_bytes: ByteCount,
}

/// What a tool gives when it succeeds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// The pieces, in order.
    pub content: Vec<Content>,
    /// Set where something was left out.
    pub truncated: Option<Truncation>,
    /// What was really enforced on a child process, where there was one. Shared, because every call of
    /// a session has the same.
    pub confinement: Option<Arc<Value>>,
}

impl ToolOutput {
    /// An output of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text { text: text.into() }], ..Self::default() }
    }

    /// An output of one JSON value.
    #[must_use]
    pub fn json(json: Value) -> Self {
        Self { content: vec![Content::Json { json }], ..Self::default() }
    }

    /// The same output, marked as cut.
    #[must_use]
    pub fn with_omitted(mut self, omitted_bytes: ByteCount) -> Self {
        self.truncated = Some(Truncation { omitted_bytes });
        self
    }

    /// The real number of bytes of all pieces.
    #[must_use]
    pub fn len_bytes(&self) -> ByteCount {
        self.content.iter().map(Content::len_bytes).sum::<usize>().into()
    }

    /// Cuts the output to at most `max` bytes: the first text that does not fit becomes its head and
    /// its tail, and what comes after it is dropped. `None` where a piece that is not text does not
    /// fit, because those must not be cut.
    #[must_use]
    pub fn truncated_to(self, max: ByteCount) -> Option<Self> {
        let whole = self.len_bytes();
        let mut room = max.as_usize();
        let mut kept = Vec::with_capacity(self.content.len() + 1);
        for content in self.content {
            let bytes = content.len_bytes();
            if bytes <= room {
                room -= bytes;
                kept.push(content);
                continue;
            }
            let Content::Text { text } = content else { return None };
            if let Some((head, tail)) = head_and_tail(&text, room) {
                kept.extend([head, tail].map(|part| Content::Text { text: part.to_owned() }));
            }
            break;
        }
        let before = self.truncated.map_or(0, |truncated| truncated.omitted_bytes.0);
        let mut output = Self { content: kept, truncated: None, confinement: self.confinement };
        let omitted = whole.0 - output.len_bytes().0 + before;
        output.truncated =
            (omitted > 0).then_some(Truncation { omitted_bytes: ByteCount(omitted) });
        Some(output)
    }
}

/// The answer to one call.
///
/// As JSON: `{"call_id", "tool", "status": "ok"|"error", "content": […], "error": {"kind",
/// "message", "details"?}, "truncated": {"omitted_bytes"}?, "reading"?, "duration_ms",
/// "confinement"?}`; `content` is there for `ok`, `error` for `error`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: CallId,
    /// The name that was called, as the model wrote it.
    pub tool: String,
    /// The output, or why there is none.
    pub outcome: Result<ToolOutput, ErrorBody>,
    /// How the arguments were read, where that was not the plain way.
    pub reading: Option<Reading>,
    /// From the arrival of the call to its answer.
    pub duration: Duration,
}

impl ToolResult {
    /// A result that says why there is no output.
    pub fn error(call_id: impl Into<CallId>, tool: impl Into<String>, error: &ToolError) -> Self {
        Self {
            call_id: call_id.into(),
            tool: tool.into(),
            outcome: Err(error.into()),
            reading: None,
            duration: Duration::ZERO,
        }
    }

    /// A result with an output.
    pub fn ok(call_id: impl Into<CallId>, tool: impl Into<String>, output: ToolOutput) -> Self {
        Self {
            call_id: call_id.into(),
            tool: tool.into(),
            outcome: Ok(output),
            reading: None,
            duration: Duration::ZERO,
        }
    }

    /// Whether the call has an output.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The kind of error, where it is one.
    #[must_use]
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.outcome.as_ref().err().map(|error| error.kind)
    }

    /// The text that goes back to the model: the pieces, one after the other, with a line where
    /// something was left out; or the error's kind and text.
    #[must_use]
    pub fn for_model(&self) -> String {
        match &self.outcome {
            Err(error) => format!("error: {}: {}", error.kind, error.message),
            Ok(output) => output_for_model(output),
        }
    }
}

fn output_for_model(output: &ToolOutput) -> String {
    let note = output.truncated.map(|truncated| format!("[{} left out]", truncated.omitted_bytes));
    let mut parts: Vec<String> = output.content.iter().map(content_for_model).collect();
    if let Some(note) = note {
        // The gap lies before the tail where the last two pieces are a head and a tail of text.
        let at = match output.content.as_slice() {
            [.., Content::Text { .. }, Content::Text { .. }] => parts.len() - 1,
            _ => parts.len(),
        };
        parts.insert(at, note);
    }
    parts.join("\n")
}

fn content_for_model(content: &Content) -> String {
    match content {
        Content::Text { text } => text.clone(),
        Content::Json { json } => json.to_string(),
        Content::Image { media_type, data } => {
            format!("[image {media_type}, {} bytes of base64]", data.len())
        }
        Content::File { path, bytes, .. } => match bytes {
            Some(bytes) => format!("[file {path}, {bytes}]"),
            None => format!("[file {path}]"),
        },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Error,
}

/// The JSON form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    call_id: CallId,
    tool: String,
    status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Vec<Content>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reading: Option<Reading>,
    #[serde(default)]
    duration_ms: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confinement: Option<Value>,
}

impl From<ToolResult> for Wire {
    fn from(result: ToolResult) -> Self {
        let (status, content, truncated, confinement, error) = match result.outcome {
            Ok(output) => {
                let confinement = output.confinement.map(Arc::unwrap_or_clone);
                (Status::Ok, Some(output.content), output.truncated, confinement, None)
            }
            Err(error) => (Status::Error, None, None, None, Some(error)),
        };
        Self {
            call_id: result.call_id,
            tool: result.tool,
            status,
            content,
            error,
            truncated,
            reading: result.reading,
            duration_ms: (result.duration.as_secs_f64() * 1e6).round() / 1e3,
            confinement,
        }
    }
}

/// JSON that is not a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResultProblem {
    /// `status` is `ok` without `content`, or beside an `error`.
    #[error("status is \"ok\", so the result needs \"content\" and may not have \"error\"")]
    OkWithoutContent,
    /// `status` is `error` without `error`, or beside `content`.
    #[error("status is \"error\", so the result needs \"error\" and may not have \"content\"")]
    ErrorWithoutError,
    /// An error text that is empty or too long.
    #[error("an error message must have 1 to 4096 bytes")]
    ErrorMessage,
    /// A duration that is negative or not a number.
    #[error("duration_ms must be a number that is not negative")]
    Duration,
}

impl TryFrom<Wire> for ToolResult {
    type Error = ResultProblem;

    fn try_from(wire: Wire) -> Result<Self, ResultProblem> {
        let duration = Duration::try_from_secs_f64(wire.duration_ms / 1e3)
            .map_err(|_| ResultProblem::Duration)?;
        let outcome = match (wire.status, wire.content, wire.error) {
            (Status::Ok, Some(content), None) => {
                let (truncated, confinement) = (wire.truncated, wire.confinement.map(Arc::new));
                Ok(ToolOutput { content, truncated, confinement })
            }
            (Status::Ok, ..) => return Err(ResultProblem::OkWithoutContent),
            (Status::Error, None, Some(error)) => {
                if error.message.is_empty() || error.message.len() > crate::MAX_ERROR_BYTES {
                    return Err(ResultProblem::ErrorMessage);
                }
                Err(error)
            }
            (Status::Error, ..) => return Err(ResultProblem::ErrorWithoutError),
        };
        Ok(Self {
            call_id: wire.call_id,
            tool: wire.tool,
            outcome,
            reading: wire.reading,
            duration,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_result_is_output_or_error_never_both() {
        let read = |text| serde_json::from_str::<ToolResult>(text).map_err(|e| e.to_string());
        let text =
            r#"{"call_id":"c","tool":"t","status":"ok","content":[{"type":"text","text":"x"}]}"#;
        assert_eq!(read(text).unwrap().outcome, Ok(ToolOutput::text("x")));
        for bad in [
            r#"{"call_id":"c","tool":"t","status":"ok"}"#,
            r#"{"call_id":"c","tool":"t","status":"error","content":[]}"#,
            r#"{"call_id":"c","tool":"t","status":"error","error":{"kind":"cancelled","message":""}}"#,
            r#"{"call_id":"c","tool":"t","status":"ok","content":[],"error":{"kind":"cancelled","message":"x"}}"#,
            r#"{"call_id":"c","tool":"t","status":"ok","content":[],"duration_ms":-1}"#,
            r#"{"call_id":"c","tool":"t","status":"ok","content":[],"surprise":1}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_model_reads_where_something_was_left_out() {
        let output = ToolOutput::text("abcdefghij").truncated_to(ByteCount(4)).unwrap();
        assert_eq!(output_for_model(&output), "ab\n[6 bytes left out]\nij");
        let output = ToolOutput::text("ab").with_omitted(ByteCount(9));
        assert_eq!(output_for_model(&output), "ab\n[9 bytes left out]");
    }

    #[test]
    fn what_is_not_text_is_not_cut() {
        let output = ToolOutput::json(serde_json::json!({"key": "value"}));
        assert_eq!(output.clone().truncated_to(ByteCount(100)), Some(output.clone()));
        assert_eq!(output.truncated_to(ByteCount(5)), None);
    }

    proptest! {
        #[test]
        fn truncation_counts_every_byte(texts in proptest::collection::vec("\\PC{0,20}", 0..4), max in 0u64..60) {
            let content: Vec<_> = texts.into_iter().map(|text| Content::Text { text }).collect();
            let whole = ToolOutput { content, ..ToolOutput::default() };
            let cut = whole.clone().truncated_to(ByteCount(max)).unwrap();
            prop_assert!(cut.len_bytes() <= ByteCount(max));
            let omitted = cut.truncated.map_or(0, |t| t.omitted_bytes.0);
            prop_assert_eq!(cut.len_bytes().0 + omitted, whole.len_bytes().0);
        }
    }
}
