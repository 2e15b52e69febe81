//! Replies that ended at their token limit, and the calls in them that are not whole.
//!
//! A provider may say `length`, or say `tool_calls` though the reply ended in the middle of the
//! arguments; the second is recognized by its usage. A call that is not whole is never repaired and
//! never executed.

use model::{ChatReply, FinishReason, Sampling};
use serde_json::Value;
use tool_core::{ArgumentsProblem, RawArguments, ToolCall, ToolError, ToolResult, parse_strict};

/// What the token limit did to a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutOff {
    /// Whether the reply counts as cut off.
    pub(crate) is_cut_off: bool,
    /// For each call, whether it must not be executed.
    pub(crate) is_broken: Vec<bool>,
}

impl CutOff {
    pub(crate) fn of(reply: &ChatReply, sampling: Sampling) -> Self {
        let is_at_limit = match (reply.usage, sampling.max_tokens) {
            (Some(usage), Some(max)) => usage.output_tokens >= u64::from(max),
            _ => false,
        };
        let is_suspect = reply.finish == FinishReason::Length || is_at_limit;
        let is_broken: Vec<bool> =
            reply.calls.iter().map(|call| is_suspect && !is_whole(&call.arguments)).collect();
        // A reply that used exactly its limit and says it is done may well be done.
        let says_done = matches!(reply.finish, FinishReason::Stop | FinishReason::ToolCalls);
        let is_cut_off = is_suspect && (!says_done || is_broken.contains(&true));
        Self { is_cut_off, is_broken }
    }
}

fn is_whole(arguments: &RawArguments) -> bool {
    match arguments {
        RawArguments::Text(text) => matches!(parse_strict(text), Ok(Value::Object(_))),
        RawArguments::Json(value) => value.is_object(),
    }
}

/// The result of a call that was cut off.
pub(crate) fn truncated_result(call: &ToolCall) -> ToolResult {
    let tool = tool_core::clip(&call.name, 256).to_owned();
    let error = ToolError::InvalidArguments { tool, problem: ArgumentsProblem::Truncated };
    ToolResult::error(call.id.clone(), call.name.clone(), &error)
}

#[cfg(test)]
mod tests {
    use model::Usage;

    use super::*;

    struct Case {
        finish: FinishReason,
        output_tokens: u64,
        arguments: &'static [&'static str],
        is_cut_off: bool,
        is_broken: &'static [bool],
    }

    fn check(case: &Case) {
        let calls = case.arguments.iter().map(|text| ToolCall::from_text("c", "t", *text));
        let reply = ChatReply {
            text: String::new(),
            reasoning: None,
            calls: calls.collect(),
            finish: case.finish.clone(),
            usage: Some(Usage { input_tokens: 10, output_tokens: case.output_tokens }),
            opaque: None,
        };
        let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
        let found = CutOff::of(&reply, sampling);
        let about = (&case.finish, case.output_tokens, case.arguments);
        assert_eq!(found.is_cut_off, case.is_cut_off, "{about:?}");
        assert_eq!(found.is_broken, case.is_broken, "{about:?}");
    }

    #[test]
    fn only_what_is_not_whole_is_refused() {
        use FinishReason::{Length, Stop, ToolCalls};
        let case = |finish, output_tokens, arguments, is_cut_off, is_broken| Case {
            finish,
            output_tokens,
            arguments,
            is_cut_off,
            is_broken,
        };
        for case in [
            case(Length, 7, &[r#"{"a": 1}"#, r#"{"a": "#] as &[_], true, &[false, true] as &[_]),
            case(Length, 100, &[""], true, &[true]),
            case(Length, 100, &[], true, &[]),
            case(ToolCalls, 100, &[r#"{"path": "a"#], true, &[true]),
            case(ToolCalls, 100, &[r#"{"path": "a"}"#], false, &[false]),
            case(ToolCalls, 99, &[r#"{"path": "a"#], false, &[false]),
            case(ToolCalls, 99, &[""], false, &[false]),
            case(Stop, 100, &[], false, &[]),
            case(FinishReason::Other("max_tokens".to_owned()), 100, &[], true, &[]),
        ] {
            check(&case);
        }
    }
}
