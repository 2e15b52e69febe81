//! The arena as html5ever's tree builder fills it.

use std::{
    borrow::Cow,
    cell::{Cell, Ref, RefCell},
};

use html5ever::{
    Attribute, LocalName, Namespace, QualName,
    interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink},
    tendril::StrTendril,
};

use super::{Data, Dom, Element, NodeId};

/// A tree that is being built.
#[derive(Debug)]
pub(super) struct Sink {
    dom: RefCell<Dom>,
    count: Cell<usize>,
}

impl Sink {
    pub(super) fn new() -> Self {
        Self { dom: RefCell::new(Dom::new()), count: Cell::new(0) }
    }

    /// How many nodes were made so far.
    pub(super) fn count(&self) -> usize {
        self.count.get()
    }

    fn add(&self, data: Data) -> NodeId {
        self.count.set(self.count.get() + 1);
        self.dom.borrow_mut().add(data)
    }

    fn place(&self, parent: NodeId, before: NodeId, child: NodeOrText<NodeId>) {
        let mut dom = self.dom.borrow_mut();
        match child {
            NodeOrText::AppendNode(id) => dom.insert(parent, before, id),
            NodeOrText::AppendText(text) => dom.insert_text(parent, before, &text),
        }
        self.count.set(dom.len());
    }
}

/// A borrowed name.
#[derive(Debug)]
pub(super) struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// The name of what is not an element; the tree builder asks for none.
const NO_NAME: &QualName =
    &QualName { prefix: None, ns: html5ever::ns!(), local: html5ever::local_name!("") };

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Dom;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Dom {
        self.dom.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name<'a> {
        Name(Ref::map(self.dom.borrow(), |dom| {
            dom.element(*target).map_or(NO_NAME, |element| &element.name)
        }))
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _flags: ElementFlags,
    ) -> NodeId {
        self.add(Data::Element(Element { name, attributes }))
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.add(Data::Ignored)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.add(Data::Ignored)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.place(*parent, NodeId::NONE, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let parent = self.dom.borrow().parent(*element);
        match parent {
            Some(parent) => self.place(parent, *element, child),
            None => self.place(*previous, NodeId::NONE, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.dom.borrow().parent(*sibling);
        if let Some(parent) = parent {
            self.place(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        let mut dom = self.dom.borrow_mut();
        let Data::Element(element) = &mut dom.node_mut(*target).data else { return };
        for attribute in attributes {
            if element.attributes.iter().all(|there| there.name != attribute.name) {
                element.attributes.push(attribute);
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.dom.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let mut dom = self.dom.borrow_mut();
        while let Some(child) = dom.first_child(*node) {
            dom.insert(*new_parent, NodeId::NONE, child);
        }
    }
}
