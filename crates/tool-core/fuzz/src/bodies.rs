//! What the fuzz targets do with an input. The crate's tests run the same functions over the seeds.
//!
//! Each takes any bytes and panics where a promise of the crate is broken. Nothing here decides what
//! is right beyond those promises: no panic, texts within their bounds, and parse∘print is identity.
#![allow(dead_code, reason = "every target includes this file and uses one function of it")]

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use tool_core::{
    CompiledSchema, DefinitionsLimits, ErrorKind, Gate, Limits, MAX_ERROR_BYTES, OperationName,
    Stage, ToolCall, ToolError, ToolRegistry, ToolSpec, load_definitions as load, parse_strict,
    render_openai,
};

/// A gate with one tool of each kind: plain, with operations (one of them authorized), with a hard
/// schema, and one that is not authorized.
static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let mut registry = ToolRegistry::new();
    let spec = |name, schema| ToolSpec::new(name, "", schema).expect("a valid name");
    let operations = ["get", "set"].map(|op| OperationName::new(op).expect("a valid name"));
    let declared = [
        spec("read_file_in_workdir", schema_of_reading()),
        spec("table", schema_of_table()).with_operations(operations),
        spec("add", json!({"type": "object", "additionalProperties": {"type": "number"}})),
        spec("send_mail", json!({"type": "object"})),
    ];
    for spec in declared {
        registry.declare(spec).expect("the tools fit together");
    }
    let scope = registry.scope(["read_file_in_workdir", "table.get", "add"]).expect("they exist");
    Gate::new(Arc::new(registry), scope, Limits::default())
});

fn schema_of_reading() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "pattern": "^[^/]"},
            "offset": {"type": "integer", "minimum": 0},
            "timeout_ms": {"type": "integer", "minimum": 1},
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

fn schema_of_table() -> Value {
    json!({
        "type": "object",
        "properties": {
            "op": {"enum": ["get", "set"], "type": "string"},
            "rows": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"minimum": 2.5}]}},
        },
        "required": ["op"],
    })
}

/// The text is a call or it is not; a call passes the gate or is refused by one of stages 1 to 4.
pub(crate) fn parse_call(data: &[u8]) {
    let call = match tool_core::parse_call(data) {
        Ok(call) => call,
        Err(malformed) => {
            assert!(malformed.id.as_str().len() <= 256 && malformed.name.len() <= 256);
            check_error(&ToolError::from(&malformed));
            return;
        }
    };
    check_printed(&call);
    match GATE.admit(&call) {
        Ok(admitted) => {
            let name = admitted.tool().spec().name().as_str();
            assert_eq!(name, call.name);
            assert!(GATE.scope().is_authorized(&admitted.capability()), "{call:?}");
            assert!(call.arguments.len_bytes() <= GATE.limits().max_args().as_usize());
            assert!(!admitted.timeout().after.is_zero());
        }
        Err(refused) => {
            check_error(&refused);
            let stage = Stage::of(refused.kind());
            assert!(stage >= Stage::Allowlist && stage <= Stage::Schema, "{refused}");
        }
    }
}

/// A call written in the OpenAI shape is read back as the same call.
fn check_printed(call: &ToolCall) {
    let printed = json!({
        "id": call.id.as_str(),
        "function": {"name": call.name, "arguments": call.arguments.to_text()},
    });
    let again = tool_core::parse_call(printed.to_string().as_bytes());
    assert_eq!(again.as_ref(), Ok(call), "{printed}");
}

fn check_error(error: &ToolError) {
    let text = error.for_model();
    assert!(!text.trim().is_empty() && text.len() <= MAX_ERROR_BYTES, "{} bytes", text.len());
    assert!(ErrorKind::ALL.contains(&error.kind()));
    assert!(!error.to_string().is_empty());
}

/// The text is a definition file or the error says why not; what was loaded is loaded again from its
/// OpenAI form, and registers or names the tool that does not.
pub(crate) fn load_definitions(data: &[u8]) {
    let limits = DefinitionsLimits::default();
    let specs = match load(data, limits) {
        Ok(specs) => specs,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!((1..=limits.max_tools).contains(&specs.len()));
    let printed = Value::Array(specs.iter().map(render_openai).collect()).to_string();
    let again = load(printed.as_bytes(), limits);
    assert_eq!(again.as_ref(), Ok(&specs), "{printed}");
    let mut registry = ToolRegistry::new();
    for spec in specs {
        let (name, before) = (spec.name().clone(), registry.len());
        match registry.declare(spec) {
            Ok(()) => assert!(registry.has(name.as_str())),
            Err(error) => {
                assert!(error.to_string().contains(name.as_str()), "{error}");
                assert_eq!(registry.len(), before);
            }
        }
    }
}

/// The text is a schema, a line break, and an instance, both as strict JSON. The schema compiles or
/// says where it does not; the instance fits or the message says why, within its bounds.
pub(crate) fn explain_schema(data: &[u8]) {
    let Some((schema, instance)) = str::from_utf8(data).ok().and_then(|t| t.split_once('\n'))
    else {
        return;
    };
    let (Ok(schema), Ok(instance)) = (parse_strict(schema), parse_strict(instance)) else { return };
    let compiled = match CompiledSchema::compile_any(&schema) {
        Ok(compiled) => compiled,
        Err(error) => {
            assert!(error.place.is_empty() || error.place.starts_with('/'), "{error}");
            assert!(!error.message.is_empty() && error.message.len() < 4096, "{error}");
            return;
        }
    };
    let checked = compiled.check(&instance);
    assert_eq!(checked.is_ok(), compiled.is_valid(&instance));
    let Err(violations) = checked else { return };
    let text = violations.to_string();
    assert!(!text.is_empty() && text.len() < 4096, "{} bytes", text.len());
    assert!(!violations.shown().is_empty());
    for violation in violations.shown() {
        assert!(!violation.expected.is_empty() && !violation.keyword.is_empty(), "{violation:?}");
        assert!(violation.pointer.is_empty() || violation.pointer.starts_with('/'));
    }
}
