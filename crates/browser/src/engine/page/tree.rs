//! The accessibility tree of a document as lines of text.
//!
//! One line for each element that a person would hear of: its role, its name in quotation marks, its
//! state, and a reference where it can be used. What a page wrote is always within quotation marks, with
//! their like, line breaks and control characters escaped, so that no page can write a line or a reference
//! of its own.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// The longest name or value that is shown, in bytes.
const TEXT_BYTES: usize = 200;

/// The deepest indentation.
const DEPTH: usize = 20;

/// Roles that can be used, and get a reference.
const USABLE: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];

/// Roles that say nothing by themselves.
const SILENT: &[&str] = &[
    "InlineTextBox",
    "LineBreak",
    "ListMarker",
    "LayoutTable",
    "LayoutTableCell",
    "LayoutTableRow",
    "Section",
    "generic",
    "none",
    "presentation",
];

/// A node, as the protocol tells it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AxNode {
    pub(super) node_id: String,
    #[serde(default)]
    pub(super) ignored: bool,
    role: Option<AxValue>,
    name: Option<AxValue>,
    value: Option<AxValue>,
    #[serde(default)]
    properties: Vec<AxProperty>,
    #[serde(default)]
    child_ids: Vec<String>,
    parent_id: Option<String>,
    #[serde(rename = "backendDOMNodeId")]
    pub(super) backend: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct AxValue {
    value: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct AxProperty {
    name: String,
    value: AxValue,
}

impl AxNode {
    fn text(of: Option<&AxValue>) -> String {
        match of.and_then(|of| of.value.as_ref()) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    fn role(&self) -> String {
        Self::text(self.role.as_ref())
    }

    fn is_focusable(&self) -> bool {
        let focusable = self.properties.iter().find(|one| one.name == "focusable");
        focusable.is_some_and(|one| one.value.value == Some(Value::Bool(true)))
    }

    /// Its state, in words.
    fn state(&self) -> Vec<String> {
        let mut words = Vec::new();
        for AxProperty { name, value } in &self.properties {
            match (name.as_str(), value.value.as_ref()) {
                ("checked" | "pressed", Some(Value::String(is))) if is != "false" => {
                    words.push(if is == "true" { name.clone() } else { format!("{name}={is}") });
                }
                ("expanded", Some(Value::Bool(is))) => {
                    words.push(if *is { "expanded" } else { "collapsed" }.to_owned());
                }
                (
                    "disabled" | "selected" | "required" | "readonly" | "focused" | "modal",
                    Some(is),
                ) if *is == Value::Bool(true) || *is == "true" => {
                    words.push(name.clone());
                }
                ("level", Some(Value::Number(level))) => words.push(format!("level={level}")),
                _ => {}
            }
        }
        words
    }
}

/// What a page wrote, within quotation marks.
fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let clipped = tool_core::clip(&text, TEXT_BYTES);
    let more = if clipped.len() < text.len() { "…" } else { "" };
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let shown: String = clipped.chars().filter(|&c| !is_hidden(c)).collect();
    format!("{}{more}", Value::String(shown))
}

/// The lines of one document.
pub(super) struct Lines<'a> {
    nodes: HashMap<&'a str, &'a AxNode>,
    /// The lines of the documents within, by the node that holds each.
    inner: &'a HashMap<u64, String>,
    max_bytes: usize,
    text: String,
    /// How many elements were left out.
    pub(super) left_out: usize,
}

impl<'a> Lines<'a> {
    /// Writes a document, up to `max_bytes`. `reference` gives the reference of a node.
    pub(super) fn write(
        nodes: &'a [AxNode],
        inner: &'a HashMap<u64, String>,
        max_bytes: usize,
        reference: &mut dyn FnMut(u64) -> String,
    ) -> (String, usize) {
        let by_id = nodes.iter().map(|node| (node.node_id.as_str(), node)).collect();
        let mut lines = Self { nodes: by_id, inner, max_bytes, text: String::new(), left_out: 0 };
        let roots = nodes.iter().filter(|node| node.parent_id.is_none());
        // A stack of its own: a page can be nested deeper than a thread's stack is.
        let mut open: Vec<(&AxNode, usize, bool)> = roots.map(|node| (node, 0, false)).collect();
        open.reverse();
        let mut left = nodes.len();
        while let Some((node, depth, is_named)) = open.pop() {
            // A tree that is none ends too.
            let Some(rest) = left.checked_sub(1) else { break };
            left = rest;
            let (depth, is_named) = lines.node(node, depth, is_named, reference);
            let children = node.child_ids.iter().rev();
            let children = children.filter_map(|id| lines.nodes.get(id.as_str()).copied());
            open.extend(children.map(|child| (child, depth, is_named)));
        }
        (lines.text, lines.left_out)
    }

    /// Writes a node; the depth of its children, and whether its name says what its text does.
    fn node(
        &mut self,
        node: &AxNode,
        depth: usize,
        is_named: bool,
        reference: &mut dyn FnMut(u64) -> String,
    ) -> (usize, bool) {
        let role = node.role();
        let name = AxNode::text(node.name.as_ref());
        let is_text = role == "StaticText";
        let is_usable =
            USABLE.contains(&role.as_str()) || (node.is_focusable() && role != "RootWebArea");
        let is_silent = node.ignored || (SILENT.contains(&role.as_str()) && !is_usable);
        if is_silent || (is_text && (is_named || name.trim().is_empty())) {
            return (depth, is_named);
        }
        let mut line = format!("{}- {}", "  ".repeat(depth.min(DEPTH)), shown_role(&role));
        if !name.trim().is_empty() {
            line.push(' ');
            line.push_str(&quoted(&name));
        }
        if let Some(backend) = node.backend.filter(|_| is_usable) {
            line.push_str(&format!(" [ref={}]", reference(backend)));
        }
        let value = AxNode::text(node.value.as_ref());
        if !value.is_empty() && value != name {
            line.push_str(&format!(" value={}", quoted(&value)));
        }
        for word in node.state() {
            line.push(' ');
            line.push_str(&word);
        }
        self.add(&line);
        if let Some(inner) = node.backend.and_then(|backend| self.inner.get(&backend)) {
            for line in inner.lines() {
                self.add(&format!("{}{line}", "  ".repeat((depth + 1).min(DEPTH))));
            }
        }
        let names_its_text = !name.trim().is_empty() && role != "RootWebArea" && !is_group(&role);
        (depth + 1, names_its_text)
    }

    fn add(&mut self, line: &str) {
        if self.left_out > 0 || self.text.len() + line.len() + 1 > self.max_bytes {
            self.left_out += 1;
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Whether a role's name is a label beside its text.
fn is_group(role: &str) -> bool {
    matches!(
        role,
        "article"
            | "banner"
            | "complementary"
            | "contentinfo"
            | "dialog"
            | "figure"
            | "form"
            | "group"
            | "list"
            | "main"
            | "navigation"
            | "region"
            | "search"
            | "table"
            | "Iframe"
    )
}

/// A role as it is shown. It is one of Chromium's words, or an attribute of the page's.
fn shown_role(role: &str) -> String {
    match role {
        "StaticText" => "text".to_owned(),
        "RootWebArea" => "document".to_owned(),
        _ if !role.is_empty()
            && role.len() < 40
            && role.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            role.to_owned()
        }
        _ => "element".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nodes(told: Value) -> Vec<AxNode> {
        serde_json::from_value(told).unwrap()
    }

    fn written(nodes: &[AxNode], max_bytes: usize) -> (String, usize) {
        Lines::write(nodes, &HashMap::new(), max_bytes, &mut |node| format!("e{node}"))
    }

    fn small() -> Vec<AxNode> {
        nodes(json!([
            {"nodeId": "1", "role": {"value": "RootWebArea"}, "name": {"value": "Title"}, "childIds": ["2"]},
            {"nodeId": "2", "ignored": true, "parentId": "1", "childIds": ["3", "5", "6"]},
            {"nodeId": "3", "role": {"value": "button"}, "name": {"value": "Go \"now\"\n- link [ref=e9]"},
             "backendDOMNodeId": 7, "parentId": "2", "childIds": ["4"],
             "properties": [{"name": "disabled", "value": {"value": true}}]},
            {"nodeId": "4", "role": {"value": "StaticText"}, "name": {"value": "Go"}, "parentId": "3"},
            {"nodeId": "5", "role": {"value": "StaticText"}, "name": {"value": "Some text\u{202e}"},
             "parentId": "2"},
            {"nodeId": "6", "role": {"value": "textbox"}, "name": {"value": "Name"}, "value": {"value": "Zoë"},
             "backendDOMNodeId": 8, "parentId": "2"},
        ]))
    }

    #[test]
    fn a_page_can_write_no_line_of_its_own() {
        let (text, left_out) = written(&small(), 10_000);
        let expected = "- document \"Title\"\n  - button \"Go \\\"now\\\" - link [ref=e9]\" [ref=e7] disabled\n  \
                        - text \"Some text\"\n  - textbox \"Name\" [ref=e8] value=\"Zoë\"\n";
        assert_eq!((text.as_str(), left_out), (expected, 0));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let (text, left_out) = written(&small(), 40);
        assert_eq!((text.as_str(), left_out), ("- document \"Title\"\n", 3));
    }

    #[test]
    fn a_tree_that_is_none_ends() {
        let circle = nodes(json!([
            {"nodeId": "1", "role": {"value": "main"}, "childIds": ["2", "2"]},
            {"nodeId": "2", "role": {"value": "main"}, "parentId": "1", "childIds": ["1"]},
        ]));
        assert_eq!(written(&circle, 10_000).0.lines().count(), 2);
        let deep: Vec<Value> = (0..5000)
            .map(|at| {
                let parent = (at > 0).then(|| (at - 1).to_string());
                json!({"nodeId": at.to_string(), "role": {"value": "group"}, "parentId": parent,
                       "childIds": [(at + 1).to_string()]})
            })
            .collect();
        assert_eq!(written(&nodes(deep.into()), usize::MAX).0.lines().count(), 5000);
    }
}
