//! What a model sees of the tool, and what each operation needs of it.
//!
//! The schema is flat, because not every model API takes conditions in one; what an operation needs
//! beside it is checked against a schema of its own.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tool_core::{CompiledSchema, NameError, OperationName, SchemaError, ToolSpec};

/// The operations, with the arguments that each needs and takes beside `op`.
const OPERATIONS: [(&str, &[&str], &[&str]); 6] = [
    ("execute_code", &["code"], &["session_id", "timeout_ms"]),
    ("execute_bash", &["command"], &["session_id", "timeout_ms"]),
    ("session_create", &[], &[]),
    ("session_status", &["session_id"], &[]),
    ("session_destroy", &["session_id"], &[]),
    ("recursive_query", &["prompt"], &["session_id", "context"]),
];

const DESCRIPTION: &str = "Runs Python and bash in sessions that remember, in a confined process. \
    op execute_code runs `code` (Python; the value of a last expression is shown), op execute_bash \
    runs `command`. Variables, functions, imports and the directory last from call to call; Python \
    and bash of a session share a working directory. Without session_id a default session is used. \
    session_create gives a session_id; session_status and session_destroy take one. timeout_ms \
    interrupts the code and keeps the session.";

/// The arguments of the tool, all operations together.
fn properties() -> Value {
    let names = OPERATIONS.map(|(name, ..)| name);
    json!({
        "op": {"type": "string", "enum": names, "description": "What to do."},
        "code": {"type": "string", "description": "Python, for execute_code."},
        "command": {"type": "string", "description": "A bash script, for execute_bash."},
        "session_id": {
            "type": "string",
            "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
            "description": "A session, as session_create or an earlier result names it.",
        },
        "timeout_ms": {
            "type": "integer",
            "minimum": 1,
            "description": "The time of this call, in milliseconds.",
        },
        "prompt": {"type": "string", "description": "For recursive_query, which is not offered yet."},
        "context": {"type": "string", "description": "For recursive_query, which is not offered yet."},
    })
}

pub(super) fn spec(name: &str, timeout: Duration) -> Result<ToolSpec, NameError> {
    let parameters = json!({
        "type": "object",
        "properties": properties(),
        "required": ["op"],
        "additionalProperties": false,
    });
    let operations: Result<Vec<_>, _> =
        OPERATIONS.iter().map(|(name, ..)| OperationName::new(name)).collect();
    let spec = ToolSpec::new(name, DESCRIPTION, parameters)?;
    Ok(spec.with_operations(operations?).with_timeout(timeout).with_title("Python and bash"))
}

/// What each operation needs.
#[derive(Debug)]
pub(super) struct Needs {
    schemas: BTreeMap<&'static str, CompiledSchema>,
}

impl Needs {
    pub(super) fn new() -> Result<Self, SchemaError> {
        let all = properties();
        let compile = |needed: &[&str], taken: &[&str]| {
            let names = ["op"].iter().chain(needed).chain(taken);
            let properties: serde_json::Map<String, Value> =
                names.map(|&name| (name.to_owned(), all[name].clone())).collect();
            CompiledSchema::compile(&json!({
                "type": "object",
                "properties": properties,
                "required": needed,
                "additionalProperties": false,
            }))
        };
        let schemas = OPERATIONS
            .iter()
            .map(|&(name, needed, taken)| compile(needed, taken).map(|schema| (name, schema)));
        Ok(Self { schemas: schemas.collect::<Result<_, _>>()? })
    }

    pub(super) fn of(&self, operation: &str) -> Option<&CompiledSchema> {
        self.schemas.get(operation)
    }
}
