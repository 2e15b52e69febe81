//! Results from a recording: the n-th line answers the n-th call.
//!
//! Each line is `{"expected_call"?, "result"}`. `expected_call` is `{"name", "arguments"?}`; arguments are
//! compared without regard to the order of keys. `result` is a [`ToolResult`] as JSON, of which
//! `call_id`, `tool` and `status` may be missing, or just a string: the text of a result that is ok. A
//! `call_id` or `tool` that is there must be the call's. Empty lines are skipped. Reading files is the
//! caller's work.

use std::{collections::VecDeque, fmt, sync::Mutex};

use serde::Deserialize;
use serde_json::{Map, Value};
use tool_core::{
    BoxFuture, CallId, ProviderError, ToolCall, ToolOutput, ToolResult, ToolResultProvider, clip,
    parse_strict,
};

use crate::canonical::{canonical_arguments, canonical_value};

/// How much of a call's arguments an error repeats, in bytes.
const MAX_SHOWN: usize = 256;

/// Recorded results.
///
/// ```
/// let recording = r#"{"expected_call": {"name": "add", "arguments": {"a": 1}}, "result": "2"}
/// {"result": {"error": {"kind": "timed_out", "message": "too slow"}}}"#;
/// assert_eq!(chain::ReplayProvider::from_jsonl(recording)?.left(), 2);
///
/// let error = chain::ReplayProvider::from_jsonl("{\"result\": 5}").unwrap_err();
/// assert!(error.to_string().starts_with("line 1: "));
/// # Ok::<(), tool_core::ProviderError>(())
/// ```
pub struct ReplayProvider {
    steps: Mutex<VecDeque<Step>>,
    total: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    #[serde(default)]
    expected_call: Option<ExpectedCall>,
    result: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedCall {
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
}

struct Step {
    line: usize,
    expected: Option<ExpectedCall>,
    call_id: Option<CallId>,
    tool: Option<String>,
    /// Its id and its tool are filled in.
    result: ToolResult,
}

impl ReplayProvider {
    /// The results of a recording in JSON lines.
    ///
    /// # Errors
    /// The first line that is no record, with its number and what was expected.
    pub fn from_jsonl(text: &str) -> Result<Self, ProviderError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let steps = lines
            .map(|(index, line)| Step::read(index + 1, line))
            .collect::<Result<VecDeque<_>, _>>()?;
        Ok(Self { total: steps.len(), steps: Mutex::new(steps) })
    }

    /// How many results were not asked for yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.steps().len()
    }

    fn next(&self, call: &ToolCall) -> Result<ToolResult, ProviderError> {
        let step = self.steps().pop_front().ok_or_else(|| {
            let total = self.total;
            ProviderError::new(format!(
                "the recording has {total} results, and {} asked for one more",
                shown(&call.name, &canonical_arguments(&call.arguments))
            ))
        })?;
        step.answer(call)
    }

    fn steps(&self) -> std::sync::MutexGuard<'_, VecDeque<Step>> {
        // A queue that lost or kept its first element is whole in both cases.
        self.steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl ToolResultProvider for ReplayProvider {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        Box::pin(async move { self.next(&call) })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        let left = self.steps();
        let finished = left.front().map_or(Ok(()), |first| {
            let (line, count) = (first.line, left.len());
            Err(ProviderError::new(format!(
                "line {line}: this result was never asked for; {count} of {} are left over",
                self.total
            )))
        });
        drop(left);
        Box::pin(async move { finished })
    }
}

impl fmt::Debug for ReplayProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayProvider").field("total", &self.total).finish_non_exhaustive()
    }
}

impl Step {
    fn read(line: usize, text: &str) -> Result<Self, ProviderError> {
        let wrong = |what: String| {
            ProviderError::new(format!(
                "line {line}: {what}; expected {{\"expected_call\"?: {{\"name\", \"arguments\"?}}, \
                 \"result\": a result or a string}}"
            ))
        };
        let value = parse_strict(text).map_err(|problem| wrong(problem.to_string()))?;
        let record: Record =
            serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let (call_id, tool, result) = read_result(record.result).map_err(wrong)?;
        Ok(Self { line, expected: record.expected_call, call_id, tool, result })
    }

    fn answer(mut self, call: &ToolCall) -> Result<ToolResult, ProviderError> {
        let arguments = canonical_arguments(&call.arguments);
        let mismatch = |expected: String| {
            let got = shown(&call.name, &arguments);
            ProviderError::new(format!("line {}: expected {expected}, got {got}", self.line))
        };
        if let Some(expected) = &self.expected {
            let wanted = expected.arguments.as_ref().map(canonical_value);
            let fits = wanted.as_ref().is_none_or(|wanted| *wanted == arguments);
            if expected.name != call.name || !fits {
                let any = "any arguments".to_owned();
                return Err(mismatch(shown(&expected.name, &wanted.unwrap_or(any))));
            }
        }
        if let Some(id) = self.call_id.as_ref().filter(|id| **id != call.id) {
            let (id, got) = (id.as_str(), call.id.as_str());
            return Err(mismatch(format!("the call {id:?} (this one is {got:?})")));
        }
        if let Some(tool) = self.tool.as_ref().filter(|tool| **tool != call.name) {
            return Err(mismatch(format!("a call of {tool:?}")));
        }
        self.result.call_id = call.id.clone();
        self.result.tool.clone_from(&call.name);
        Ok(self.result)
    }
}

/// The id and the tool where they are given, and the result.
fn read_result(value: Value) -> Result<(Option<CallId>, Option<String>, ToolResult), String> {
    let mut fields = match value {
        Value::String(text) => {
            return Ok((None, None, ToolResult::ok("", "", ToolOutput::text(text))));
        }
        Value::Object(fields) => fields,
        other => return Err(format!("the result is {other}")),
    };
    let has_id = fill(&mut fields, "call_id", "");
    let has_tool = fill(&mut fields, "tool", "");
    let status = if fields.contains_key("error") { "error" } else { "ok" };
    fill(&mut fields, "status", status);
    let result: ToolResult =
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
    Ok((has_id.then(|| result.call_id.clone()), has_tool.then(|| result.tool.clone()), result))
}

/// Puts a value where none is; says whether one was there.
fn fill(fields: &mut Map<String, Value>, key: &str, value: &str) -> bool {
    let is_there = fields.contains_key(key);
    if !is_there {
        fields.insert(key.to_owned(), value.into());
    }
    is_there
}

fn shown(name: &str, arguments: &str) -> String {
    format!("a call of {:?} with {}", clip(name, MAX_SHOWN), clip(arguments, MAX_SHOWN))
}
