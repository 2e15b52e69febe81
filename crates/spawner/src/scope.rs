//! Narrowing: what an agent may call, of what its parent may.
//!
//! Who asks for more than the parent holds is refused by name. What is handed out is an intersection
//! all the same, so a mistake here or in a provider widens nothing.

use tool_core::AuthorizationScope;

/// An agent that asks for what its parent does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a sub-agent may not have {}; its parent holds {}",
    .refused.join(", "),
    if .held.is_empty() { "nothing".to_owned() } else { .held.join(", ") }
)]
pub struct ScopeError {
    /// What was asked for and is not there.
    pub refused: Vec<String>,
    /// What could be asked for.
    pub held: Vec<String>,
}

/// The scope of a sub-agent: what it asks for, of what the parent holds. Both are closed scopes. Asking
/// for nothing in particular gives all that the parent holds.
///
/// ```
/// use tool_core::AuthorizationScope;
/// let parent = AuthorizationScope::new(["lookup", "browser.extract"])?;
/// let asked = AuthorizationScope::new(["lookup"])?;
/// assert_eq!(spawner::narrow(&parent, Some(&asked)).unwrap(), asked);
/// let error = spawner::narrow(&asked, Some(&parent)).unwrap_err();
/// assert_eq!(error.refused, ["browser.extract"]);
/// # Ok::<(), tool_core::NameError>(())
/// ```
///
/// # Errors
/// It asks for more.
pub fn narrow(
    parent: &AuthorizationScope,
    asked: Option<&AuthorizationScope>,
) -> Result<AuthorizationScope, ScopeError> {
    let asked = asked.unwrap_or(parent);
    if !asked.is_within(parent) {
        let refused = asked.allowed().filter(|name| !parent.is_authorized(name));
        return Err(ScopeError {
            refused: shortest(refused.map(str::to_owned).collect()),
            held: shortest(parent.allowed().map(str::to_owned).collect()),
        });
    }
    Ok(parent.intersect(asked))
}

/// Whether a scope holds a call of a tool: the tool, or the operation that its arguments name.
pub(crate) fn holds_call(scope: &AuthorizationScope, tool: &str, operation: Option<&str>) -> bool {
    scope.is_authorized(tool)
        || operation.is_some_and(|operation| scope.is_authorized(&format!("{tool}.{operation}")))
}

/// Whether a scope holds a tool or some operation of it.
pub(crate) fn holds_some(scope: &AuthorizationScope, tool: &str) -> bool {
    let prefix = format!("{tool}.");
    scope.allowed().any(|name| name == tool || name.starts_with(&prefix))
}

/// The capabilities without the operations of tools that are named whole.
pub(crate) fn shortest(mut names: Vec<String>) -> Vec<String> {
    let whole = names.clone();
    names.retain(|name| {
        name.rsplit_once('.').is_none_or(|(tool, _)| !whole.iter().any(|other| other == tool))
    });
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope() -> impl Strategy<Value = AuthorizationScope> {
        proptest::collection::vec("[a-d](\\.[ab])?", 0..8)
            .prop_map(|names| AuthorizationScope::new(names).unwrap())
    }

    proptest! {
        #[test]
        fn depth_never_widens(root in scope(), asks in proptest::collection::vec(proptest::option::of(scope()), 1..8)) {
            let mut held = root.clone();
            for asked in &asks {
                match narrow(&held, asked.as_ref()) {
                    Ok(given) => {
                        prop_assert!(given.is_within(&held) && given.is_within(&root));
                        prop_assert!(asked.as_ref().is_none_or(|asked| *asked == given));
                        held = given;
                    }
                    Err(error) => {
                        let asked = asked.as_ref().unwrap();
                        prop_assert!(!error.refused.is_empty());
                        for name in &error.refused {
                            prop_assert!(asked.is_authorized(name) && !held.is_authorized(name));
                        }
                    }
                }
            }
        }

        #[test]
        fn the_shortest_form_names_the_same(scope in scope()) {
            let all: Vec<String> = scope.allowed().map(str::to_owned).collect();
            let short = shortest(all.clone());
            for name in &all {
                let tool = name.split('.').next().unwrap();
                prop_assert!(short.contains(name) || short.iter().any(|one| one == tool));
            }
        }
    }
}
