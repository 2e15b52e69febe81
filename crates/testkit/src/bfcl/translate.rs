//! The published dialect of parameters, translated into JSON Schema.
//!
//! The definitions name types as Python, Java and JavaScript do. Each of these names has one row in
//! [`TYPES`]; each use of a row is counted, so a report can say what was changed and how often. What
//! has no row and no place in [`KEPT`] is an error that names the place. Nothing is narrowed or
//! widened beyond the type names: an `enum` beside a type that it contradicts stays as published.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A type name of the dialect, and the JSON Schema type it stands for; `None` where any value fits.
const TYPES: &[(&str, Option<&str>)] = &[
    ("dict", Some("object")),
    ("HashMap", Some("object")),
    ("Hashtable", Some("object")),
    ("list", Some("array")),
    ("tuple", Some("array")),
    ("Array", Some("array")),
    ("ArrayList", Some("array")),
    ("Queue", Some("array")),
    ("Set", Some("array")),
    ("Stack", Some("array")),
    ("float", Some("number")),
    ("double", Some("number")),
    ("byte", Some("integer")),
    ("short", Some("integer")),
    ("long", Some("integer")),
    ("Bigint", Some("integer")),
    ("bool", Some("boolean")),
    ("Boolean", Some("boolean")),
    ("String", Some("string")),
    ("char", Some("string")),
    ("any", None),
    ("Any", None),
    ("", None),
];

/// Type names that mean in the dialect what they mean in JSON Schema.
const PLAIN: [&str; 6] = ["object", "array", "string", "integer", "number", "boolean"];

/// Keywords that are taken as they are.
const KEPT: [&str; 6] = ["description", "required", "default", "enum", "format", "maximum"];

/// A marker beside a type, which says again what `required` says; JSON Schema has no such keyword.
const OPTIONAL: &str = "optional";

/// How often each rule was used, by the rule's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<String, usize>);

impl Tally {
    fn count(&mut self, rule: String) {
        *self.0.entry(rule).or_default() += 1;
    }

    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        for (rule, count) in &other.0 {
            *self.0.entry(rule.clone()).or_default() += count;
        }
    }

    /// Every rule that was used, with its count, sorted by the rule.
    pub fn rules(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(rule, count)| (rule.as_str(), *count))
    }

    /// How many translations were made in all.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

/// A definition that the table does not cover.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place:?}: {problem}")]
pub struct TranslateError {
    /// A JSON Pointer into the parameters; empty for the root.
    pub place: String,
    /// What stands there.
    pub problem: String,
}

/// Translates the parameters of one definition, and counts every change in `tally`.
///
/// # Errors
/// [`TranslateError`] for a type name or keyword without a row, and for what is no schema at all.
///
/// ```
/// use serde_json::json;
/// use testkit::bfcl::{Tally, translate};
/// let mut tally = Tally::default();
/// let schema = translate(&json!({"type": "dict", "properties": {}}), &mut tally)?;
/// assert_eq!(schema, json!({"type": "object", "properties": {}}));
/// assert_eq!(tally.total(), 1);
/// # Ok::<(), testkit::bfcl::TranslateError>(())
/// ```
pub fn translate(parameters: &Value, tally: &mut Tally) -> Result<Value, TranslateError> {
    schema(parameters, "", tally)
}

fn schema(value: &Value, place: &str, tally: &mut Tally) -> Result<Value, TranslateError> {
    let keywords = value.as_object().ok_or_else(|| error(place, "expected an object", value))?;
    let mut translated = Map::new();
    for (keyword, value) in keywords {
        let here = format!("{place}/{}", keyword.replace('~', "~0").replace('/', "~1"));
        let value = match keyword.as_str() {
            "type" => match type_name(value, &here, tally)? {
                Some(name) => Value::from(name),
                None => continue,
            },
            "properties" => properties(value, &here, tally)?,
            "items" => schema(value, &here, tally)?,
            OPTIONAL => {
                tally.count("keyword optional: dropped".to_owned());
                continue;
            }
            kept if KEPT.contains(&kept) => value.clone(),
            _ => return Err(error(&here, "the table has no such keyword", value)),
        };
        translated.insert(keyword.clone(), value);
    }
    Ok(Value::Object(translated))
}

fn properties(value: &Value, place: &str, tally: &mut Tally) -> Result<Value, TranslateError> {
    let properties = value.as_object().ok_or_else(|| error(place, "expected an object", value))?;
    let mut translated = Map::new();
    for (name, property) in properties {
        let here = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        translated.insert(name.clone(), schema(property, &here, tally)?);
    }
    Ok(Value::Object(translated))
}

/// The JSON Schema type; `None` where the keyword has to go, because any value fits.
fn type_name<'a>(
    value: &'a Value,
    place: &str,
    tally: &mut Tally,
) -> Result<Option<&'a str>, TranslateError> {
    let name = value.as_str().ok_or_else(|| error(place, "expected a type name", value))?;
    if PLAIN.contains(&name) {
        return Ok(Some(name));
    }
    let row = TYPES.iter().find(|(from, _)| *from == name);
    let (from, to) = row.ok_or_else(|| error(place, "the table has no such type", value))?;
    tally.count(match to {
        Some(to) => format!("type {from:?}: {to}"),
        None => format!("type {from:?}: any value"),
    });
    Ok(*to)
}

fn error(place: &str, problem: &str, found: &Value) -> TranslateError {
    let found = found.to_string();
    let problem = format!("{problem}, found {}", tool_core::clip(&found, 80));
    TranslateError { place: place.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_row_is_used_and_counted() {
        for (from, to) in TYPES {
            let mut tally = Tally::default();
            let translated = translate(&json!({"type": from}), &mut tally).unwrap();
            assert_eq!(translated.get("type").and_then(Value::as_str), *to, "{from}");
            assert_eq!(tally.total(), 1, "{from}");
        }
        for plain in PLAIN {
            let mut tally = Tally::default();
            let schema = json!({"type": plain});
            assert_eq!(translate(&schema, &mut tally).unwrap(), schema);
            assert_eq!(tally.total(), 0);
        }
    }

    #[test]
    fn schemas_inside_schemas_are_translated_and_properties_are_no_keywords() {
        let published = json!({
            "type": "dict",
            "required": ["type"],
            "properties": {
                "type": {"type": "String", "description": "d", "optional": true},
                "rows": {"type": "ArrayList", "items": {"type": "tuple", "items": {"type": "any"}}},
            },
        });
        let mut tally = Tally::default();
        let expected = json!({
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {"type": "string", "description": "d"},
                "rows": {"type": "array", "items": {"type": "array", "items": {}}},
            },
        });
        assert_eq!(translate(&published, &mut tally).unwrap(), expected);
        assert_eq!(tally.total(), 6);
        assert!(tally.rules().any(|rule| rule == ("type \"any\": any value", 1)));
    }

    #[test]
    fn what_the_table_does_not_cover_names_its_place() {
        let place = |schema: Value| translate(&schema, &mut Tally::default()).unwrap_err().place;
        let inside = |schema: Value| json!({"type": "dict", "properties": {"a/b": schema}});
        assert_eq!(place(json!([])), "");
        assert_eq!(place(json!({"type": ["dict"]})), "/type");
        assert_eq!(place(inside(json!({"type": "Date"}))), "/properties/a~1b/type");
        assert_eq!(place(inside(json!({"nullable": true}))), "/properties/a~1b/nullable");
        assert_eq!(place(inside(json!({"items": []}))), "/properties/a~1b/items");
        assert_eq!(place(json!({"properties": []})), "/properties");
    }
}
