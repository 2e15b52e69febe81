//! What the model is told: instructions from a template, the question, outputs, reminders.

use serde_json::Value;
use tool_core::ToolSpec;

use super::{
    clipped::clipped,
    reply::{Note, Tag},
    tree::Level,
};
use crate::{Captured, Ran, Shown, StateAfter};

const SYSTEM: &str = include_str!("system.md");

/// The instructions. A template of the operator's may have the same placeholders, each or none.
pub(super) fn system(level: &Level, tools: &[ToolSpec]) -> String {
    let template = level.tree.shared.system_prompt.as_deref().unwrap_or(SYSTEM);
    let is_deepest = level.depth >= level.tree.bounds.depth;
    let depth = if is_deepest { "Not to be had here: use llm_query." } else { "" };
    template
        .replace("{{depth}}", depth)
        .replace("{{tools}}", &tool_lines(tools))
        .replace("{{limits}}", &limits(level))
}

fn tool_lines(tools: &[ToolSpec]) -> String {
    let line = |tool: &ToolSpec| {
        let (name, description) = (tool.name().as_str(), clipped(tool.description(), 400));
        let call = if name.contains(['.', '-']) {
            format!("tools[{name:?}](**arguments)")
        } else {
            format!("tools.{name}(**arguments)")
        };
        format!(
            "- `{call}`: {description} Arguments: {}\n",
            clipped(&tool.parameters().to_string(), 800)
        )
    };
    tools.iter().map(line).collect()
}

fn limits(level: &Level) -> String {
    let left = level.budget.left();
    format!(
        "You have at most {} turns, {} tokens and {} sub-calls in all.",
        level.tree.bounds.iterations, left.tokens, left.sub_calls
    )
}

/// The question, and what there is to be looked at.
pub(super) fn question(prompt: &str, context: &Value) -> String {
    let about = match context {
        Value::Null => "There is no context.".to_owned(),
        context => {
            let text = |key: &str| context.get(key).and_then(Value::as_str);
            let items = text("items").map(|items| format!(" of {items}")).unwrap_or_default();
            format!(
                "`context` is a {}{items} of length {}.",
                text("type").unwrap_or("value"),
                context.get("length").unwrap_or(&Value::Null)
            )
        }
    };
    format!("{prompt}\n\n{about}")
}

/// What a block gave, as the model reads it.
pub(super) fn output(ran: &Ran, most: usize) -> String {
    let outcome = &ran.outcome;
    let mut parts = Vec::new();
    let texts = outcome.shown.iter().map(|shown| match shown {
        Shown::Text { text } => text.as_str(),
        Shown::Html { .. } => "[HTML]",
        Shown::Image { .. } => "[an image, which is not shown]",
    });
    let value: Vec<_> = texts.collect();
    let stream = |captured: &Captured| clipped(&captured.text().to_string(), most);
    if !outcome.stdout.is_empty() {
        parts.push(stream(&outcome.stdout));
    }
    if !outcome.stderr.is_empty() {
        parts.push(format!("[standard error]\n{}", stream(&outcome.stderr)));
    }
    if !value.is_empty() {
        parts.push(clipped(&value.join("\n"), most));
    }
    if let Some(error) = &outcome.error {
        parts.push(clipped(&error.traceback, most));
    }
    parts.extend(ending(ran));
    if parts.is_empty() {
        parts.push("[no output]".to_owned());
    }
    clipped(&parts.join("\n"), most)
}

/// How a block ended, where not well.
fn ending(ran: &Ran) -> Option<String> {
    let (outcome, ending) = (&ran.outcome, ran.outcome.ending);
    let lost = match outcome.state {
        StateAfter::Lost => " The interpreter is gone, and all variables with it.",
        _ => "",
    };
    let how = match (ending.timed_out, ending.exit_code, ending.signal) {
        (true, ..) => "[its time was over, and it was interrupted]".to_owned(),
        (_, Some(0), _) | (_, None, None) => String::new(),
        (_, Some(_), _) if outcome.error.is_some() => String::new(),
        (_, Some(code), _) => format!("[exit status {code}]"),
        (_, None, Some(signal)) => format!("[ended by signal {signal}]"),
    };
    let limit = ran.limit.as_ref().map(|limit| format!(" [over its limit: {limit}]"));
    let text = format!("{how}{}{lost}", limit.unwrap_or_default());
    (!text.is_empty()).then_some(text)
}

/// The heading of a block's output.
pub(super) fn heading(number: usize, of: usize, tag: &Tag) -> String {
    let name = if *tag == Tag::Bash { "bash" } else { "python" };
    if of == 1 {
        format!("Output of your {name} block:")
    } else {
        format!("Output of block {number} ({name}):")
    }
}

/// What a reply with neither code nor an answer gets, once.
pub(super) fn reminder(notes: &[Note]) -> String {
    let notes: String = notes.iter().map(|note| format!("{}\n", note.text())).collect();
    format!(
        "{notes}Your reply had neither a code block that was run nor an answer. Go on with a ```python \
         block, or answer with FINAL(...) on a line of its own. Another such reply ends the query."
    )
}

/// What is said before the last turn.
pub(super) const LAST_TURN: &str =
    "This is your last turn: answer now, with FINAL(...) or FINAL_VAR(...), as well as you can.";

/// What is said of a block that the provider cut off.
pub(super) const CUT_OFF: &str = "Your reply was cut off in the middle of a code block, which was not \
    run: there was no more room. Write less at once.";
