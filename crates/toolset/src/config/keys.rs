//! Which keys there are, read from the JSON Schema of the configuration.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use tool_core::CompiledSchema;

use super::Config;

/// The JSON Schema of the configuration file, draft 2020-12.
#[must_use]
pub fn config_schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<Config>().to_value()
}

static SCHEMA: LazyLock<Value> = LazyLock::new(config_schema);

/// The schema of the whole, compiled; `None` only where it would not compile, which a test excludes.
pub(super) static COMPILED: LazyLock<Option<CompiledSchema>> =
    LazyLock::new(|| CompiledSchema::compile(&SCHEMA).ok());

/// A key that can be set, with the schema of its value.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// `section.key`.
    pub(super) path: String,
    pub(super) schema: &'static Value,
}

/// Every key with a fixed name, sorted.
pub(super) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = Vec::new();
    collect("", &SCHEMA, &mut keys);
    keys.sort_by(|a, b| a.path.cmp(&b.path));
    keys
});

fn collect(path: &str, schema: &'static Value, keys: &mut Vec<Key>) {
    match properties(schema) {
        Some(properties) => {
            for (name, schema) in properties {
                collect(&join(path, name), schema, keys);
            }
        }
        None => keys.push(Key { path: path.to_owned(), schema }),
    }
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A key in `tree` that does not exist: its path, and the nearest path that does.
pub(super) fn unknown_key(tree: &Map<String, Value>) -> Option<(String, String)> {
    unknown_in("", tree, &SCHEMA)
}

fn unknown_in(path: &str, tree: &Map<String, Value>, schema: &Value) -> Option<(String, String)> {
    let known = properties(schema)?;
    tree.iter().find_map(|(name, value)| {
        let here = join(path, name);
        match (known.get(name), value) {
            (None, _) => {
                let nearest = nearest(&here, path, known);
                Some((here, nearest))
            }
            (Some(schema), Value::Object(inner)) => unknown_in(&here, inner, schema),
            (Some(_), _) => None,
        }
    })
}

/// The sibling that is spelt most alike, or else the key of another section where it is almost the same.
fn nearest(path: &str, parent: &str, siblings: &Map<String, Value>) -> String {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let alike = |other: &str| strsim::jaro_winkler(&last(path), &last(other));
    let siblings = siblings.keys().map(|name| join(parent, name));
    let others = KEYS.iter().map(|key| key.path.clone()).filter(|other| alike(other) > 0.9);
    siblings
        .map(|sibling| (alike(&sibling), sibling))
        // A sibling wins over a key of another section that is as near.
        .chain(others.map(|other| (alike(&other) - 0.02, other)))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
        .unwrap_or_default()
}

/// The values that a key takes, where it takes only certain texts: `"openai" or "anthropic"`.
pub(super) fn choices(path: &str) -> Option<String> {
    let key = KEYS.iter().find(|key| key.path == path)?;
    let texts = |schema: &Value| -> Option<Vec<String>> {
        match (schema.get("const"), schema.get("enum")) {
            (Some(only), _) => Some(vec![only.to_string()]),
            (None, Some(Value::Array(all))) => Some(all.iter().map(Value::to_string).collect()),
            _ => None,
        }
    };
    let all: Vec<String> = match key.schema.get("oneOf") {
        Some(Value::Array(cases)) => {
            cases.iter().map(texts).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect()
        }
        _ => texts(key.schema)?,
    };
    Some(all.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_compiles_and_describes_every_key() {
        assert!(COMPILED.is_some());
        assert!(KEYS.len() > 20, "{KEYS:?}");
        for key in KEYS.iter() {
            assert!(key.schema.get("description").is_some(), "{} has no description", key.path);
        }
    }
}
