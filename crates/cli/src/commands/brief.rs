//! A result as one line for a person: how it went, whose it is, how long it took, and the most
//! telling part of what came back.
//!
//! `✓` is an output, `!` an output of code that did not succeed, `✗` an error: nothing came back.
//! Nothing of it is for programs: they read JSON.

use serde_json::Value;
use tool_core::{Content, ErrorKind, ToolOutput, ToolResult};

use crate::printable::{clipped, one_line};

/// How wide the column of the ids is where they are shorter.
const ID_COLUMNS: usize = 18;
const MAX_ID: usize = 40;
const MAX_TOOL: usize = 30;
const MAX_TELLING: usize = 100;
/// What is missing, and how to get it, is told whole.
const MAX_REMEDY: usize = 1000;

/// The line, without its end.
pub(super) fn line(result: &ToolResult) -> String {
    let (mark, telling, most) = match &result.outcome {
        Ok(output) => (if is_success(output) { '✓' } else { '!' }, of_output(output), MAX_TELLING),
        Err(error) => {
            let is_missing = error.kind == ErrorKind::BackendUnavailable;
            let most = if is_missing { MAX_REMEDY } else { MAX_TELLING };
            ('✗', format!("{}: {}", error.kind, error.message), most)
        }
    };
    let id = clipped(result.call_id.as_str(), MAX_ID);
    let tool = clipped(&result.tool, MAX_TOOL);
    let ms = result.duration.as_secs_f64() * 1e3;
    let telling = clipped(&on_one_line(&telling), most);
    format!("{mark} {id:ID_COLUMNS$} {tool}  {ms:.1} ms  {telling}").trim_end().to_owned()
}

/// What says so itself did not succeed; everything else did.
fn is_success(output: &ToolOutput) -> bool {
    let says_no =
        |part: &Content| matches!(part, Content::Json { json } if json["success"] == false);
    !output.content.iter().any(says_no)
}

fn of_output(output: &ToolOutput) -> String {
    let parts: Vec<String> = output.content.iter().map(of_part).collect();
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

fn of_part(part: &Content) -> String {
    match part {
        Content::Text { text } => text.trim().to_owned(),
        Content::Json { json } if json.get("stdout").is_some() => of_run(json),
        Content::Json { json } => json.to_string(),
        Content::Image { media_type, .. } => format!("[{media_type}]"),
        Content::File { path, .. } => format!("[{}]", one_line(path)),
    }
}

/// How code ended, and what it showed, printed or raised.
fn of_run(run: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::trim).unwrap_or_default().to_owned();
    let mut parts = Vec::new();
    if run["timed_out"] == true {
        parts.push(format!("timed out, state {}", text(&run["state"])));
    } else if let Some(signal) = run.get("signal").filter(|signal| !signal.is_null()) {
        parts.push(format!("ended by signal {signal}"));
    } else if run["exit_code"] != 0 && !run["exit_code"].is_null() {
        parts.push(format!("exit code {}", run["exit_code"]));
    }
    if run["timed_out"] != true && run["error"].is_object() {
        parts.push(format!("{}: {}", text(&run["error"]["type"]), text(&run["error"]["message"])));
    }
    parts.extend(["value", "stdout", "stderr"].into_iter().map(|key| text(&run[key])));
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Line breaks as a sign that takes one column.
fn on_one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" ⏎ ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_core::ToolError;

    use super::*;

    fn check(output: ToolOutput, expected: &str) {
        assert_eq!(line(&ToolResult::ok("c", "t", output)), expected);
    }

    #[test]
    fn the_most_telling_part_is_shown() {
        let ran = |with: Value| {
            let mut run = json!({"success": true, "stdout": "", "stderr": "", "exit_code": 0,
                                 "timed_out": false, "state": "kept"});
            for (key, value) in with.as_object().into_iter().flatten() {
                run[key] = value.clone();
            }
            ToolOutput::json(run)
        };
        check(
            ToolOutput::text("a\nb\u{1b}[2J\n"),
            "✓ c                  t  0.0 ms  a ⏎ b\\u{1b}[2J",
        );
        check(ToolOutput::json(json!({"a": 1})), "✓ c                  t  0.0 ms  {\"a\":1}");
        check(ran(json!({"value": "42"})), "✓ c                  t  0.0 ms  42");
        check(ran(json!({})), "✓ c                  t  0.0 ms");
        check(
            ran(json!({"success": false, "timed_out": true, "exit_code": 130, "stdout": "x\n"})),
            "! c                  t  0.0 ms  timed out, state kept; x",
        );
        let error = json!({"type": "OSError", "message": "no"});
        check(
            ran(json!({"success": false, "exit_code": 1, "error": error})),
            "! c                  t  0.0 ms  exit code 1; OSError: no",
        );
    }

    #[test]
    fn an_error_is_shown_with_its_kind() {
        let shown = line(&ToolResult::error("c", "t", &ToolError::Cancelled));
        assert!(shown.starts_with("✗ c                  t  0.0 ms  cancelled: "), "{shown}");
    }
}
