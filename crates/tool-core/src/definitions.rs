//! Tool definition files: one file, any of the four shapes that people have.
//!
//! | shape | schema in |
//! | --- | --- |
//! | OpenAI | `function.parameters`, beside `"type": "function"` |
//! | flat | `parameters` |
//! | MCP | `inputSchema` |
//! | Anthropic | `input_schema` |
//!
//! The file is one definition, an array of them, or `{"tools": […]}`. What does not fit is an
//! operator's error that names the place. Keys that describe a tool further (`strict`,
//! `annotations`, `outputSchema`, …) are not read.

use serde_json::{Map, Value, json};

use crate::{
    ByteCount, JsonProblem, NameError, ToolName, ToolSpec, clip, parse_strict, schema::kind_of,
};

/// How large a definition file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefinitionsLimits {
    /// Bytes of the file.
    pub max_bytes: ByteCount,
    /// Tools in it.
    pub max_tools: usize,
}

impl Default for DefinitionsLimits {
    /// 1 MiB, 64 tools.
    fn default() -> Self {
        Self { max_bytes: ByteCount(1024 * 1024), max_tools: 64 }
    }
}

/// A definition file that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionsError {
    /// Too many bytes.
    #[error("the file is {bytes}; at most {max} are accepted")]
    TooLarge {
        /// Its size.
        bytes: ByteCount,
        /// The ceiling.
        max: ByteCount,
    },
    /// Not text.
    #[error("the file is not UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// Not JSON.
    #[error("the file is not JSON: {0}")]
    NotJson(#[from] JsonProblem),
    /// No tools, or too many.
    #[error("the file defines {found} tools; from 1 to {max} are accepted")]
    Count {
        /// How many it has.
        found: usize,
        /// The ceiling.
        max: usize,
    },
    /// A tool is defined twice.
    #[error("{place}: the name {name:?} is defined already at {first}")]
    Duplicate {
        /// Where.
        place: String,
        /// Where it stood first.
        first: String,
        /// The name.
        name: ToolName,
    },
    /// A name that is none.
    #[error("{place}: {source}")]
    Name {
        /// Where.
        place: String,
        /// What is wrong with it.
        #[source]
        source: NameError,
    },
    /// Something else that does not fit.
    #[error("{place}: expected {expected}, found {found}")]
    Shape {
        /// Where.
        place: String,
        /// What would fit.
        expected: &'static str,
        /// What was there.
        found: String,
    },
}

/// Reads a definition file.
///
/// # Errors
/// [`DefinitionsError`] names the place and what would be accepted. Schemas are compiled when the
/// tools are registered, not here.
///
/// ```
/// let file = br#"{"tools": [{"name": "now", "inputSchema": {"type": "object"}}]}"#;
/// let specs = tool_core::load_definitions(file, Default::default())?;
/// assert_eq!(specs[0].name().as_str(), "now");
/// # Ok::<(), tool_core::DefinitionsError>(())
/// ```
pub fn load_definitions(
    file: &[u8],
    limits: DefinitionsLimits,
) -> Result<Vec<ToolSpec>, DefinitionsError> {
    let (bytes, max) = (ByteCount::from(file.len()), limits.max_bytes);
    if bytes > max {
        return Err(DefinitionsError::TooLarge { bytes, max });
    }
    let text = str::from_utf8(file).map_err(|e| DefinitionsError::NotUtf8(e.valid_up_to()))?;
    let root = parse_strict(text.trim_start_matches('\u{feff}'))?;
    let definitions = definitions(&root)?;
    if definitions.is_empty() || definitions.len() > limits.max_tools {
        let (found, max) = (definitions.len(), limits.max_tools);
        return Err(DefinitionsError::Count { found, max });
    }
    let mut specs: Vec<ToolSpec> = Vec::with_capacity(definitions.len());
    for (place, definition) in &definitions {
        let spec = read_definition(place, definition)?;
        if let Some(first) = specs.iter().position(|other| other.name() == spec.name()) {
            let (place, first) = (place.clone(), definitions[first].0.clone());
            return Err(DefinitionsError::Duplicate { place, first, name: spec.name().clone() });
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// The definitions with their places.
fn definitions(root: &Value) -> Result<Vec<(String, &Value)>, DefinitionsError> {
    let (place, items) = match root {
        Value::Array(items) => ("", items),
        Value::Object(map) => match map.get("tools") {
            Some(Value::Array(items)) => ("tools", items),
            Some(other) => return Err(shape("tools".to_owned(), "an array of tools", other)),
            None => return Ok(vec![("the tool".to_owned(), root)]),
        },
        other => {
            let expected = "a tool, an array of tools, or {\"tools\": […]}";
            return Err(shape("the file".to_owned(), expected, other));
        }
    };
    Ok(items.iter().enumerate().map(|(i, item)| (format!("{place}[{i}]"), item)).collect())
}

fn shape(place: String, expected: &'static str, found: &Value) -> DefinitionsError {
    let found = match found {
        Value::Array(_) | Value::Object(_) => kind_of(found).to_owned(),
        found => format!("{} ({})", kind_of(found), clip(&found.to_string(), 60)),
    };
    DefinitionsError::Shape { place, expected, found }
}

fn missing(place: String, expected: &'static str) -> DefinitionsError {
    DefinitionsError::Shape { place, expected, found: "nothing".to_owned() }
}

fn read_definition(place: &str, definition: &Value) -> Result<ToolSpec, DefinitionsError> {
    let object = definition
        .as_object()
        .ok_or_else(|| shape(place.to_owned(), "an object that defines a tool", definition))?;
    match object.get("function") {
        None => read_body(place, object, &["parameters", "inputSchema", "input_schema"]),
        Some(function) => {
            let kind = object.get("type").unwrap_or(&Value::Null);
            if !kind.is_null() && kind != "function" {
                return Err(shape(format!("{place}.type"), "\"function\"", kind));
            }
            let place = format!("{place}.function");
            let function = function.as_object().ok_or_else(|| {
                shape(place.clone(), "an object that defines a function", function)
            })?;
            read_body(&place, function, &["parameters"])
        }
    }
}

fn read_body(
    place: &str,
    body: &Map<String, Value>,
    schema_keys: &[&'static str],
) -> Result<ToolSpec, DefinitionsError> {
    let name = match body.get("name") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(shape(format!("{place}.name"), "a name", other)),
        None => return Err(missing(format!("{place}.name"), "a name")),
    };
    let description = match body.get("description") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(other) => return Err(shape(format!("{place}.description"), "a text", other)),
    };
    let mut schemas = schema_keys.iter().filter_map(|key| Some((*key, body.get(*key)?)));
    let parameters = match (schemas.next(), schemas.next()) {
        (None, _) => json!({"type": "object", "properties": {}}),
        (Some((_, schema @ Value::Object(_))), None) => schema.clone(),
        (Some((key, other)), None) => {
            return Err(shape(format!("{place}.{key}"), "a JSON Schema of an object", other));
        }
        (Some(_), Some((key, other))) => {
            return Err(shape(format!("{place}.{key}"), "one schema, not two", other));
        }
    };
    let spec = ToolSpec::new(name, description, parameters);
    spec.map_err(|source| DefinitionsError::Name { place: format!("{place}.name"), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<ToolSpec>, String> {
        load_definitions(text.as_bytes(), DefinitionsLimits::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn four_shapes_in_three_wrappings() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
        let shapes = [
            format!(
                r#"{{"type":"function","function":{{"name":"t","description":"d","parameters":{schema}}}}}"#
            ),
            format!(r#"{{"name":"t","description":"d","parameters":{schema}}}"#),
            format!(
                r#"{{"name":"t","description":"d","inputSchema":{schema},"annotations":{{}}}}"#
            ),
            format!(r#"{{"name":"t","description":"d","input_schema":{schema}}}"#),
        ];
        let expected = ToolSpec::new("t", "d", serde_json::from_str(schema).unwrap()).unwrap();
        for shape in shapes {
            for file in [shape.clone(), format!("[{shape}]"), format!(r#"{{"tools":[{shape}]}}"#)] {
                assert_eq!(load(&file).unwrap(), vec![expected.clone()], "{file}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_names_the_place() {
        let check = |file: &str, message: &str| {
            let error = load(file).unwrap_err();
            assert!(error.contains(message), "{file}: {error}");
        };
        check("5", "the file: expected a tool");
        check("[]", "defines 0 tools");
        check(r#"{"tools": {}}"#, "tools: expected an array");
        check(r#"[{"name":"a"},{"name":"a"}]"#, "[1]: the name \"a\" is defined already at [0]");
        check(r#"[{"name":"a b"}]"#, "[0].name: \"a b\" is not a name");
        check(r#"[{"name":"a","parameters":[]}]"#, "[0].parameters: expected a JSON Schema");
        check(
            r#"{"tools":[{"type":"web","function":{}}]}"#,
            "tools[0].type: expected \"function\"",
        );
        check(r#"{"name":"a","parameters":{},"inputSchema":{}}"#, "one schema, not two");
        check(r#"{"name":"a","name":"b"}"#, "duplicate key");
        check(r#"{"description":"a"}"#, "the tool.name: expected a name, found nothing");
        let many: Vec<_> = (0..65).map(|n| json!({"name": format!("t{n}")})).collect();
        check(&Value::from(many).to_string(), "defines 65 tools; from 1 to 64");
        check(&" ".repeat(1024 * 1024 + 1), "1048577 bytes; at most 1048576");
    }
}
