//! What an operator authorized: a set of capabilities, only ever narrowed.
//!
//! A capability is a tool (`browser`) or one operation of a tool (`browser.extract`). The set holds
//! exact names: no globs, no case folding. Whether `browser` covers `browser.extract` depends on
//! whether `browser` has operations, which only a registry knows, so
//! [`ToolRegistry::scope`](crate::ToolRegistry::scope) closes a scope: it adds every operation of
//! every tool that is named whole. [`AuthorizationScope::intersect`] of closed scopes is then the
//! plain intersection of two sets, and no scope derived by it can be wider than either side.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{NameError, ToolName};

/// A set of capabilities. Serialised as `{"enabled": ["name", …]}`, sorted.
///
/// ```
/// use tool_core::AuthorizationScope;
/// let mut scope = AuthorizationScope::empty();
/// scope.enable("read_file")?;
/// assert!(scope.is_authorized("read_file"));
/// assert!(!scope.is_authorized("Read_File"));
/// # Ok::<(), tool_core::NameError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorizationScope {
    enabled: BTreeSet<ToolName>,
}

impl AuthorizationScope {
    /// A scope that authorizes nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// A scope of the named capabilities.
    ///
    /// # Errors
    /// The first text that is not a name.
    pub fn new<I>(capabilities: I) -> Result<Self, NameError>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let enabled = capabilities.into_iter().map(ToolName::new).collect::<Result<_, _>>()?;
        Ok(Self { enabled })
    }

    /// Adds one capability; adding it again changes nothing. An operator's act: a gate takes its
    /// scope by value, so nothing can be enabled once calls are decided by it.
    ///
    /// # Errors
    /// A text that is not a name.
    pub fn enable(&mut self, capability: impl AsRef<str>) -> Result<(), NameError> {
        self.enabled.insert(ToolName::new(capability)?);
        Ok(())
    }

    pub(crate) fn insert(&mut self, capability: ToolName) {
        self.enabled.insert(capability);
    }

    /// Whether exactly this capability is held.
    #[must_use]
    pub fn is_authorized(&self, capability: &str) -> bool {
        self.enabled.contains(capability)
    }

    /// The capabilities held, sorted.
    pub fn allowed(&self) -> impl Iterator<Item = &str> {
        self.enabled.iter().map(ToolName::as_str)
    }

    /// Whether nothing is authorized.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.enabled.is_empty()
    }

    /// What both scopes hold: the only way to derive a scope from a scope.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self { enabled: self.enabled.intersection(&other.enabled).cloned().collect() }
    }

    /// Whether everything held here is held there.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.enabled.is_subset(&other.enabled)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope() -> impl Strategy<Value = AuthorizationScope> {
        proptest::collection::vec("[a-c](\\.[a-c])?", 0..8)
            .prop_map(|names| AuthorizationScope::new(names).unwrap())
    }

    proptest! {
        #[test]
        fn narrowing_is_an_intersection(a in scope(), b in scope(), c in scope()) {
            let ab = a.intersect(&b);
            prop_assert_eq!(&ab, &b.intersect(&a));
            prop_assert_eq!(ab.intersect(&c), a.intersect(&b.intersect(&c)));
            prop_assert_eq!(&a.intersect(&a), &a);
            prop_assert!(ab.is_within(&a) && ab.is_within(&b));
            for name in ab.allowed() {
                prop_assert!(a.is_authorized(name) && b.is_authorized(name));
            }
            let text = serde_json::to_string(&a).unwrap();
            prop_assert_eq!(serde_json::from_str::<AuthorizationScope>(&text).unwrap(), a);
        }
    }

    #[test]
    fn a_scope_from_a_file_holds_only_names() {
        let read = serde_json::from_str::<AuthorizationScope>;
        assert!(read(r#"{"enabled": ["b", "a", "a"]}"#).unwrap().allowed().eq(["a", "b"]));
        assert!(read(r#"{"enabled": ["; rm -rf /"]}"#).is_err());
        assert!(read(r#"{"enabled": [], "also": ["a"]}"#).is_err());
    }
}
