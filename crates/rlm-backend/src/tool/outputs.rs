//! What each operation gives, as JSON Schemas. More may be there than they name.

use serde_json::{Map, Value, json};

/// The schema of an operation's result.
pub(super) fn of(operation: &str) -> Option<Value> {
    let (required, optional) = match operation {
        "execute_code" | "execute_bash" => executed(),
        "session_create" => (json!({"backend": text("Where the session is.")}), json!({})),
        "session_status" => status(),
        "session_extend" => {
            (json!({"ends_in_secs": count(), "extensions_left": count()}), json!({}))
        }
        "session_destroy" => (json!({"destroyed": flag()}), json!({"changes": {"type": "object"}})),
        "file_put" => (json!({"path": text("The file."), "bytes": count()}), json!({})),
        "file_get" => got(),
        "snapshot_create" => (snapshot(), json!({"left_out": count()})),
        "snapshot_restore" => {
            let optional = json!({"left_out": count(), "note": text("What is not put back.")});
            (joined(snapshot(), json!({"restored": flag()})), optional)
        }
        "snapshot_delete" => {
            let required = json!({"snapshot_id": text("The snapshot."), "deleted": flag()});
            (required, json!({}))
        }
        "snapshot_list" => (json!({"snapshots": snapshots()}), json!({})),
        "recursive_query" => return Some(object(answered(), also(session()))),
        _ => return None,
    };
    Some(object(joined(session(), required), optional))
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn session() -> Value {
    json!({"session_id": text("The session that it was.")})
}

/// A text, or its beginning and its end where it is long.
fn stream() -> Value {
    let parts = json!({
        "type": "object",
        "properties": {
            "head": {"type": "string"},
            "omitted_bytes": count(),
            "tail": {"type": "string"},
        },
        "required": ["head", "omitted_bytes", "tail"],
    });
    json!({"anyOf": [{"type": "string"}, parts]})
}

fn executed() -> (Value, Value) {
    let required = json!({
        "success": flag(),
        "stdout": stream(),
        "stderr": stream(),
        "timed_out": flag(),
        "state": {"type": "string", "enum": ["kept", "restored", "lost"]},
        "generation": count(),
        "truncated": flag(),
        "duration_ms": {"type": "number"},
    });
    let optional = json!({
        "value": text("What a last expression shows."),
        "error": {"type": "object", "properties": {
            "type": {"type": "string"},
            "message": {"type": "string"},
            "traceback": {"type": "string"},
        }},
        "exit_code": {"type": "integer"},
        "signal": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "cwd": {"type": "string"},
        "note": {"type": "string"},
        "files": {"type": "array", "items": {"type": "object"}},
    });
    (required, optional)
}

fn status() -> (Value, Value) {
    let driver = json!({
        "type": "object",
        "properties": {"running": flag(), "generation": count()},
        "required": ["running", "generation"],
    });
    let required = json!({
        "backend": text("Where it is."),
        "age_secs": count(),
        "expires_in_secs": count(),
        "ends_in_secs": count(),
        "extensions_left": count(),
        "busy": flag(),
        "python": driver,
        "bash": driver,
    });
    (required, json!({"background": {"type": "object"}, "queries": {"type": "object"}}))
}

fn got() -> (Value, Value) {
    let required =
        json!({"path": text("The file."), "size": count(), "offset": count(), "bytes": count()});
    let optional = json!({
        "content": text("The text, where it is text."),
        "content_base64": text("The bytes, where it is no text."),
        "next_offset": count(),
    });
    (required, optional)
}

fn snapshot() -> Value {
    json!({
        "snapshot_id": text("The snapshot."),
        "files": count(),
        "bytes": count(),
        "age_secs": count(),
    })
}

fn snapshots() -> Value {
    json!({"type": "array", "items": object(snapshot(), json!({"left_out": count()}))})
}

fn answered() -> Value {
    json!({
        "success": flag(),
        "answer": {
            "anyOf": [
                {"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
                {"type": "object"}, {"type": "array", "items": {}},
            ],
        },
        "stop": text("Why it ended."),
        "turns": count(),
        "depth": count(),
        "truncated": flag(),
        "duration_ms": count(),
    })
}

fn also(session: Value) -> Value {
    joined(session, json!({"message": text("What went wrong.")}))
}

fn joined(one: Value, other: Value) -> Value {
    let (mut all, other) = (into_map(one), into_map(other));
    all.extend(other);
    Value::Object(all)
}

fn into_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// An object with fields that are always there, and others.
fn object(required: Value, optional: Value) -> Value {
    let names: Vec<String> = into_map(required.clone()).into_iter().map(|(name, _)| name).collect();
    json!({"type": "object", "properties": joined(required, optional), "required": names})
}

#[cfg(test)]
mod tests {
    use super::{super::schema::OPERATIONS, *};

    #[test]
    fn every_operation_says_what_it_gives() {
        for operation in OPERATIONS {
            let schema = of(operation.name).unwrap_or_else(|| panic!("{}", operation.name));
            assert!(tool_core::CompiledSchema::compile(&schema).is_ok(), "{schema}");
        }
        assert_eq!(of("nonsense"), None);
    }
}
