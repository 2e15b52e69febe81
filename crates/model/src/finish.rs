//! Why a reply really ended, where its provider's word for it can't stand.
//!
//! Servers say that a reply asks for tools, or is done, though the token ceiling cut its last call
//! off. A reply whose last call breaks off inside its arguments is taken as cut off, unless the token
//! counts show that the ceiling was not reached.

use tool_core::ToolCall;

use crate::{FinishReason, Usage, balance::Balance};

/// The reason, corrected.
pub(crate) fn settled(
    said: FinishReason,
    calls: &[ToolCall],
    usage: Option<Usage>,
    max_tokens: Option<u32>,
) -> FinishReason {
    let breaks_off =
        calls.last().is_some_and(|call| Balance::of(&call.arguments.to_text()).is_open());
    let is_below_ceiling = match (usage, max_tokens) {
        (Some(usage), Some(max)) => usage.output_tokens < u64::from(max),
        _ => false,
    };
    match said {
        FinishReason::Stop | FinishReason::ToolCalls if breaks_off && !is_below_ceiling => {
            FinishReason::Length
        }
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_breaks_off_at_the_ceiling_was_cut_off() {
        let check = |arguments: &str, written: Option<u64>, max, expected: FinishReason| {
            let calls = [ToolCall::from_text("c", "write", arguments)];
            let usage = written.map(|output_tokens| Usage { input_tokens: 1, output_tokens });
            let found = settled(FinishReason::ToolCalls, &calls, usage, max);
            assert_eq!(found, expected, "{arguments} {written:?} {max:?}");
        };
        check(r#"{"text": "lo"#, Some(16), Some(16), FinishReason::Length);
        check(r#"{"text": "lo"#, None, Some(16), FinishReason::Length);
        check(r#"{"text": "lo"#, Some(16), None, FinishReason::Length);
        check(r#"{"text": "lo"#, Some(15), Some(16), FinishReason::ToolCalls);
        check(r#"{"text": "lo"}"#, Some(16), Some(16), FinishReason::ToolCalls);
        check("", Some(16), Some(16), FinishReason::ToolCalls);
        assert_eq!(
            settled(FinishReason::ContentFilter, &[], None, None),
            FinishReason::ContentFilter
        );
    }
}
