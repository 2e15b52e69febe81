//! One concrete call from a right answer.
//!
//! A right answer lists for each parameter the values that are acceptable; `""` in the list of an
//! optional parameter says that it may be left out. Inside an acceptable object every member is such
//! a list again; a member that is no list is its own only value. A list without values leaves nothing
//! to send. The first acceptable value is taken. Where it does not fit the parameter's schema the
//! others are tried in their order, and leaving it out comes last; [`Fitted`] says how far that had
//! to go. Where nothing fits, the first value stays, so that the gate can say what is wrong with it.
//! A value is never changed.

use serde_json::{Map, Value};
use tool_core::{CompiledSchema, SchemaError};

use super::Truth;

/// How far the acceptable values of a call had to be tried until all of them fitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fitted {
    /// Every parameter has its first value.
    #[default]
    First,
    /// Some parameter has a later value, because those before it do not fit.
    Later,
    /// Some parameter is left out, as its list allows, because none of its values fits.
    LeftOut,
}

/// The arguments of a call, and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Arranged {
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// How far the lists had to be tried.
    pub fitted: Fitted,
}

/// A right answer that is not made as described above.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// A parameter whose acceptable values are no list.
    #[error("{place:?}: expected a list of acceptable values")]
    NotAList {
        /// A JSON Pointer to the parameter.
        place: String,
    },
    /// A schema that can't be compiled.
    #[error("{place:?}: {source}")]
    Schema {
        /// A JSON Pointer to the parameter.
        place: String,
        /// What is wrong with the schema.
        #[source]
        source: SchemaError,
    },
}

/// Arranges a call of a function with these (translated) parameters.
///
/// # Errors
/// [`AnswerError`] for a parameter whose acceptable values are no list.
pub fn arrange(truth: &Truth, parameters: &Value) -> Result<Arranged, AnswerError> {
    let mut fitted = Fitted::First;
    let arguments = members(&truth.acceptable, parameters, "", &mut fitted)?;
    Ok(Arranged { arguments, fitted })
}

fn members(
    acceptable: &Map<String, Value>,
    schema: &Value,
    place: &str,
    fitted: &mut Fitted,
) -> Result<Map<String, Value>, AnswerError> {
    let mut members = Map::new();
    for (name, values) in acceptable {
        let here = format!("{place}/{name}");
        let property = schema.get("properties").and_then(|all| all.get(name));
        let property = property.unwrap_or(&Value::Bool(true));
        let chosen = match values {
            Value::Array(values) => {
                choose(values, property, is_required(schema, name), &here, fitted)?
            }
            // Only below the root a member may be its own only value.
            _ if place.is_empty() => return Err(AnswerError::NotAList { place: here }),
            value => Some(concrete(value, property, &here, fitted)?),
        };
        if let Some(value) = chosen {
            members.insert(name.clone(), value);
        }
    }
    Ok(members)
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// The first value that fits; `None` where the parameter is left out.
fn choose(
    values: &[Value],
    schema: &Value,
    is_required: bool,
    place: &str,
    fitted: &mut Fitted,
) -> Result<Option<Value>, AnswerError> {
    let may_be_left_out = !is_required && values.iter().any(|value| value == "");
    let compiled = CompiledSchema::compile_any(schema)
        .map_err(|source| AnswerError::Schema { place: place.to_owned(), source })?;
    let mut first = None;
    for value in values.iter().filter(|value| is_required || *value != "") {
        let mut inner = Fitted::First;
        let value = concrete(value, schema, place, &mut inner)?;
        if compiled.is_valid(&value) {
            let reached = if first.is_none() { Fitted::First } else { Fitted::Later };
            *fitted = (*fitted).max(reached).max(inner);
            return Ok(Some(value));
        }
        first.get_or_insert(value);
    }
    if may_be_left_out {
        if first.is_some() {
            *fitted = Fitted::LeftOut;
        }
        return Ok(None);
    }
    Ok(first)
}

fn concrete(
    value: &Value,
    schema: &Value,
    place: &str,
    fitted: &mut Fitted,
) -> Result<Value, AnswerError> {
    match value {
        Value::Object(acceptable) => members(acceptable, schema, place, fitted).map(Value::Object),
        Value::Array(items) => {
            let schema = schema.get("items").unwrap_or(&Value::Bool(true));
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| concrete(item, schema, &format!("{place}/{index}"), fitted))
                .collect()
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(acceptable: Value, parameters: Value, arguments: Value, fitted: Fitted) {
        let Value::Object(acceptable) = acceptable else { panic!("an object") };
        let truth = Truth { function: "f".to_owned(), acceptable };
        let arranged = arrange(&truth, &parameters).unwrap();
        assert_eq!(Value::Object(arranged.arguments), arguments);
        assert_eq!(arranged.fitted, fitted, "{arguments}");
    }

    #[test]
    fn values_are_tried_in_their_order() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["b"],
        });
        let check = |acceptable, arguments, fitted| {
            check(acceptable, schema.clone(), arguments, fitted);
        };
        check(json!({"a": [1, 2], "b": ["x"]}), json!({"a": 1, "b": "x"}), Fitted::First);
        check(json!({"a": ["", 2], "b": [""]}), json!({"a": 2, "b": ""}), Fitted::First);
        check(json!({"a": [""], "b": ["x"]}), json!({"b": "x"}), Fitted::First);
        check(json!({"a": [1.5, 2], "b": ["x"]}), json!({"a": 2, "b": "x"}), Fitted::Later);
        check(json!({"a": [null, ""], "b": [1, "x"]}), json!({"b": "x"}), Fitted::LeftOut);
        // Nothing fits: the first value stays as it is.
        check(json!({"a": [null, "1"], "b": ["x"]}), json!({"a": null, "b": "x"}), Fitted::First);
    }

    #[test]
    fn objects_hold_lists_again_also_inside_of_lists() {
        let schema = json!({"type": "object", "properties": {
            "rows": {"type": "array", "items": {
                "type": "object", "properties": {"n": {"type": "integer"}},
            }},
            "point": {"type": "object"},
        }});
        check(
            json!({
                "rows": [[{"n": ["one", 1], "m": ["", "x"]}, {"n": [""]}]],
                "point": [{"xy": [[1, 2]], "unit": "mm"}],
            }),
            schema,
            json!({"rows": [{"n": 1, "m": "x"}, {}], "point": {"xy": [1, 2], "unit": "mm"}}),
            Fitted::Later,
        );
    }

    #[test]
    fn a_list_without_values_leaves_nothing_to_send_and_no_list_is_an_error() {
        let schema = json!({"type": "object", "required": ["a"]});
        check(json!({"a": [], "b": []}), schema.clone(), json!({}), Fitted::First);
        let acceptable = Map::from_iter([("a".to_owned(), json!(5))]);
        let error = arrange(&Truth { function: "f".to_owned(), acceptable }, &schema).unwrap_err();
        assert_eq!(error, AnswerError::NotAList { place: "/a".to_owned() });
    }
}
