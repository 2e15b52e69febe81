//! What is listed: one MCP tool for each authorized tool, or for each authorized operation of one.
//!
//! Names are `tool` and `tool_operation`; dots become underscores, because many hosts take no others.
//! Two capabilities with one name are a mistake of the operator, and nothing is served then.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use rmcp::model::{JsonObject, ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use tool_core::{Annotations, OperationName, OperationSpec, ToolSpec};

/// How many tools a page of the list has. Hosts that read one page only are many, so it is large.
const PAGE: usize = 500;

/// What a listed name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) tool: String,
    pub(crate) operation: Option<String>,
}

/// The list, and what its names stand for.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    tools: Vec<Tool>,
    targets: HashMap<String, Target>,
}

/// Two capabilities that would have one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "two of the tools would both be named {0:?} for a client; allow or name one of them otherwise"
)]
pub(crate) struct SameName(String);

/// A cursor that this server did not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownCursor;

impl Catalogue {
    /// The list of what a sandbox offers. The names of the tools that exist beside are known too, so
    /// that the sandbox itself refuses them.
    pub(crate) fn new<'a>(
        offered: &[ToolSpec],
        existing: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<Self, SameName> {
        let mut catalogue = Self::default();
        for spec in offered {
            for (name, target) in targets(spec) {
                let tool = listed(spec, &name, &target);
                match catalogue.targets.entry(name) {
                    Entry::Occupied(taken) => return Err(SameName(taken.key().clone())),
                    Entry::Vacant(free) => free.insert(target),
                };
                catalogue.tools.push(tool);
            }
        }
        for (name, target) in existing.into_iter().flat_map(targets) {
            catalogue.targets.entry(name).or_insert(target);
        }
        Ok(catalogue)
    }

    /// What a name stands for, listed or not.
    pub(crate) fn target(&self, name: &str) -> Option<&Target> {
        self.targets.get(name)
    }

    /// The names, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_ref())
    }

    /// A page of the list.
    pub(crate) fn page(&self, cursor: Option<&str>) -> Result<ListToolsResult, UnknownCursor> {
        let start = match cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| UnknownCursor)?,
        };
        if start > 0 && (start >= self.tools.len() || start % PAGE != 0) {
            return Err(UnknownCursor);
        }
        let end = self.tools.len().min(start + PAGE);
        let mut page = ListToolsResult::with_all_items(self.tools[start..end].to_vec());
        page.next_cursor = (end < self.tools.len()).then(|| end.to_string());
        Ok(page)
    }
}

fn plain(name: &str) -> String {
    name.replace('.', "_")
}

/// The names of a tool or of its operations, with what they stand for.
fn targets(spec: &ToolSpec) -> Vec<(String, Target)> {
    let tool = spec.name().to_string();
    if spec.operations().is_empty() {
        return vec![(plain(&tool), Target { tool, operation: None })];
    }
    let one = |operation: &OperationName| {
        let target = Target { tool: tool.clone(), operation: Some(operation.to_string()) };
        (plain(&format!("{tool}_{operation}")), target)
    };
    spec.operations().iter().map(one).collect()
}

fn listed(spec: &ToolSpec, name: &str, target: &Target) -> Tool {
    let group = spec.title().map_or_else(|| in_words(spec.name().as_str()), str::to_owned);
    let operation = target.operation.as_deref();
    let known = operation.and_then(|name| spec.operations().iter().find(|op| op.as_str() == name));
    let about = known.and_then(|operation| spec.operation_spec(operation));
    let title = match operation {
        None => group,
        Some(operation) => format!("{group}: {}", operation.replace('_', " ")),
    };
    let description = about.map_or(spec.description(), |about| &about.description).to_owned();
    let annotations = about.map_or(spec.annotations(), |about| about.annotations);
    let schema = match operation {
        None => spec.parameters().clone(),
        Some(_) => parameters(spec.parameters(), about),
    };
    let tool = Tool::new(name.to_owned(), description, object(schema))
        .with_annotations(hints(&title, annotations))
        .with_title(title);
    let output = match operation {
        None => spec.output_schema(),
        Some(_) => about.and_then(|about| about.output.as_ref()),
    };
    match output {
        Some(output) => tool.with_raw_output_schema(object(output.clone())),
        None => tool,
    }
}

/// The parameters of one operation: those of the tool that it takes, without `op`.
fn parameters(whole: &Value, about: Option<&OperationSpec>) -> Value {
    let mut schema = whole.clone();
    let takes = |name: &str| match about {
        None => true,
        Some(about) => about.needed.iter().chain(&about.taken).any(|taken| taken == name),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| name != "op" && takes(name));
    }
    let required: Vec<_> = whole["required"].as_array().into_iter().flatten().cloned().collect();
    let mut required: Vec<_> = required
        .into_iter()
        .filter(|name| name.as_str().is_some_and(|name| name != "op" && takes(name)))
        .collect();
    for name in about.into_iter().flat_map(|about| &about.needed) {
        if !required.iter().any(|known| known == name) {
            required.push(name.clone().into());
        }
    }
    schema["required"] = required.into();
    // Not as `oneOf`, which not every model API takes: the tool itself asks for exactly one.
    if let Some(about) = about.filter(|about| !about.one_of.is_empty()) {
        schema["description"] = json!(format!("Exactly one of {}.", about.one_of.join(", ")));
    }
    schema
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::new(Map::new()),
    }
}

fn hints(title: &str, hints: Annotations) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(hints.is_read_only)
        .destructive(hints.is_destructive)
        .idempotent(hints.is_idempotent)
        .open_world(hints.is_open_world)
}

/// `read_file` as "Read file".
fn in_words(name: &str) -> String {
    let words = name.replace(['_', '-', '.'], " ");
    let mut letters = words.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, operations: &[&str]) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {"op": {"type": "string"}, "code": {"type": "string"}, "path": {}},
            "required": ["op"],
        });
        let operations = operations.iter().map(|name| OperationName::new(name).unwrap());
        ToolSpec::new(name, "Does.", schema).unwrap().with_operations(operations)
    }

    fn about(name: &str, needed: &[&str]) -> OperationSpec {
        OperationSpec {
            name: OperationName::new(name).unwrap(),
            description: "Runs.".to_owned(),
            needed: needed.iter().map(|&name| name.to_owned()).collect(),
            taken: Vec::new(),
            one_of: Vec::new(),
            annotations: Annotations::default(),
            output: None,
        }
    }

    #[test]
    fn an_operation_is_a_tool_with_its_own_schema() {
        let spec = spec("box", &["run", "look"]).with_operation_specs([about("run", &["code"])]);
        let catalogue = Catalogue::new(&[spec], []).unwrap();
        assert!(catalogue.names().eq(["box_run", "box_look"]));
        let schema = Value::Object((*catalogue.tools[0].input_schema).clone());
        assert_eq!(schema["required"], json!(["code"]));
        assert_eq!(schema["properties"], json!({"code": {"type": "string"}}));
        let schema = Value::Object((*catalogue.tools[1].input_schema).clone());
        assert_eq!(schema["required"], json!([]));
        assert!(schema["properties"]["op"].is_null() && schema["properties"]["path"].is_object());
        let target = catalogue.target("box_run").unwrap();
        assert_eq!((target.tool.as_str(), target.operation.as_deref()), ("box", Some("run")));
        assert!(catalogue.target("box").is_none());
    }

    #[test]
    fn a_name_stands_for_one_thing() {
        let same = Catalogue::new(&[spec("a", &["b"]), spec("a_b", &[])], []).unwrap_err();
        assert!(same.to_string().contains("a_b"));
    }

    #[test]
    fn pages_hold_every_tool_once() {
        let specs: Vec<_> = (0..1000).map(|n| spec(&format!("t{n}"), &[])).collect();
        let catalogue = Catalogue::new(&specs, []).unwrap();
        let (mut names, mut cursor) = (Vec::new(), None);
        loop {
            let page = catalogue.page(cursor.as_deref()).unwrap();
            names.extend(page.tools.iter().map(|tool| tool.name.to_string()));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert!(names.iter().map(String::as_str).eq(catalogue.names()));
        for cursor in ["", "x", "-1", "1", "1000", "99999999999999999999"] {
            assert_eq!(catalogue.page(Some(cursor)), Err(UnknownCursor), "{cursor}");
        }
    }
}
