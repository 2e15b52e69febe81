//! Tool names under a provider's rule, and back.
//!
//! OpenAI and Anthropic allow `^[a-zA-Z0-9_-]{1,64}$`; ours may hold dots, and what a model makes up
//! may hold anything. A name that fits travels as it is. Another one has each character that does not
//! fit replaced by `_`, is cut to 64, and gets the first free of `_2`, `_3`, … where that name is
//! taken. Names that fit are placed first and the others in alphabetical order, so the map depends on
//! the set of names alone, never on their order.
//!
//! Going back, a name that is not in the map stays as it is: it is the model's own, and refusing it
//! is the pipeline's work.

use std::collections::{BTreeMap, BTreeSet};

/// The longest name on the wire, in bytes.
const MAX_NAME: usize = 64;

/// A reversible map between names and wire names, made for one request.
///
/// ```
/// let names = model::ToolNames::new(["web.read", "web_read"]);
/// assert_eq!(names.wire("web_read"), "web_read");
/// assert_eq!(names.wire("web.read"), "web_read_2");
/// assert_eq!(names.original("web_read_2"), "web.read");
/// assert_eq!(names.original("made_up"), "made_up");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    to_wire: BTreeMap<String, String>,
    from_wire: BTreeMap<String, String>,
}

impl ToolNames {
    /// The map of these names.
    #[must_use]
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let (fitting, others): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|n| fits(n));
        let mut map = Self::default();
        for name in fitting.into_iter().chain(others) {
            let wire = map.free_name_for(name);
            map.from_wire.insert(wire.clone(), name.to_owned());
            map.to_wire.insert(name.to_owned(), wire);
        }
        map
    }

    /// The name that `name` travels under; `name` itself where it is not in the map.
    #[must_use]
    pub fn wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.to_wire.get(name).map_or(name, String::as_str)
    }

    /// The name that travels as `wire`; `wire` itself where it is not in the map.
    #[must_use]
    pub fn original<'a>(&'a self, wire: &'a str) -> &'a str {
        self.from_wire.get(wire).map_or(wire, String::as_str)
    }

    /// A wire name for a name of the past, which may be of no tool: one that the rule allows, and
    /// that leads back to no other tool.
    pub(crate) fn wire_of_past(&self, name: &str) -> String {
        match self.to_wire.get(name) {
            Some(wire) => wire.clone(),
            None => self.free_name_for(name),
        }
    }

    fn free_name_for(&self, name: &str) -> String {
        let plain = plain(name);
        if !self.from_wire.contains_key(&plain) {
            return plain;
        }
        let numbered = |number: usize| {
            let suffix = format!("_{number}");
            format!("{}{suffix}", tool_core::clip(&plain, MAX_NAME - suffix.len()))
        };
        // Of n + 1 different candidates at least one is not among the n names taken.
        (2..=self.from_wire.len() + 2)
            .map(numbered)
            .find(|candidate| !self.from_wire.contains_key(candidate))
            .unwrap_or(plain)
    }
}

fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed)
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// `name` with what does not fit replaced; not yet unique.
fn plain(name: &str) -> String {
    match name {
        "" => "_".to_owned(),
        name => name.chars().take(MAX_NAME).map(|c| if is_allowed(c) { c } else { '_' }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Names that collide easily: few letters, dots and underscores, some at the length limit.
    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a._-]{1,4}",
            "[a-c]\\.[a-c]",
            Just("a_2".to_owned()),
            "\\PC{0,70}",
            "[a.]{2}".prop_map(|tail| format!("{}{tail}", "x".repeat(62))),
        ]
    }

    proptest! {
        #[test]
        fn the_map_is_a_bijection_onto_allowed_names(names in vec(name(), 0..30)) {
            let map = ToolNames::new(names.iter().map(String::as_str));
            let distinct: BTreeSet<&String> = names.iter().collect();
            let wires: BTreeSet<&str> = distinct.iter().map(|name| map.wire(name)).collect();
            prop_assert_eq!(wires.len(), distinct.len(), "two names share a wire name");
            for name in distinct {
                let wire = map.wire(name);
                prop_assert!(fits(wire), "{wire:?}");
                prop_assert_eq!(map.original(wire), name);
                if fits(name) {
                    prop_assert_eq!(wire, name);
                }
            }
        }

        #[test]
        fn the_map_does_not_depend_on_order(names in vec(name(), 0..20)) {
            let forth = ToolNames::new(names.iter().map(String::as_str));
            let back = ToolNames::new(names.iter().rev().map(String::as_str));
            prop_assert_eq!(forth, back);
        }

        #[test]
        fn a_past_name_never_leads_to_another_tool(names in vec(name(), 0..20), past in name()) {
            let map = ToolNames::new(names.iter().map(String::as_str));
            let wire = map.wire_of_past(&past);
            prop_assert!(fits(&wire));
            let leads_to = map.original(&wire);
            prop_assert!(leads_to == past || leads_to == wire, "{past:?} became {leads_to:?}");
        }

        #[test]
        fn a_name_that_is_not_in_the_map_is_kept(names in vec(name(), 0..20), other in "\\PC{0,20}") {
            let map = ToolNames::new(names.iter().map(String::as_str));
            let is_taken = names.iter().any(|name| map.wire(name) == other);
            prop_assume!(!is_taken);
            prop_assert_eq!(map.original(&other), other.as_str());
        }
    }
}
