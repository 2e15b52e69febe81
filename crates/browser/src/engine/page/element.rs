//! From a name to an element: a reference that a snapshot gave, or a CSS selector.
//!
//! A reference is bound to one node of one document. It stays the same over snapshots and stays valid
//! until the node or the document is gone; it is never given to another node.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::state::Target;
use super::{EngineError, Evaluated, Page};

/// The most references that are kept; the oldest documents' go first.
const KEPT: usize = 20_000;

/// How an element is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locator {
    /// By a reference of a snapshot, such as `e12`.
    Reference(String),
    /// By a CSS selector: the first element in the order of the page.
    Selector(String),
}

/// An element that was found.
#[derive(Debug, Clone)]
pub(super) struct Element {
    /// As it was named.
    pub(super) name: String,
    /// Its node.
    pub(super) node: u64,
    /// The object that stands for it in the page.
    pub(super) object: String,
}

/// A node of one document.
type Place = (String, u64);

/// Which reference means which node.
#[derive(Debug, Default)]
pub(super) struct References {
    last: u64,
    by_number: HashMap<u64, Place>,
    by_place: HashMap<Place, u64>,
}

impl References {
    /// The reference of a node of the document that is shown.
    pub(super) fn of(&mut self, document: &str, node: u64) -> String {
        let place = (document.to_owned(), node);
        if let Some(number) = self.by_place.get(&place) {
            return format!("e{number}");
        }
        if self.by_number.len() >= KEPT {
            self.by_number.retain(|_, kept| kept.0 == document);
            self.by_place.retain(|kept, _| kept.0 == document);
        }
        self.last += 1;
        self.by_number.insert(self.last, place.clone());
        self.by_place.insert(place, self.last);
        format!("e{}", self.last)
    }

    /// The node of a reference, and the document that it is in.
    fn find(&self, reference: &str) -> Option<&Place> {
        let number = reference.strip_prefix('e')?.parse().ok()?;
        self.by_number.get(&number)
    }
}

#[derive(Deserialize)]
struct Resolved {
    object: Object,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    object_id: Option<String>,
}

#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    backend_node_id: u64,
}

impl Page {
    /// The element of a name.
    pub(super) async fn find(
        &self,
        target: &Target,
        locator: &Locator,
        deadline: Instant,
    ) -> Result<Element, EngineError> {
        match locator {
            Locator::Reference(name) => self.find_reference(target, name, deadline).await,
            Locator::Selector(selector) => self.find_selector(target, selector, deadline).await,
        }
    }

    async fn find_reference(
        &self,
        target: &Target,
        name: &str,
        deadline: Instant,
    ) -> Result<Element, EngineError> {
        let document = self.state.borrow().loader.clone().unwrap_or_default();
        let node = match self.references.find(name) {
            None => return Err(problem(name, "no snapshot has given this reference")),
            Some((of, _)) if *of != document => {
                return Err(problem(
                    name,
                    "it is of a document that is no longer shown; take a snapshot",
                ));
            }
            Some((_, node)) => *node,
        };
        self.resolve(target, name, node, deadline).await
    }

    /// The object of a node.
    pub(super) async fn resolve(
        &self,
        target: &Target,
        name: &str,
        node: u64,
        deadline: Instant,
    ) -> Result<Element, EngineError> {
        let asked = json!({"backendNodeId": node, "objectGroup": "remit"});
        let gone = || problem(name, "it is no longer in the page; take a snapshot");
        match self.call::<Resolved>(target, "DOM.resolveNode", asked, deadline).await {
            Ok(resolved) => {
                let object = resolved.object.object_id.ok_or_else(gone)?;
                Ok(Element { name: name.to_owned(), node, object })
            }
            Err(EngineError::Browser(_)) => Err(gone()),
            Err(other) => Err(other),
        }
    }

    async fn find_selector(
        &self,
        target: &Target,
        selector: &str,
        deadline: Instant,
    ) -> Result<Element, EngineError> {
        let name = format!("{selector:?}");
        let quoted = Value::from(selector).to_string();
        let asked = json!({
            "expression": format!("document.querySelector({quoted})"),
            "objectGroup": "remit",
        });
        let Evaluated { result, exception_details } =
            self.call(target, "Runtime.evaluate", asked, deadline).await?;
        if exception_details.is_some() {
            return Err(EngineError::Argument {
                name: "selector",
                problem: format!("{name} is no CSS selector"),
            });
        }
        let object = result.object_id.ok_or_else(|| problem(&name, "it matches no element"))?;
        let asked = json!({"objectId": object});
        let Described { node } = self.call(target, "DOM.describeNode", asked, deadline).await?;
        Ok(Element { name, node: node.backend_node_id, object })
    }

    /// Calls a function with an element as `this`.
    pub(super) async fn call_on<T: serde::de::DeserializeOwned>(
        &self,
        target: &Target,
        element: &Element,
        function: &str,
        arguments: Vec<Value>,
        deadline: Instant,
    ) -> Result<T, EngineError> {
        let asked = json!({
            "objectId": element.object,
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
        });
        let Evaluated { result, exception_details } =
            self.call(target, "Runtime.callFunctionOn", asked, deadline).await?;
        if let Some(exception) = exception_details {
            return Err(problem(&element.name, exception.in_words()));
        }
        serde_json::from_value(result.value.unwrap_or_default())
            .map_err(|error| EngineError::Browser(error.to_string()))
    }

    /// Lets go of all objects that stand for elements.
    pub(super) fn release(&self, target: &Target) {
        let group = json!({"objectGroup": "remit"});
        self.cdp.tell(Some(&target.session), "Runtime.releaseObjectGroup", group);
    }
}

/// An element that can't be used.
pub(super) fn problem(element: &str, problem: impl Into<String>) -> EngineError {
    EngineError::Element { element: element.to_owned(), problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_means_one_node_for_good() {
        let mut references = References::default();
        let first = references.of("a", 7);
        assert_eq!(references.of("a", 7), first);
        let other = references.of("b", 7);
        assert_ne!(other, first);
        assert_eq!(references.find(&first), Some(&("a".to_owned(), 7)));
        for bad in ["", "e", "7", "e0", "e-1", "e99", "E1"] {
            assert_eq!(references.find(bad), None, "{bad}");
        }
    }

    #[test]
    fn references_of_earlier_documents_go_first() {
        let mut references = References::default();
        let old = references.of("old", 1);
        let kept: Vec<String> =
            (0..u64::try_from(KEPT).unwrap()).map(|node| references.of("new", node)).collect();
        assert_eq!(references.find(&old), None);
        assert!(kept.iter().all(|one| references.find(one).is_some()));
    }
}
