//! A plan of independent sub-tasks as sub-chains, side by side, under the operator's three bounds:
//! number, total time, scope.
//!
//! The plan is a model's or a person's text, and decides nothing: each bound is checked when it is read
//! ([`DelegationPlan::check`]) and again when it runs, on what is really handed out. Outcomes come in
//! the order of the plan, one for each sub-task, whatever became of it.

mod plan;
mod run;

pub use self::{
    plan::{CheckedPlan, DelegationPlan, OrchestrationBounds, PlanError, SubTask},
    run::{SubOutcome, SubStatus, orchestrate},
};
