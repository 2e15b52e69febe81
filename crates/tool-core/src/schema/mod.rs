//! JSON Schema: compiled once, when a tool is registered; explained when arguments do not fit.
//!
//! Drafts 4, 6, 7, 2019-09 and 2020-12 by `$schema`, 2020-12 where there is none. Nothing is ever
//! fetched: a reference that leaves the schema (`http:`, `file:`, …) does not compile. Patterns run
//! on a linear-time engine with a size limit, so no argument can make one burn time; a pattern that
//! needs a backtracking engine does not compile. `format` is an annotation, as 2020-12 has it: it is
//! not asserted. `3.0` is an integer.

mod explain;

use jsonschema::{PatternOptions, Validator, error::ValidationErrorKind};
use serde_json::Value;

use crate::{clip, text::clip_with_ellipsis};

pub use explain::{Violation, Violations};

/// The largest compiled pattern, in bytes: far above what real schemas use.
const PATTERN_SIZE: usize = 1 << 20;

const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// A schema that is ready to check arguments.
#[derive(Debug)]
pub struct CompiledSchema {
    validator: Validator,
    schema: Value,
}

/// A schema that can't be used, with the place in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("schema at {place:?}: {message}")]
pub struct SchemaError {
    /// A JSON Pointer into the schema; empty for the root.
    pub place: String,
    /// What is wrong and what would be accepted.
    pub message: String,
}

impl SchemaError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        let message = clip_with_ellipsis(message.into(), 1024);
        Self { place: place.into(), message }
    }
}

impl CompiledSchema {
    /// Compiles a schema for arguments: its root must be an object schema.
    ///
    /// # Errors
    /// [`SchemaError`] names the place and what is wrong there.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::CompiledSchema;
    /// let error = CompiledSchema::compile(&json!({
    ///     "type": "object", "properties": {"a": {"type": "dict"}}
    /// })).unwrap_err();
    /// assert_eq!(error.place, "/properties/a/type");
    /// ```
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let Some(root) = schema.as_object() else {
            let found = kind_of(schema);
            return Err(SchemaError::new("", format!("expected a JSON object, found {found}")));
        };
        match root.get("type") {
            None => {}
            Some(Value::String(kind)) if kind == "object" => {}
            Some(other) => {
                let other = clip(&other.to_string(), 60).to_owned();
                let message = format!(
                    "arguments are an object, so the root's type must be \"object\", found {other}"
                );
                return Err(SchemaError::new("/type", message));
            }
        }
        Self::compile_any(schema)
    }

    /// Compiles any schema, also one whose root is not an object schema (the test suite's are not).
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_any(schema: &Value) -> Result<Self, SchemaError> {
        check_draft(schema)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_SIZE);
        jsonschema::options()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(patterns)
            .build(schema)
            .map(|validator| Self { validator, schema: schema.clone() })
            .map_err(|error| explain_schema_error(schema, &error))
    }

    /// Whether `value` fits. Allocates nothing when it does.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Checks `value`, and lists what does not fit.
    ///
    /// # Errors
    /// Every violation, up to a bound, with its place.
    pub fn check(&self, value: &Value) -> Result<(), Violations> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        Err(explain::violations(&self.schema, self.validator.iter_errors(value)))
    }

    /// The schema as it was given.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}

/// What a value is, with its article.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn check_draft(schema: &Value) -> Result<(), SchemaError> {
    let Some(draft) = schema.get("$schema") else { return Ok(()) };
    let is_known = draft.as_str().is_some_and(|uri| DRAFTS.contains(&uri.trim_end_matches('#')));
    if is_known {
        return Ok(());
    }
    let message = format!(
        "{} is not a known draft; known are {}",
        clip_with_ellipsis(draft.to_string(), 120),
        DRAFTS.join(", ")
    );
    Err(SchemaError::new("/$schema", message))
}

fn explain_schema_error(schema: &Value, error: &jsonschema::ValidationError<'_>) -> SchemaError {
    if let ValidationErrorKind::Referencing(cause) = error.kind() {
        let place = outside_reference(schema, String::new()).unwrap_or_default();
        let message = format!(
            "{cause}; a reference must stay inside the schema (\"#/$defs/…\"), nothing is fetched"
        );
        return SchemaError::new(place, message);
    }
    let mut place = error.instance_path().to_string();
    if place.is_empty() {
        place = error.schema_path().to_string();
    }
    SchemaError::new(place, error.to_string())
}

/// The place of the first `$ref` that does not stay inside.
fn outside_reference(schema: &Value, place: String) -> Option<String> {
    match schema {
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let here = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
            match value {
                Value::String(uri) if key == "$ref" && !uri.starts_with('#') => Some(here),
                _ => outside_reference(value, here),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| outside_reference(item, format!("{place}/{index}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place_of(schema: Value) -> String {
        CompiledSchema::compile(&schema).unwrap_err().place
    }

    #[test]
    fn a_schema_that_does_not_compile_names_the_place() {
        assert_eq!(place_of(json!("x")), "");
        assert_eq!(place_of(json!({"type": "array"})), "/type");
        assert_eq!(place_of(json!({"$schema": "https://example.org/mine"})), "/$schema");
        let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        assert_eq!(place_of(property(json!({"type": "dict"}))), "/properties/a/type");
        assert_eq!(
            place_of(property(json!({"minimum": 1, "exclusiveMinimum": true}))),
            "/properties/a/exclusiveMinimum"
        );
        for uri in ["http://169.254.169.254/x", "file:///etc/passwd", "other.json"] {
            assert_eq!(place_of(property(json!({"$ref": uri}))), "/properties/a/$ref", "{uri}");
        }
        for pattern in ["(", "(a)\\1", "a(?<!b)c", "(a{1000}){1000}{1000}"] {
            assert_eq!(
                place_of(property(json!({"pattern": pattern}))),
                "/properties/a/pattern",
                "{pattern}"
            );
        }
    }

    #[test]
    fn older_drafts_and_recursion_work() {
        let draft4 = json!({
            "$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
            "properties": {"n": {"type": "number", "minimum": 1, "exclusiveMinimum": true}},
        });
        let draft4 = CompiledSchema::compile(&draft4).unwrap();
        assert!(draft4.check(&json!({"n": 1})).is_err());
        assert!(draft4.check(&json!({"n": 2})).is_ok());

        let list = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        let list = CompiledSchema::compile(&list).unwrap();
        assert!(list.check(&json!({"next": {"next": {}}})).is_ok());
        assert!(list.check(&json!({"next": {"next": 1}})).is_err());
    }

    #[test]
    fn patterns_cannot_burn_time() {
        let schema = json!({"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}});
        let schema = CompiledSchema::compile(&schema).unwrap();
        let argument = json!({"a": format!("{}!", "a".repeat(8000))});
        let start = std::time::Instant::now();
        assert!(schema.check(&argument).is_err());
        assert!(start.elapsed() < std::time::Duration::from_secs(1));
    }

    #[test]
    fn every_violation_is_listed_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "mode": {"enum": ["read", "list"]},
                "depth": {"type": "integer", "minimum": 0, "exclusiveMinimum": 5},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}},
            },
            "required": ["path", "mode"],
            "additionalProperties": false,
        });
        let schema = CompiledSchema::compile(&schema).unwrap();
        let violations = schema
            .check(&json!({"mode": "write", "depth": 3, "tags": ["abc", "abcd"], "tokenBudget": 1}))
            .unwrap_err();
        insta::assert_snapshot!(violations, @r#"
        - (root): expected the required property "path", found nothing
        - /depth: expected more than 5, found a number 3
        - /mode: expected one of "read", "list", found a string "write"
        - /tags/1: expected at most 3 characters, found a string "abcd"
        - (root): expected no properties but "depth", "mode", "path", "tags", found "tokenBudget"
        "#);
    }

    #[test]
    fn a_message_stays_under_four_kibibytes() {
        let names: Vec<_> = (0..200).map(|n| format!("{n}-{}", "ж".repeat(200))).collect();
        let schema = json!({"type": "object", "required": names});
        let violations = CompiledSchema::compile(&schema).unwrap().check(&json!({})).unwrap_err();
        assert_eq!(violations.shown().len() + violations.omitted(), 200);
        assert!(violations.to_string().len() < 4096);
        assert!(violations.to_string().ends_with(" more"));
    }

    #[test]
    fn no_hidden_limits() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "items": {"type": "array"}, "n": {"type": "integer"}},
            "additionalProperties": true,
        });
        let schema = CompiledSchema::compile(&schema).unwrap();
        let arguments = json!({
            "path": "p".repeat(65), "items": (0..17).collect::<Vec<_>>(), "n": 3.0, "extra": 1,
        });
        assert_eq!(schema.check(&arguments), Ok(()));
    }
}
