//! A delegation plan, and what of it can't be run.

use std::{collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize};
use tool_core::{AuthorizationScope, clip};

use crate::{AgentHost, ScopeError, narrow};

/// A plan of independent sub-tasks. As JSON: `{"sub_tasks": [{"id": "a", "task": "…"}]}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelegationPlan {
    /// The sub-tasks.
    pub sub_tasks: Vec<SubTask>,
    /// At most so many sub-agents; only ever less than the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sub_agents: Option<u64>,
    /// At most so much time for all together; only ever less than the operator's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
}

/// One sub-task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubTask {
    /// Its name, unique in the plan.
    pub id: String,
    /// What shall be done, with all that has to be known.
    pub task: String,
    /// What it may call; where absent, all that the parent holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_tools: Option<Vec<String>>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its time; only ever less than that of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
}

/// The operator's bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrchestrationBounds {
    /// The most sub-agents.
    pub max_sub_agents: u64,
    /// The time of all together, from the start of the first to the end of the last.
    pub budget: Duration,
    /// What the parent holds.
    pub scope: AuthorizationScope,
}

impl OrchestrationBounds {
    /// At most 4 sub-agents and 30 s, within a scope.
    #[must_use]
    pub fn new(scope: AuthorizationScope) -> Self {
        Self { max_sub_agents: 4, budget: Duration::from_secs(30), scope }
    }
}

/// A plan that can't be run. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No sub-task.
    #[error("the plan has no sub-tasks; it needs at least one")]
    Empty,
    /// Too many.
    #[error("the plan has {given} sub-tasks, and at most {most} may run")]
    TooMany {
        /// How many there are.
        given: usize,
        /// How many there may be.
        most: u64,
    },
    /// An id that is missing.
    #[error("sub-task {index} has an empty id")]
    EmptyId {
        /// Which, from 0.
        index: usize,
    },
    /// An id that stands twice.
    #[error("the id {id:?} stands twice")]
    DuplicateId {
        /// Which.
        id: String,
    },
    /// A task that is missing.
    #[error("sub-task {id:?} has an empty task")]
    EmptyTask {
        /// Which.
        id: String,
    },
    /// A time of nothing.
    #[error("the budget of {what} is 0 ms, and must be at least 1")]
    ZeroBudget {
        /// Whose.
        what: String,
    },
    /// It asks for more than its parent holds.
    #[error("sub-task {id:?}: {source}")]
    Scope {
        /// Which.
        id: String,
        /// What it may not have.
        source: ScopeError,
    },
    /// It names what no tool has.
    #[error("sub-task {id:?}: {message}")]
    Capability {
        /// Which.
        id: String,
        /// What is wrong.
        message: String,
    },
}

/// A plan that was checked against bounds, with what each sub-task gets. Made by
/// [`DelegationPlan::check`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPlan {
    pub(super) tasks: Vec<CheckedTask>,
    pub(super) bounds: OrchestrationBounds,
}

/// One sub-task with what it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedTask {
    pub(super) id: String,
    pub(super) task: String,
    pub(super) model: Option<String>,
    pub(super) scope: AuthorizationScope,
    pub(super) budget: Duration,
}

impl DelegationPlan {
    /// Checks a plan against the operator's bounds; its own only narrow them.
    ///
    /// # Errors
    /// The first thing that can't be run.
    pub fn check(
        &self,
        mut bounds: OrchestrationBounds,
        host: &dyn AgentHost,
    ) -> Result<CheckedPlan, PlanError> {
        bounds.max_sub_agents = bounds.max_sub_agents.min(self.max_sub_agents.unwrap_or(u64::MAX));
        bounds.budget = clamped("the plan", self.budget_ms, bounds.budget)?;
        let given = self.sub_tasks.len();
        if given == 0 {
            return Err(PlanError::Empty);
        }
        if u64::try_from(given).unwrap_or(u64::MAX) > bounds.max_sub_agents {
            return Err(PlanError::TooMany { given, most: bounds.max_sub_agents });
        }
        let mut ids = BTreeSet::new();
        let all = self.sub_tasks.iter().enumerate();
        let tasks = all.map(|(index, task)| {
            if task.id.trim().is_empty() {
                return Err(PlanError::EmptyId { index });
            }
            if !ids.insert(&task.id) {
                return Err(PlanError::DuplicateId { id: shown(&task.id) });
            }
            task.check(&bounds, host)
        });
        let tasks = tasks.collect::<Result<_, _>>()?;
        Ok(CheckedPlan { tasks, bounds })
    }
}

impl SubTask {
    fn check(
        &self,
        bounds: &OrchestrationBounds,
        host: &dyn AgentHost,
    ) -> Result<CheckedTask, PlanError> {
        let id = || shown(&self.id);
        if self.task.trim().is_empty() {
            return Err(PlanError::EmptyTask { id: id() });
        }
        let asked = self.allow_tools.as_ref().map(|names| host.scope(names)).transpose();
        let asked = asked.map_err(|message| PlanError::Capability { id: id(), message })?;
        let scope = narrow(&bounds.scope, asked.as_ref());
        Ok(CheckedTask {
            scope: scope.map_err(|source| PlanError::Scope { id: id(), source })?,
            budget: clamped(&format!("sub-task {:?}", id()), self.budget_ms, bounds.budget)?,
            id: self.id.clone(),
            task: self.task.clone(),
            model: self.model.clone(),
        })
    }
}

fn clamped(what: &str, asked_ms: Option<u64>, most: Duration) -> Result<Duration, PlanError> {
    match asked_ms {
        Some(0) => Err(PlanError::ZeroBudget { what: what.to_owned() }),
        Some(ms) => Ok(most.min(Duration::from_millis(ms))),
        None => Ok(most),
    }
}

fn shown(id: &str) -> String {
    clip(id, 64).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoHost;

    fn bounds() -> OrchestrationBounds {
        OrchestrationBounds::new(AuthorizationScope::new(["lookup", "read"]).unwrap())
    }

    fn check(json: &str) -> Result<CheckedPlan, String> {
        let plan: DelegationPlan = serde_json::from_str(json).map_err(|error| error.to_string())?;
        plan.check(bounds(), &NoHost).map_err(|error| error.to_string())
    }

    #[test]
    fn a_plan_that_can_not_run_is_refused_with_its_reason() {
        let cases = [
            (r#"{"sub_tasks": []}"#, "no sub-tasks"),
            (r#"{"sub_tasks": [{"id": " ", "task": "x"}]}"#, "empty id"),
            (r#"{"sub_tasks": [{"id": "a", "task": "x"}, {"id": "a", "task": "y"}]}"#, "twice"),
            (r#"{"sub_tasks": [{"id": "a", "task": ""}]}"#, "empty task"),
            (r#"{"sub_tasks": [{"id": "a", "task": "x", "budget_ms": 0}]}"#, "0 ms"),
            (
                r#"{"sub_tasks": [{"id": "a", "task": "x", "allow_tools": ["write"]}]}"#,
                "may not have write; its parent holds lookup, read",
            ),
            (r#"{"sub_tasks": [{"id": "a", "task": "x", "allow": ["read"]}]}"#, "unknown field"),
            (
                r#"{"max_sub_agents": 1, "sub_tasks": [{"id": "a", "task": "x"}, {"id": "b", "task": "x"}]}"#,
                "at most 1",
            ),
        ];
        for (json, part) in cases {
            let error = check(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
        let five: Vec<_> = (0..5).map(|n| format!(r#"{{"id": "{n}", "task": "x"}}"#)).collect();
        let error = check(&format!(r#"{{"sub_tasks": [{}]}}"#, five.join(","))).unwrap_err();
        assert!(error.contains("5 sub-tasks") && error.contains("at most 4"), "{error}");
    }

    #[test]
    fn a_plan_at_the_bounds_is_fine_and_its_own_limits_only_narrow() {
        let four: Vec<_> = (0..4).map(|n| format!(r#"{{"id": "{n}", "task": "x"}}"#)).collect();
        let max = u64::MAX;
        let json = format!(
            r#"{{"max_sub_agents": {max}, "budget_ms": {max}, "sub_tasks": [{}]}}"#,
            four.join(",")
        );
        let plan = check(&json).unwrap();
        assert_eq!((plan.bounds.max_sub_agents, plan.bounds.budget), (4, Duration::from_secs(30)));
        let narrow = check(
            r#"{"budget_ms": 5, "sub_tasks": [{"id": "a", "task": "x", "allow_tools": ["read"], "budget_ms": 9}]}"#,
        );
        let narrow = narrow.unwrap();
        assert_eq!(narrow.tasks[0].budget, Duration::from_millis(5));
        assert!(narrow.tasks[0].scope.allowed().eq(["read"]));
    }
}
