//! What a model sees of the tool, and what each operation needs of it.
//!
//! The schema is flat, because not every model API takes conditions in one; what an operation needs
//! beside it is checked against a schema of its own.

use std::{collections::BTreeMap, time::Duration};

use super::outputs;
use serde_json::{Map, Value, json};
use tool_core::{
    Annotations, ArgumentsProblem, CompiledSchema, NameError, OperationName, OperationSpec,
    SchemaError, ToolError, ToolSpec, ValidatedArgs,
};

/// An operation, and its arguments beside `op`.
pub(super) struct Operation {
    pub(super) name: &'static str,
    needed: &'static [&'static str],
    taken: &'static [&'static str],
    /// Exactly one of these is needed too.
    one_of: &'static [&'static str],
}

const fn operation(
    name: &'static str,
    needed: &'static [&'static str],
    taken: &'static [&'static str],
) -> Operation {
    Operation { name, needed, taken, one_of: &[] }
}

pub(super) const OPERATIONS: [Operation; 13] = [
    operation("execute_code", &["code"], &["session_id", "timeout_ms"]),
    operation("execute_bash", &["command"], &["session_id", "timeout_ms"]),
    operation("session_create", &[], &[]),
    operation("session_status", &["session_id"], &[]),
    operation("session_extend", &["session_id"], &[]),
    operation("session_destroy", &["session_id"], &[]),
    Operation {
        one_of: &["content", "content_base64"],
        ..operation(
            "file_put",
            &["path"],
            &["content", "content_base64", "overwrite", "session_id"],
        )
    },
    operation("file_get", &["path"], &["offset", "limit", "session_id"]),
    operation("snapshot_create", &["session_id"], &[]),
    operation("snapshot_restore", &["session_id", "snapshot_id"], &[]),
    operation("snapshot_list", &["session_id"], &[]),
    operation("snapshot_delete", &["session_id", "snapshot_id"], &[]),
    operation("recursive_query", &["prompt"], &["session_id", "context", "model", "budget"]),
];

const DESCRIPTION: &str = "Runs Python and bash in sessions that remember, in a confined process. \
    op execute_code runs `code` (Python; the value of a last expression is shown), op execute_bash \
    runs `command`. Variables, functions, imports and the directory last from call to call; Python \
    and bash of a session share a working directory. Without session_id a default session is used. \
    session_create gives a session_id; session_status and session_destroy take one, and so does \
    session_extend, which lets a session live longer. file_put makes a file in the working directory \
    of a session, file_get reads one; a result names the files that a call made or changed. \
    snapshot_create keeps the files of a session as they are, snapshot_restore puts them back. \
    timeout_ms interrupts the code and keeps the session. op recursive_query has a model answer \
    `prompt` by writing code in a session, about a `context` that may be very long.";

/// The arguments of the tool, all operations together.
fn properties() -> Map<String, Value> {
    let names = OPERATIONS.map(|operation| operation.name);
    let properties = json!({
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
        "path": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "A file in the session's working directory, for file_put and file_get.",
        },
        "content": {"type": "string", "description": "The text of the file, for file_put."},
        "content_base64": {
            "type": "string",
            "description": "The bytes of the file in base64, for file_put, instead of content.",
        },
        "overwrite": {
            "type": "boolean",
            "description": "Whether file_put replaces a file that is there; false by default.",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "Where file_get begins, in bytes; 0 by default.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": "The most bytes that file_get reads; as many as fit by default.",
        },
        "snapshot_id": {"type": "string", "description": "A snapshot, as snapshot_create names it."},
        "prompt": {
            "type": "string",
            "minLength": 1,
            "description": "The question, for recursive_query.",
        },
        "context": {
            "type": ["string", "array", "object"],
            "description": "What the question is about, for recursive_query: the variable context of \
                its session.",
        },
        "model": {
            "type": "string",
            "description": "The name of the model that works, for recursive_query; the configured one \
                by default.",
        },
        "budget": budget(),
    });
    match properties {
        Value::Object(properties) => properties,
        _ => Map::new(),
    }
}

/// What a query may spend; the operator's bounds hold whatever is asked for.
fn budget() -> Value {
    let bound =
        |least: u64, what: &str| json!({"type": "integer", "minimum": least, "description": what});
    json!({
        "type": "object",
        "properties": {
            "tokens": bound(1, "Tokens, read and written."),
            "sub_calls": bound(0, "Calls of a model by code."),
            "depth": bound(0, "Levels of queries below this one."),
            "iterations": bound(1, "Turns of the model."),
            "time_ms": bound(1, "Milliseconds."),
        },
        "additionalProperties": false,
        "description": "What recursive_query may spend; never more than the operator allows.",
    })
}

/// A schema of these arguments.
fn parameters(needed: &[&str], taken: &[&str]) -> Value {
    let all = properties();
    let names = needed.iter().chain(taken);
    let properties: Map<String, Value> =
        names.map(|&name| (name.to_owned(), all[name].clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": false,
    })
}

/// What a model sees of the tool with all operations.
pub(super) fn spec(name: &str, timeout: Duration) -> Result<ToolSpec, NameError> {
    let parameters = json!({
        "type": "object",
        "properties": properties(),
        "required": ["op"],
        "additionalProperties": false,
    });
    let operations: Result<Vec<_>, _> =
        OPERATIONS.iter().map(|operation| OperationName::new(operation.name)).collect();
    let specs: Result<Vec<_>, _> = OPERATIONS.iter().map(operation_spec).collect();
    let spec = ToolSpec::new(name, DESCRIPTION, parameters)?.with_operation_specs(specs?);
    Ok(spec.with_operations(operations?).with_timeout(timeout).with_title("Python and bash"))
}

/// One operation, for those that offer it as a tool of its own.
fn operation_spec(operation: &Operation) -> Result<OperationSpec, NameError> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Ok(OperationSpec {
        name: OperationName::new(operation.name)?,
        description: description(operation.name).to_owned(),
        needed: owned(operation.needed),
        taken: owned(operation.taken),
        one_of: owned(operation.one_of),
        annotations: annotations(operation.name),
        output: outputs::of(operation.name),
    })
}

fn description(operation: &str) -> &'static str {
    match operation {
        "execute_code" => {
            "Runs `code` (Python) in a session that remembers variables, functions and imports from \
             call to call, in a confined process without network. The value of a last expression is \
             shown. Without session_id a default session is used. timeout_ms interrupts the code and \
             keeps the session."
        }
        "execute_bash" => {
            "Runs `command` (bash) in a session that remembers the directory and variables, in a \
             confined process without network. It shares its working directory with the Python of \
             the session. Without session_id a default session is used."
        }
        "session_create" => "Makes a session of its own, and gives its session_id.",
        "session_status" => "Says how a session is: its state, its age, when it ends.",
        "session_extend" => "Lets a session live longer.",
        "session_destroy" => "Ends a session, with its state and its files.",
        "file_put" => {
            "Makes a file in the working directory of a session, from `content` (text) or \
             `content_base64` (bytes). A file that is there is replaced only with overwrite."
        }
        "file_get" => {
            "Reads a file of a session's working directory, from offset, at most limit bytes."
        }
        "snapshot_create" => "Keeps the files of a session as they are, and gives a snapshot_id.",
        "snapshot_restore" => "Puts the files of a session back as a snapshot has them.",
        "snapshot_list" => "Lists the snapshots of a session.",
        "snapshot_delete" => "Removes a snapshot.",
        _ => {
            "Has a model answer the question `prompt` about the text `context`, of any length, by code in \
             a session."
        }
    }
}

fn annotations(operation: &str) -> Annotations {
    let reads = matches!(operation, "session_status" | "file_get" | "snapshot_list");
    let destroys = matches!(
        operation,
        "execute_code"
            | "execute_bash"
            | "session_destroy"
            | "file_put"
            | "snapshot_restore"
            | "snapshot_delete"
    );
    Annotations {
        is_read_only: reads,
        is_destructive: destroys,
        is_idempotent: reads || matches!(operation, "snapshot_restore"),
        is_open_world: false,
        is_polling: operation == "session_status",
    }
}

/// What a model sees of a tool that does what one operation does.
pub(super) fn single_spec(
    name: &str,
    operation: &str,
    description: &str,
    timeout: Duration,
) -> Result<ToolSpec, NameError> {
    let found = OPERATIONS.iter().find(|known| known.name == operation);
    let (needed, taken) = found.map(|found| (found.needed, found.taken)).unwrap_or_default();
    Ok(ToolSpec::new(name, description, parameters(needed, taken))?.with_timeout(timeout))
}

/// What each operation needs.
#[derive(Debug)]
pub(super) struct Needs {
    schemas: BTreeMap<&'static str, CompiledSchema>,
}

impl Needs {
    pub(super) fn new() -> Result<Self, SchemaError> {
        let compile = |operation: &Operation| {
            let taken: Vec<_> = ["op"].iter().chain(operation.taken).copied().collect();
            let mut schema = parameters(operation.needed, &taken);
            if let (Some(object), false) = (schema.as_object_mut(), operation.one_of.is_empty()) {
                let choices = operation.one_of.iter().map(|name| json!({"required": [name]}));
                object.insert("oneOf".to_owned(), choices.collect());
            }
            CompiledSchema::compile(&schema).map(|schema| (operation.name, schema))
        };
        Ok(Self { schemas: OPERATIONS.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// Checks the arguments of an operation of the tool `tool`.
    pub(super) fn check(
        &self,
        tool: &str,
        operation: &str,
        args: &ValidatedArgs,
    ) -> Result<(), ToolError> {
        let Some(schema) = self.schemas.get(operation) else { return Ok(()) };
        let checked = schema.check(&Value::Object(args.as_object().clone()));
        checked.map_err(|violations| ToolError::InvalidArguments {
            tool: tool.to_owned(),
            problem: ArgumentsProblem::Schema(violations),
        })
    }
}
