//! Environment variables: how they are named after their keys, and how their text is read.

use serde_json::Value;

use super::keys::Key;

/// `REMIT_LIMITS_TIMEOUT_MS` for `limits.timeout_ms`.
pub(super) fn variable_of(path: &str) -> String {
    format!("REMIT_{}", path.replace('.', "_").to_ascii_uppercase())
}

/// The text of a variable as the kind of value that its key takes.
pub(super) fn parse_text(key: &Key, text: &str) -> Result<Value, String> {
    let takes = |kind: &str| match key.schema.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => false,
    };
    let wrong =
        |expected: &str| format!("expected {expected}, found {:?}", tool_core::clip(text, 60));
    if takes("boolean") {
        return text.parse::<bool>().map(Value::from).map_err(|_| wrong("true or false"));
    }
    if takes("integer") {
        return text.parse::<i64>().map(Value::from).map_err(|_| wrong("a whole number"));
    }
    if takes("number") {
        return text.parse::<f64>().map(Value::from).map_err(|_| wrong("a number"));
    }
    if takes("array") {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let are_numbers = key.schema.pointer("/items/type").is_some_and(|kind| kind == "integer");
        if are_numbers {
            let numbers = items.map(|item| item.parse::<i64>().map(Value::from));
            return numbers.collect::<Result<_, _>>().map_err(|_| wrong("whole numbers"));
        }
        return Ok(items.map(Value::from).collect());
    }
    if takes("object") {
        return Err("this key can only be set in a file".to_owned());
    }
    Ok(text.into())
}
