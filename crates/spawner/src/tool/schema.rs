//! What a model sees of the tool, and what each operation needs of it.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tool_core::{
    Annotations, CompiledSchema, NameError, OperationName, OperationSpec, SchemaError, ToolSpec,
};

/// The longest that one call may take: a wait for news is the longest thing a call does.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The operations, with the arguments that each needs and takes beside `op`.
const OPERATIONS: [(&str, &[&str], &[&str]); 5] = [
    ("spawn", &["task"], &["provider", "model", "allow_tools", "workdir", "timeout_ms", "budget"]),
    ("status", &["id"], &[]),
    ("list", &[], &[]),
    ("terminate", &["id"], &[]),
    ("collect", &["id"], &["wait_ms", "since"]),
];

const DESCRIPTION: &str = "Starts sub-agents and reads what they do. op spawn starts one for `task` and \
    gives its id at once; it runs by itself and can call at most what you can. op collect gives what it \
    wrote from offset `since` (without it: the beginning and the end), waiting up to `wait_ms` for news; \
    go on from `next` until `done` is true. op status says how it is, op list names all, op terminate \
    ends one.";

fn properties() -> Value {
    let names = OPERATIONS.map(|(name, ..)| name);
    let whole =
        |text: &str, least: u64| json!({"type": "integer", "minimum": least, "description": text});
    json!({
        "op": {"type": "string", "enum": names, "description": "What to do."},
        "task": {"type": "string", "minLength": 1, "description": "What the sub-agent shall do, with all that it has to know."},
        "provider": {"type": "string", "description": "Who does it; without it the default one."},
        "model": {"type": "string", "maxLength": 128, "description": "Its model, where it takes one."},
        "allow_tools": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 256,
            "description": "What it may call, of what you may; without it what the operator says.",
        },
        "workdir": {"type": "string", "minLength": 1, "description": "Its directory, within the working directory."},
        "timeout_ms": whole("Its time, in milliseconds.", 1),
        "budget": whole("Its tokens.", 1),
        "id": {
            "type": "string",
            "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
            "description": "A sub-agent, as spawn and list name it.",
        },
        "wait_ms": whole("How long collect waits for something new, in milliseconds.", 0),
        "since": whole("The offset that collect reads from.", 0),
    })
}

pub(super) fn spec(name: &str, providers: &[&str]) -> Result<ToolSpec, NameError> {
    let mut properties = properties();
    if !providers.is_empty() {
        properties["provider"]["enum"] = providers.into();
    }
    let parameters = json!({
        "type": "object",
        "properties": properties,
        "required": ["op"],
        "additionalProperties": false,
    });
    let operations: Result<Vec<_>, _> =
        OPERATIONS.iter().map(|(name, ..)| OperationName::new(name)).collect();
    let annotations = Annotations { is_polling: true, ..Annotations::default() };
    Ok(ToolSpec::new(name, DESCRIPTION, parameters)?
        .with_operations(operations?)
        .with_operation_specs(
            OPERATIONS.map(operation_spec).into_iter().collect::<Result<Vec<_>, _>>()?,
        )
        .with_timeout(TIMEOUT)
        .with_annotations(annotations)
        .with_title("Sub-agents"))
}

/// One operation, for those that offer it as a tool of its own.
fn operation_spec(
    (name, needed, taken): (&str, &[&str], &[&str]),
) -> Result<OperationSpec, NameError> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let description = match name {
        "spawn" => {
            "Starts a sub-agent for `task` and gives its id at once; it runs by itself and can call at \
             most what you can."
        }
        "status" => "Says how a sub-agent is.",
        "list" => "Names all sub-agents.",
        "terminate" => "Ends a sub-agent.",
        _ => {
            "Gives what a sub-agent wrote from offset `since` (without it: the beginning and the end), \
             waiting up to `wait_ms` for news; go on from `next` until `done` is true."
        }
    };
    let reads = matches!(name, "status" | "list" | "collect");
    Ok(OperationSpec {
        name: OperationName::new(name)?,
        description: description.to_owned(),
        needed: owned(needed),
        taken: owned(taken),
        one_of: Vec::new(),
        annotations: Annotations {
            is_read_only: reads,
            is_destructive: name == "terminate",
            is_idempotent: reads || name == "terminate",
            is_open_world: name == "spawn",
            is_polling: reads,
        },
        output: Some(output(name)),
    })
}

/// What an operation gives; more may be there.
fn output(operation: &str) -> Value {
    let (text, count) = (json!({"type": "string"}), json!({"type": "integer", "minimum": 0}));
    let mut agent = json!({
        "type": "object",
        "properties": {"id": text, "state": text, "provider": text, "task": text, "started_ms": count},
        "required": ["id", "state"],
    });
    if operation == "list" {
        return json!({
            "type": "object",
            "properties": {"agents": {"type": "array", "items": agent}, "older": count},
            "required": ["agents"],
        });
    }
    if operation == "collect" {
        let piece = json!({
            "type": "object",
            "properties": {"stream": text, "text": text, "omitted_bytes": count},
        });
        agent["properties"]["output"] = json!({"type": "array", "items": piece});
        agent["properties"]["next"] = count;
        agent["properties"]["done"] = json!({"type": "boolean"});
        agent["properties"]["result"] = json!({"type": "object"});
        agent["required"] = json!(["id", "state", "output", "next", "done"]);
    }
    agent
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
