//! A tool's schema with an object at its root, as the providers ask for.
//!
//! OpenAI and Anthropic take `"type": "object"` at the root and refuse combinators there. Arguments
//! are always an object, so some schemas can be written another way and still accept exactly the same
//! arguments:
//!
//! | root | becomes |
//! | --- | --- |
//! | no `type`; a list of types with `object` in it | `"type": "object"` |
//! | `true` | an object of any kind |
//! | `$ref` to a local definition, with only notes beside it | that definition, definitions kept |
//! | `anyOf`, `oneOf`, `allOf` of one schema, with only notes beside it | that schema |
//! | no `properties` | `"properties": {}` |
//!
//! A schema that refers to its own root, or to a place in it other than a definition, is not
//! rewritten: the reference would come to mean something else. Everything else that has `anyOf`,
//! `oneOf`, `allOf`, `not`, `enum`, `const`, `if`, `then`, `else`, `$ref`, `$dynamicRef` or
//! `$recursiveRef` at its root is refused with the keyword's name. Below the root nothing is touched.

use serde_json::{Map, Value, json};

/// Keywords that the providers refuse, or ignore, at the root.
const REFUSED: [&str; 12] = [
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "enum",
    "const",
    "if",
    "then",
    "else",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
];

/// Keywords that decide nothing about an instance, so they can stand beside what is unwrapped.
const NOTES: [&str; 9] = [
    "$schema",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "examples",
    "default",
    "type",
];

/// How many roots are unwrapped, one out of the other.
const MAX_UNWRAPPED: usize = 16;

/// The schema with an object at its root, accepting exactly the same objects.
///
/// # Errors
/// Why there is none.
pub(crate) fn root_object(schema: &Value) -> Result<Value, String> {
    let mut root = match schema {
        Value::Bool(true) => Map::new(),
        Value::Object(root) => root.clone(),
        Value::Bool(false) => return Err("its schema accepts nothing".to_owned()),
        _ => return Err("its schema is neither an object nor true".to_owned()),
    };
    for _ in 0..MAX_UNWRAPPED {
        require_object(&mut root)?;
        match unwrapped(&root) {
            Some(inner) => root = inner,
            None => break,
        }
    }
    if let Some(keyword) = REFUSED.iter().find(|keyword| root.contains_key(**keyword)) {
        return Err(format!(
            "its schema has {keyword:?} at the root, which this provider does not take"
        ));
    }
    // What refers to the old root, or into it, would now mean the new one.
    let is_changed = schema.as_object().is_none_or(|given| *given != root);
    if is_changed && let Some(reference) = foreign_reference(schema) {
        return Err(format!(
            "its schema refers to {reference}, so its root can't be rewritten as this provider asks"
        ));
    }
    root.entry("properties").or_insert_with(|| json!({}));
    Ok(Value::Object(root))
}

/// A reference to anything but a definition that stays where it is.
fn foreign_reference(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(object) => object.iter().find_map(|(key, value)| {
            let stays = ["#/$defs/", "#/definitions/"];
            match (key.as_str(), value.as_str()) {
                ("$ref", Some(target)) if stays.iter().any(|at| target.starts_with(at)) => None,
                ("$ref" | "$dynamicRef" | "$recursiveRef", Some(target)) => {
                    Some(format!("{target:?}"))
                }
                _ => foreign_reference(value),
            }
        }),
        Value::Array(items) => items.iter().find_map(foreign_reference),
        _ => None,
    }
}

/// Narrows `type` to `object`, which loses nothing: no argument is anything else.
fn require_object(root: &mut Map<String, Value>) -> Result<(), String> {
    let accepts_objects = match root.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
    };
    if !accepts_objects {
        return Err("its schema accepts no object, and arguments are always one".to_owned());
    }
    root.insert("type".to_owned(), "object".into());
    Ok(())
}

/// The only schema that `root` consists of, with the notes of both.
fn unwrapped(root: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut deciding = root.keys().filter(|key| !NOTES.contains(&key.as_str()));
    let (keyword, None) = (deciding.next()?, deciding.next()) else { return None };
    let inner = match keyword.as_str() {
        "$ref" => local_definition(root, root.get("$ref")?.as_str()?)?,
        "anyOf" | "oneOf" | "allOf" => match root.get(keyword)?.as_array()?.as_slice() {
            [only] => only.as_object()?,
            _ => return None,
        },
        _ => return None,
    };
    let base_changes = ["$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "id"];
    if base_changes.iter().any(|key| inner.contains_key(*key)) {
        return None;
    }
    merged(root, inner, keyword)
}

/// `inner` under the notes of `root`; `None` where both hold definitions, which could shadow others.
fn merged(
    root: &Map<String, Value>,
    inner: &Map<String, Value>,
    keyword: &str,
) -> Option<Map<String, Value>> {
    let mut merged = root.clone();
    merged.remove(keyword);
    for (key, value) in inner {
        match key.as_str() {
            "$defs" | "definitions" if merged.contains_key(key) => return None,
            "$schema" if merged.get(key).is_some_and(|own| own != value) => return None,
            // The tool's own words go before those of the definition.
            "title" | "description" | "$comment" | "examples" | "default"
                if merged.contains_key(key) => {}
            _ => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    Some(merged)
}

/// What `#/$defs/NAME` or `#/definitions/NAME` means, where the name needs no unescaping.
fn local_definition<'a>(
    root: &'a Map<String, Value>,
    reference: &str,
) -> Option<&'a Map<String, Value>> {
    let (section, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let is_plain = !name.contains(['/', '~', '%']);
    let is_section = matches!(section, "$defs" | "definitions");
    if !is_plain || !is_section {
        return None;
    }
    root.get(section)?.get(name)?.as_object()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tool_core::CompiledSchema;

    use super::*;

    /// Schemas that say little, some of them by reference.
    fn plain() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!({})),
            Just(json!({"type": "object"})),
            Just(json!({"type": ["object", "null"]})),
            Just(json!({"type": "string"})),
            Just(json!({"required": ["a"]})),
            Just(json!({"minProperties": 1})),
            Just(json!({"properties": {"a": {"$ref": "#"}}})),
            Just(json!({"properties": {"a": {"$ref": "#/$defs/D"}}, "type": ["null", "object"]})),
            Just(json!({"properties": {"a": {}}, "additionalProperties": false})),
        ]
    }

    fn any_root() -> impl Strategy<Value = Value> {
        let wrapped = (plain(), plain(), 0..6u8).prop_map(|(one, other, way)| match way {
            0 => json!({"anyOf": [one]}),
            1 => json!({"allOf": [one], "type": "object"}),
            2 => json!({"oneOf": [{"allOf": [one]}]}),
            3 => json!({"anyOf": [one, other]}),
            4 => json!({"$ref": "#/$defs/D", "title": "T"}),
            _ => one,
        });
        (wrapped, plain()).prop_map(|(mut root, definition)| {
            root["$defs"] = json!({"D": definition});
            root
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn the_new_form_accepts_the_same_arguments(schema in any_root()) {
            let Ok(rewritten) = root_object(&schema) else { return Ok(()) };
            let before = CompiledSchema::compile_any(&schema).unwrap();
            let after = CompiledSchema::compile_any(&rewritten).unwrap();
            let inner = [json!(null), json!("s"), json!({}), json!({"a": null}), json!({"b": {}})];
            let objects = inner.iter().flat_map(|x| [json!({"a": x}), json!({"b": x})]);
            for arguments in objects.chain([json!({}), json!({"a": {}, "b": {}})]) {
                prop_assert_eq!(
                    before.is_valid(&arguments),
                    after.is_valid(&arguments),
                    "{} became {}, at {}", schema, rewritten, arguments
                );
            }
        }
    }

    #[test]
    fn what_loses_nothing_is_written_another_way() {
        let check = |given: Value, expected: Value| {
            assert_eq!(root_object(&given), Ok(expected), "{given}");
        };
        let object = json!({"type": "object", "properties": {}});
        check(json!({}), object.clone());
        check(json!(true), object.clone());
        check(json!({"type": ["null", "object"]}), object.clone());
        check(object.clone(), object);
        check(
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "required": ["a"]}),
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object", "properties": {}, "required": ["a"],
            }),
        );
        let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}});
        check(
            json!({"$ref": "#/$defs/Node", "title": "List", "$defs": {"Node": node}}),
            json!({
                "type": "object", "title": "List",
                "properties": {"next": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node},
            }),
        );
        check(
            json!({"anyOf": [{"properties": {"a": {"anyOf": [{}, {}]}}}]}),
            json!({"type": "object", "properties": {"a": {"anyOf": [{}, {}]}}}),
        );
    }

    #[test]
    fn what_would_lose_something_is_refused_by_name() {
        let check = |given: Value, word: &str| {
            let reason = root_object(&given).unwrap_err();
            assert!(reason.contains(word), "{given}: {reason}");
        };
        check(json!({"anyOf": [{}, {}]}), "anyOf");
        check(json!({"allOf": [{"required": ["a"]}], "required": ["b"]}), "allOf");
        check(json!({"type": "object", "if": {}, "then": {}}), "if");
        check(json!({"type": "object", "enum": [{}]}), "enum");
        check(json!({"$ref": "#/$defs/Gone"}), "$ref");
        check(json!({"$ref": "#"}), "$ref");
        check(json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}), "$ref");
        check(json!({"$ref": "#/$defs/A", "$defs": {"A": {"$defs": {"A": {}}}}}), "$ref");
        check(json!({"$ref": "#/$defs/A", "$defs": {"A": {"$id": "https://x.example/a"}}}), "$ref");
        let list = |root: Value| json!({"type": root, "properties": {"next": {"$ref": "#"}}});
        check(list(json!(["object", "null"])), "\"#\"");
        assert!(root_object(&list(json!("object"))).is_ok());
        check(json!({"anyOf": [{"items": {"$ref": "#/anyOf/0"}}]}), "#/anyOf/0");
        check(json!({"type": "array"}), "accepts no object");
        check(json!({"anyOf": [{"type": "string"}]}), "accepts no object");
        check(json!(false), "accepts nothing");
        check(json!(5), "neither");
    }
}
