//! The tree of a page, in one arena.
//!
//! Nodes are numbers into one vector and know their neighbours, so every walk is a loop: nothing here
//! recurses, whatever the shape of the page. Comments and processing instructions are not kept. The
//! content of a `template` that declares a shadow root hangs below the element itself.

mod parse;
mod sink;

use html5ever::{Attribute, LocalName, QualName, ns, tendril::StrTendril};

pub(super) use parse::{Parsed, parse};

/// A node, by its place in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The document.
    pub(super) const ROOT: Self = Self(0);
    const NONE: Self = Self(u32::MAX);

    /// The place in the arena.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    fn some(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// An element's own part.
#[derive(Debug)]
pub(super) struct Element {
    name: QualName,
    attributes: Vec<Attribute>,
}

impl Element {
    /// The name without its namespace; lower case in HTML.
    pub(super) fn name(&self) -> &LocalName {
        &self.name.local
    }

    /// Whether it is an element of HTML, and not of SVG or MathML.
    pub(super) fn is_html(&self) -> bool {
        self.name.ns == ns!(html)
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|attribute| &*attribute.name.local == name);
        found.map(|attribute| &*attribute.value)
    }

    /// Every attribute, by name and value.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|attribute| (&*attribute.name.local, &*attribute.value))
    }
}

#[derive(Debug)]
enum Data {
    Document,
    Element(Element),
    Text(StrTendril),
    Ignored,
}

#[derive(Debug)]
struct Node {
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
    data: Data,
}

/// One step of a walk through a subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A node, before what is in it.
    Enter(NodeId),
    /// The same node, after what is in it.
    Leave(NodeId),
}

/// The tree of a page.
#[derive(Debug)]
pub(super) struct Dom {
    nodes: Vec<Node>,
}

impl Dom {
    fn new() -> Self {
        let mut dom = Self { nodes: Vec::new() };
        dom.add(Data::Document);
        dom
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Every node, also those that are in no tree.
    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// The node around this one.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent.some()
    }

    /// The first node in this one.
    pub(super) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first.some()
    }

    /// The node after this one.
    pub(super) fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next.some()
    }

    /// The node before this one.
    pub(super) fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous.some()
    }

    /// The element that a node is.
    pub(super) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.node(id).data {
            Data::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The name of the element that a node is; empty for another node.
    pub(super) fn name(&self, id: NodeId) -> &str {
        self.element(id).map_or("", |element| &element.name.local)
    }

    /// The text that a node is.
    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The nodes directly in this one.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.first_child(id), |&child| self.next_sibling(child))
    }

    /// The nodes around this one, nearest first.
    pub(super) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(id), |&above| self.parent(above))
    }

    /// A walk through a node and all that is in it.
    pub(super) fn walk(&self, top: NodeId) -> Walk<'_> {
        Walk { dom: self, top, next: Some(Step::Enter(top)) }
    }

    /// Every node below this one, in the order of the page.
    pub(super) fn descendants(&self, top: NodeId) -> impl Iterator<Item = NodeId> {
        let entered = self.walk(top).filter_map(|step| match step {
            Step::Enter(id) => Some(id),
            Step::Leave(_) => None,
        });
        entered.skip(1)
    }

    /// All text below a node, as it stands.
    pub(super) fn all_text(&self, top: NodeId) -> String {
        self.descendants(top).filter_map(|id| self.text(id)).collect()
    }

    fn add(&mut self, data: Data) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX - 1));
        let none = NodeId::NONE;
        self.nodes.push(Node {
            parent: none,
            previous: none,
            next: none,
            first: none,
            last: none,
            data,
        });
        id
    }

    fn detach(&mut self, id: NodeId) {
        let Node { parent, previous, next, .. } = *self.node(id);
        if parent == NodeId::NONE {
            return;
        }
        match previous.some() {
            Some(previous) => self.node_mut(previous).next = next,
            None => self.node_mut(parent).first = next,
        }
        match next.some() {
            Some(next) => self.node_mut(next).previous = previous,
            None => self.node_mut(parent).last = previous,
        }
        let node = self.node_mut(id);
        (node.parent, node.previous, node.next) = (NodeId::NONE, NodeId::NONE, NodeId::NONE);
    }

    /// Puts a node into a parent, before a sibling, or last where there is none.
    fn insert(&mut self, parent: NodeId, before: NodeId, id: NodeId) {
        self.detach(id);
        let previous = match before.some() {
            Some(before) => self.node(before).previous,
            None => self.node(parent).last,
        };
        let node = self.node_mut(id);
        (node.parent, node.previous, node.next) = (parent, previous, before);
        match previous.some() {
            Some(previous) => self.node_mut(previous).next = id,
            None => self.node_mut(parent).first = id,
        }
        match before.some() {
            Some(before) => self.node_mut(before).previous = id,
            None => self.node_mut(parent).last = id,
        }
    }

    /// Puts text into a parent, joined with the text that it would follow.
    fn insert_text(&mut self, parent: NodeId, before: NodeId, text: &StrTendril) {
        let previous = match before.some() {
            Some(before) => self.node(before).previous,
            None => self.node(parent).last,
        };
        if let Some(previous) = previous.some()
            && let Data::Text(there) = &mut self.node_mut(previous).data
        {
            there.push_slice(text);
            return;
        }
        let id = self.add(Data::Text(text.clone()));
        self.insert(parent, before, id);
    }
}

/// The steps of a walk.
#[derive(Debug, Clone)]
pub(super) struct Walk<'a> {
    dom: &'a Dom,
    top: NodeId,
    next: Option<Step>,
}

impl Walk<'_> {
    /// Leaves out what is in the node that was entered last, and its leaving.
    pub(super) fn prune(&mut self, id: NodeId) {
        self.next = self.after(id);
    }

    fn after(&self, id: NodeId) -> Option<Step> {
        if id == self.top {
            return None;
        }
        match self.dom.next_sibling(id) {
            Some(next) => Some(Step::Enter(next)),
            None => self.dom.parent(id).map(Step::Leave),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.next?;
        self.next = match step {
            Step::Enter(id) => match self.dom.first_child(id) {
                Some(child) => Some(Step::Enter(child)),
                None => Some(Step::Leave(id)),
            },
            Step::Leave(id) => self.after(id),
        };
        Some(step)
    }
}
