//! Arguments in one spelling, to compare calls: for repeated calls and for replays.
//!
//! Keys are sorted, white space is gone, `3.0` is `3`, and the two lossless readings of the pipeline
//! (an object once more encoded as a string; empty or null as `{}`) are applied. Text that is no JSON
//! stands for itself. Nothing in here decides whether a call may run.

use std::fmt::Write as _;

use serde_json::{Number, Value};
use tool_core::{RawArguments, parse_strict};

/// The largest integer up to which every double is exact.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The canonical text of arguments.
pub(crate) fn canonical_arguments(arguments: &RawArguments) -> String {
    match arguments {
        RawArguments::Text(text) => canonical_text(text),
        RawArguments::Json(value) => canonical_value(value),
    }
}

fn canonical_text(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    match parse_strict(text) {
        Ok(value) => canonical_value(&value),
        Err(_) => text.to_owned(),
    }
}

/// The canonical text of a value that stands for arguments.
pub(crate) fn canonical_value(value: &Value) -> String {
    match value {
        Value::Null => "{}".to_owned(),
        Value::String(inner) if inner.trim().is_empty() => "{}".to_owned(),
        Value::String(inner) => match parse_strict(inner) {
            Ok(object @ Value::Object(_)) => written(&object),
            _ => written(value),
        },
        _ => written(value),
    }
}

fn written(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            write_all(out, ['{', '}'], entries, |out, (key, value)| {
                write_display(out, &Value::from(key.as_str()));
                out.push(':');
                write_value(out, value);
            });
        }
        Value::Array(items) => write_all(out, ['[', ']'], items, write_value),
        Value::Number(number) => write_number(out, number),
        _ => write_display(out, value),
    }
}

fn write_all<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

fn write_number(out: &mut String, number: &Number) {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < MAX_EXACT => {
            // Adding zero makes -0.0 a plain zero.
            let _ = write!(out, "{:.0}", float + 0.0);
        }
        _ => write_display(out, number),
    }
}

fn write_display(out: &mut String, value: &dyn std::fmt::Display) {
    // Writing into a String can't fail.
    let _ = write!(out, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_same_arguments_are_equal() {
        let same = [
            (r#"{"a": 1, "b": {"d": [1, 2], "c": null}}"#, r#"{"b":{"c":null,"d":[1,2]},"a":1}"#),
            (r#"{"n": 3.0}"#, r#"{"n": 3}"#),
            (r#"{"n": -0.0}"#, r#"{"n": 0}"#),
            ("", "{}"),
            ("null", "{}"),
            (r#""""#, "{}"),
            (r#""{\"n\": 2}""#, r#"{"n":2}"#),
        ];
        for (left, right) in same {
            assert_eq!(canonical_text(left), canonical_text(right), "{left} and {right}");
        }
    }

    #[test]
    fn different_arguments_stay_different() {
        let different = [
            (r#"{"a": 1}"#, r#"{"a": "1"}"#),
            (r#"{"a": [1, 2]}"#, r#"{"a": [2, 1]}"#),
            (r#"{"a": null}"#, "{}"),
            (r#"{"a": 1,}"#, r#"{"a": 1}"#),
            (r#"{"n": 9007199254740993}"#, r#"{"n": 9007199254740992}"#),
            (r#""plain""#, r#"plain"#),
        ];
        for (left, right) in different {
            assert_ne!(canonical_text(left), canonical_text(right), "{left} and {right}");
        }
    }
}
