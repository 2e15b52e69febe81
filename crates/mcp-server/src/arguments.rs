//! Arguments of a tool that is one operation of another: `op` is put in, and nothing else changes.
//!
//! It is put into the text, so that the strict reading of the gate still sees what came: an `op` that
//! the client sent too is a duplicate key and is refused there, and arguments that are no object stay
//! what they are.

use serde_json::Value;

/// The arguments with `op`. `None` are no arguments.
pub(crate) fn with_operation(arguments: Option<&str>, operation: &str) -> String {
    let text = arguments.unwrap_or_default().trim_start();
    if text.is_empty() || text.trim_end() == "null" {
        return inserted("{}", operation);
    }
    if text.starts_with('{') {
        return inserted(text, operation);
    }
    match serde_json::from_str::<String>(text) {
        // An object that was encoded once more: the gate decodes it once, and says so.
        Ok(inner) if inner.trim_start().starts_with('{') => {
            Value::String(inserted(inner.trim_start(), operation)).to_string()
        }
        Ok(inner) if inner.trim().is_empty() => inserted("{}", operation),
        _ => text.to_owned(),
    }
}

/// `text` begins with `{`.
fn inserted(text: &str, operation: &str) -> String {
    let rest = &text[1..];
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    format!("{{\"op\":{}{comma}{rest}", Value::from(operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_is_put_in_and_nothing_is_hidden() {
        let cases = [
            (None, r#"{"op":"run"}"#),
            (Some("null"), r#"{"op":"run"}"#),
            (Some("{ }"), r#"{"op":"run" }"#),
            (Some(r#"{"a":1}"#), r#"{"op":"run","a":1}"#),
            (Some(r#"{"op":"other"}"#), r#"{"op":"run","op":"other"}"#),
            (Some(r#"{"a":1,"a":2}"#), r#"{"op":"run","a":1,"a":2}"#),
            (Some("[1]"), "[1]"),
            (Some("5"), "5"),
            (Some(r#""{\"a\":1}""#), r#""{\"op\":\"run\",\"a\":1}""#),
            (Some(r#""text""#), r#""text""#),
        ];
        for (arguments, expected) in cases {
            assert_eq!(with_operation(arguments, "run"), expected, "{arguments:?}");
        }
    }
}
