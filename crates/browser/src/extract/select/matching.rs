//! Whether an element fulfils the conditions of a selector.

use super::{Combinator, Complex, Nth, Operator, Simple};
use crate::extract::{
    budget::Budget,
    dom::{Dom, Element, NodeId},
};

/// Asks about the elements of one page.
pub(super) struct Matcher<'a> {
    pub(super) dom: &'a Dom,
    pub(super) budget: &'a Budget,
}

impl Matcher<'_> {
    /// Whether an element matches one of some selectors.
    pub(super) fn matches_any(&self, list: &[Complex], id: NodeId) -> bool {
        list.iter().any(|complex| self.matches(complex, id))
    }

    /// The parts of a selector are looked at from the last, and each `before` is one call deeper: no
    /// deeper than a selector is long.
    fn matches(&self, complex: &Complex, id: NodeId) -> bool {
        if !self.budget.spend(1) || !complex.compound.iter().all(|simple| self.is(simple, id)) {
            return false;
        }
        let Some((combinator, before)) = &complex.before else { return true };
        match combinator {
            Combinator::Child => self.parent(id).is_some_and(|parent| self.matches(before, parent)),
            Combinator::Descendant => {
                std::iter::successors(self.parent(id), |&above| self.parent(above))
                    .any(|above| self.matches(before, above))
            }
            Combinator::Next => {
                self.previous(id).is_some_and(|sibling| self.matches(before, sibling))
            }
            Combinator::Later => {
                std::iter::successors(self.previous(id), |&sibling| self.previous(sibling))
                    .any(|sibling| self.matches(before, sibling))
            }
        }
    }

    fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.dom.parent(id).filter(|&parent| self.dom.element(parent).is_some())
    }

    fn previous(&self, id: NodeId) -> Option<NodeId> {
        self.element_from(self.dom.previous_sibling(id), |id| self.dom.previous_sibling(id))
    }

    fn next(&self, id: NodeId) -> Option<NodeId> {
        self.element_from(self.dom.next_sibling(id), |id| self.dom.next_sibling(id))
    }

    fn element_from(
        &self,
        first: Option<NodeId>,
        step: impl Fn(NodeId) -> Option<NodeId>,
    ) -> Option<NodeId> {
        std::iter::successors(first, |&id| step(id)).find(|&id| self.dom.element(id).is_some())
    }

    fn is(&self, simple: &Simple, id: NodeId) -> bool {
        let Some(element) = self.dom.element(id) else { return false };
        match simple {
            Simple::Any => true,
            Simple::Type(name) => {
                let there: &str = element.name();
                there.eq_ignore_ascii_case(name)
            }
            Simple::Id(wanted) => element.attribute("id") == Some(wanted.as_str()),
            Simple::Class(wanted) => element
                .attribute("class")
                .is_some_and(|class| class.split_ascii_whitespace().any(|class| class == wanted)),
            Simple::Attribute { name, operator, value, any_case } => {
                has_attribute(element, name, *operator, value, *any_case)
            }
            Simple::Is(list) => self.matches_any(list, id),
            Simple::Not(list) => !self.matches_any(list, id),
            Simple::Has(list) => {
                list.iter().any(|(combinator, complex)| self.has(id, *combinator, complex))
            }
            Simple::Nth(nth) => self.is_nth(id, element, *nth),
            Simple::Only { of_type } => {
                let one = |from_end| Nth { step: 0, offset: 1, from_end, of_type: *of_type };
                self.is_nth(id, element, one(false)) && self.is_nth(id, element, one(true))
            }
            Simple::Root => self.parent(id).is_none(),
            Simple::Empty => self.dom.children(id).all(|child| {
                self.dom.element(child).is_none() && self.dom.text(child).is_none_or(str::is_empty)
            }),
        }
    }

    fn has(&self, id: NodeId, combinator: Combinator, complex: &Complex) -> bool {
        let is = |at: NodeId| {
            self.budget.spend(1) && self.dom.element(at).is_some() && self.matches(complex, at)
        };
        match combinator {
            Combinator::Descendant => self.dom.descendants(id).any(is),
            Combinator::Child => self.dom.children(id).any(is),
            Combinator::Next => self.next(id).is_some_and(is),
            Combinator::Later => std::iter::successors(self.next(id), |&at| self.next(at)).any(is),
        }
    }

    fn is_nth(&self, id: NodeId, element: &Element, nth: Nth) -> bool {
        let step = |at| if nth.from_end { self.next(at) } else { self.previous(at) };
        let counts = |at: &NodeId| {
            self.budget.spend(1);
            !nth.of_type || self.dom.name(*at) == &**element.name()
        };
        let before = std::iter::successors(step(id), |&at| step(at)).filter(counts).count();
        let place = i64::try_from(before).unwrap_or(i64::MAX - 1) + 1;
        let distance = place - i64::from(nth.offset);
        match i64::from(nth.step) {
            0 => distance == 0,
            step => distance % step == 0 && distance / step >= 0,
        }
    }
}

fn has_attribute(
    element: &Element,
    name: &str,
    operator: Operator,
    wanted: &str,
    any_case: bool,
) -> bool {
    let Some(value) = element.attribute(name) else { return false };
    let (value, wanted) = match any_case {
        true => (value.to_ascii_lowercase(), wanted.to_ascii_lowercase()),
        false => (value.to_owned(), wanted.to_owned()),
    };
    let rest =
        |rest: Option<&str>| rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    match operator {
        Operator::Exists => true,
        Operator::Equals => value == wanted,
        Operator::Word => value.split_ascii_whitespace().any(|word| word == wanted),
        Operator::Dash => rest(value.strip_prefix(&wanted)),
        Operator::Prefix => !wanted.is_empty() && value.starts_with(&wanted),
        Operator::Suffix => !wanted.is_empty() && value.ends_with(&wanted),
        Operator::Contains => !wanted.is_empty() && value.contains(&wanted),
    }
}
