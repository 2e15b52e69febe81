//! CSS selectors over a page.
//!
//! Selectors of level 4 as far as a page that does not run can answer them: types, classes, ids,
//! attributes with their operators and the `i` flag, all combinators, `:is`, `:where`, `:not`, `:has`,
//! `:root`, `:empty`, and the child-indexed ones with `An+B`. Names of types and attributes match in any
//! case. The usual libraries for this are under the MPL, which this workspace does not take in.

mod matching;
mod parse;

use super::{
    budget::Budget,
    dom::{Dom, NodeId},
    error::ExtractError,
};

/// What stands between two compound selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

/// How an attribute's value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Exists,
    Equals,
    Word,
    Dash,
    Prefix,
    Suffix,
    Contains,
}

/// Which of its siblings an element is: every `step`th, from `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Nth {
    step: i32,
    offset: i32,
    from_end: bool,
    of_type: bool,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Simple {
    Any,
    Type(String),
    Id(String),
    Class(String),
    Attribute { name: String, operator: Operator, value: String, any_case: bool },
    Is(List),
    Not(List),
    Has(Vec<(Combinator, Complex)>),
    Nth(Nth),
    Only { of_type: bool },
    Root,
    Empty,
}

/// Conditions on one element, and what it must stand in: the nearest last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Complex {
    compound: Vec<Simple>,
    before: Option<(Combinator, Box<Complex>)>,
}

/// Alternatives.
type List = Vec<Complex>;

/// A selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selector(List);

impl Selector {
    /// Parses a selector.
    ///
    /// # Errors
    ///
    /// Where it is not one, or uses what is not known.
    pub(super) fn parse(text: &str) -> Result<Self, ExtractError> {
        parse::parse(text).map(Self)
    }

    /// The elements that match, in the order of the page; none after the budget is spent.
    pub(super) fn find(&self, dom: &Dom, budget: &Budget) -> Vec<NodeId> {
        let matcher = matching::Matcher { dom, budget };
        let elements = dom.descendants(NodeId::ROOT).filter(|&id| dom.element(id).is_some());
        elements.filter(|&id| budget.spend(1) && matcher.matches_any(&self.0, id)).collect()
    }
}
