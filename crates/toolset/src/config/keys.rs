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

/// The sibling that is spelt most alike, or else the key of any section that is.
fn nearest(path: &str, parent: &str, siblings: &Map<String, Value>) -> String {
    let siblings = siblings.keys().map(|name| join(parent, name));
    let all = KEYS.iter().map(|key| key.path.clone());
    siblings
        .chain(all)
        .map(|candidate| (similarity(path, &candidate), candidate))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
        .unwrap_or_default()
}

fn similarity(a: &str, b: &str) -> f64 {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    strsim::jaro_winkler(a, b).max(strsim::jaro_winkler(&last(a), &last(b)) - 0.02)
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
