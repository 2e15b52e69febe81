//! Tools as a provider takes them: names it allows, schemas it accepts.
//!
//! [`prepare_tools`] gives the tools that can travel, and names every one that can't with its reason.
//! A tool is changed only where the change loses nothing: its name goes under a reversible one
//! ([`ToolNames`]), its schema is written in another form that accepts the same objects.

mod names;
mod schema;

use std::collections::BTreeSet;

use serde_json::Value;
use tool_core::ToolSpec;

pub use names::ToolNames;
pub(crate) use schema::root_object;

/// A provider's wire format, with the rules it has for tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI chat completions.
    OpenAi,
    /// Anthropic messages.
    Anthropic,
}

/// A tool that travels.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedTool {
    /// The name it travels under; [`Prepared::names`] leads back.
    pub wire_name: String,
    /// What the model reads about it.
    pub description: String,
    /// Its schema, perhaps in another form.
    pub schema: Value,
}

/// A tool that does not travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why this provider can't be offered it.
    pub reason: String,
}

/// The tools of one request, ready for the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Those on offer, in the order given.
    pub tools: Vec<PreparedTool>,
    /// Those that could not be offered without changing what they accept.
    pub left_out: Vec<LeftOut>,
    /// The way from names to wire names, and back.
    pub names: ToolNames,
}

/// Prepares tools for a provider. The same tools always give the same result.
///
/// ```
/// use model::{Dialect, prepare_tools};
/// use tool_core::ToolSpec;
/// let specs = [
///     ToolSpec::new("web.read", "Reads a page.", serde_json::json!({"properties": {}}))?,
///     ToolSpec::new("pick", "Picks.", serde_json::json!({"anyOf": [{}, {"type": "object"}]}))?,
/// ];
/// let prepared = prepare_tools(Dialect::OpenAi, &specs);
/// assert_eq!(prepared.tools[0].wire_name, "web_read");
/// assert_eq!(prepared.names.original("web_read"), "web.read");
/// assert_eq!(prepared.left_out[0].name, "pick");
/// # Ok::<(), tool_core::NameError>(())
/// ```
#[must_use]
pub fn prepare_tools(dialect: Dialect, specs: &[ToolSpec]) -> Prepared {
    let names = ToolNames::new(specs.iter().map(|spec| spec.name().as_str()));
    let mut prepared = Prepared { tools: Vec::new(), left_out: Vec::new(), names };
    let mut seen = BTreeSet::new();
    for spec in specs {
        let schema = match seen.insert(spec.name()) {
            true => root_object(spec.parameters()).and_then(|schema| fits(dialect, schema)),
            false => Err("a tool of the same name is on offer already".to_owned()),
        };
        match schema {
            Ok(schema) => prepared.tools.push(PreparedTool {
                wire_name: prepared.names.wire(spec.name().as_str()).to_owned(),
                description: spec.description().to_owned(),
                schema,
            }),
            Err(reason) => {
                prepared.left_out.push(LeftOut { name: spec.name().to_string(), reason })
            }
        }
    }
    prepared
}

/// Rules that one provider has beyond those that all have.
fn fits(dialect: Dialect, schema: Value) -> Result<Value, String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let bad_key = match dialect {
        Dialect::OpenAi => None,
        // The API refuses a request whose property names don't match ^[a-zA-Z0-9_.-]{1,64}$.
        Dialect::Anthropic => properties.and_then(|properties| {
            let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
            let is_bad = |key: &&String| key.is_empty() || key.len() > 64 || !key.bytes().all(fits);
            properties.keys().find(is_bad)
        }),
    };
    match bad_key {
        None => Ok(schema),
        Some(key) => Err(format!(
            "the argument name {key:?} is not 1 to 64 of A-Z a-z 0-9 _ . -, which this provider asks for"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_can_not_travel_is_named() {
        let spec = |name: &str, schema| ToolSpec::new(name, "", schema).unwrap();
        let specs = [
            spec("good", json!({"type": "object", "properties": {"ä b": {}}})),
            spec("good", json!({"type": "object"})),
            spec("bad", json!({"type": "string"})),
        ];
        let names = |dialect| -> Vec<String> {
            prepare_tools(dialect, &specs).left_out.into_iter().map(|left| left.name).collect()
        };
        assert_eq!(names(Dialect::OpenAi), ["good", "bad"]);
        assert_eq!(names(Dialect::Anthropic), ["good", "good", "bad"]);
        assert_eq!(prepare_tools(Dialect::OpenAi, &specs).tools.len(), 1);
    }
}
