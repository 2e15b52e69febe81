//! `lookup`: a fixed table that the operator gives, asked by key.
//!
//! Argument: `key`. A text comes back as text, any other value as JSON. A key that is not in the table
//! is an error that names keys near to it. It only looks into memory, so it is a [`Tool`] itself and
//! costs no thread.

use std::{
    collections::BTreeMap,
    ops::Bound::{Excluded, Included, Unbounded},
};

use serde_json::{Value, json};
use tool_core::{
    Annotations, BoxFuture, ExecContext, NameError, Tool, ToolError, ToolOutput, ToolSpec,
    ValidatedArgs, clip,
};

/// How many keys an error or a description names.
const MAX_NAMED: usize = 5;

/// How much of a key an error repeats, in bytes.
const MAX_SHOWN: usize = 80;

/// How many keys on either side of a missing one, in sorted order, are compared with it. A bound for
/// the time that a miss takes; a table of up to that many keys is compared whole.
const MAX_COMPARED: usize = 1000;

/// How alike two keys must be to be named, from 0 to 1 (Jaro-Winkler).
const ALIKE: f64 = 0.8;

/// A table of values by key.
///
/// ```
/// let lookup = sandbox::StaticLookup::new("weather", [("berlin", "sunny")])?;
/// assert_eq!(lookup.len(), 1);
/// # Ok::<(), tool_core::NameError>(())
/// ```
#[derive(Debug)]
pub struct StaticLookup {
    spec: ToolSpec,
    entries: BTreeMap<String, Value>,
}

impl StaticLookup {
    /// A tool of this name over these entries; where a key stands twice, the last one counts.
    ///
    /// # Errors
    /// A text that is not a name.
    pub fn new<K, V>(
        name: impl AsRef<str>,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, NameError>
    where
        K: Into<String>,
        V: Into<Value>,
    {
        let entries: BTreeMap<String, Value> =
            entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let spec = ToolSpec::new(name, description(&entries), parameters())?.with_annotations(
            Annotations { is_read_only: true, is_idempotent: true, ..Annotations::default() },
        );
        Ok(Self { spec, entries })
    }

    /// Replaces the schema, for a lookup that takes more than its key. What else it takes is checked
    /// like everything, and not used.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.spec = self.spec.with_parameters(parameters);
        self
    }

    /// Replaces the description that the model sees, for a table with a purpose.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.spec = self.spec.with_description(description);
        self
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn look_up(&self, key: &str) -> Result<ToolOutput, ToolError> {
        match self.entries.get(key) {
            Some(Value::String(text)) => Ok(ToolOutput::text(text)),
            Some(value) => Ok(ToolOutput::json(value.clone())),
            None => Err(self.missing(key)),
        }
    }

    fn missing(&self, key: &str) -> ToolError {
        let near = self.near(key);
        let hint = match (near.as_slice(), self.entries.len()) {
            (_, 0) => "the table is empty".to_owned(),
            ([], count) => format!("it has {count}, for example {}", named(self.entries.keys())),
            (near, _) => format!("near ones are {}", named(near.iter().copied())),
        };
        let key = clip(key, MAX_SHOWN);
        ToolError::failed(format!("the table has no key {key:?}; keys are exact, and {hint}"))
    }

    /// The keys most like `key`, the nearest first.
    fn near(&self, key: &str) -> Vec<&String> {
        let asked = clip(key, MAX_SHOWN).to_lowercase();
        let before =
            self.entries.range::<str, _>((Unbounded, Excluded(key))).rev().take(MAX_COMPARED);
        let after = self.entries.range::<str, _>((Included(key), Unbounded)).take(MAX_COMPARED);
        let alike =
            |known: &str| strsim::jaro_winkler(&asked, &clip(known, MAX_SHOWN).to_lowercase());
        let mut near: Vec<(f64, &String)> = before
            .chain(after)
            .map(|(known, _)| (alike(known), known))
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        near.sort_by(|(a, a_key), (b, b_key)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        near.into_iter().take(MAX_NAMED).map(|(_, key)| key).collect()
    }
}

/// The first few keys, in quotes.
fn named<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    let quoted: Vec<String> =
        keys.take(MAX_NAMED).map(|key| format!("{:?}", clip(key, MAX_SHOWN))).collect();
    quoted.join(", ")
}

fn description(entries: &BTreeMap<String, Value>) -> String {
    let keys = match entries.len() {
        0 => "It is empty.".to_owned(),
        count if count <= MAX_NAMED => format!("Its keys are {}.", named(entries.keys())),
        count => format!("It has {count} keys, for example {}.", named(entries.keys())),
    };
    format!("Looks a key up in a fixed table and returns its value. Keys are exact. {keys}")
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "key": { "type": "string", "description": "The exact key." },
        },
        "required": ["key"],
        "additionalProperties": false,
    })
}

impl Tool for StaticLookup {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        _ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.look_up(args.get_str("key").unwrap_or_default()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: impl IntoIterator<Item = (String, Value)>) -> StaticLookup {
        StaticLookup::new("lookup", entries).unwrap()
    }

    #[test]
    fn texts_come_back_as_text_and_values_as_json() {
        let lookup = table([("a".to_owned(), json!("x")), ("b".to_owned(), json!({"n": 1}))]);
        assert_eq!(lookup.look_up("a"), Ok(ToolOutput::text("x")));
        assert_eq!(lookup.look_up("b"), Ok(ToolOutput::json(json!({"n": 1}))));
    }

    #[test]
    fn a_missing_key_names_what_is_near() {
        let cities = ["berlin", "Bergen", "lisbon", "oslo"];
        let lookup = table(cities.map(|city| (city.to_owned(), json!(city))));
        let check = |key: &str, expected: &str| {
            let error = lookup.look_up(key).unwrap_err().for_model();
            assert!(error.contains(expected), "{error}");
        };
        check("Berlin", "near ones are \"berlin\"");
        check("libson", "near ones are \"lisbon\"");
        check("zzz", "it has 4, for example \"Bergen\", \"berlin\"");
        let empty = table(None).look_up("x").unwrap_err().for_model();
        assert!(empty.contains("the table is empty"), "{empty}");
    }

    #[test]
    fn a_miss_is_bounded_in_text() {
        let long = "k".repeat(10_000);
        let lookup = table((0..5000).map(|n| (format!("{long}{n}"), json!(n))));
        let error = lookup.look_up(&long).unwrap_err();
        assert!(error.for_model().len() < 1024, "{}", error.for_model().len());
        assert!(lookup.spec().description().len() < 1024);
    }
}
