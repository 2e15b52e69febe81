//! What a model reads of something that was not done in a live page.

use tool_core::ExecContext;

use super::super::failure::Failure;
use crate::engine::EngineError;

/// An error of the engine. `named` is the URL or the page that the call named.
pub(super) fn failed(error: EngineError, named: &str, ctx: &ExecContext) -> Failure {
    match &error {
        EngineError::Missing(_) | EngineError::Launch(_) | EngineError::Start { .. } => {
            Failure::Unavailable(error.to_string())
        }
        EngineError::Refused(refusal) => {
            Failure::argument("url", format!("a URL that may be read ({refusal})"), named)
        }
        EngineError::NoSuchPage { .. } => Failure::argument(
            "page",
            "a live page; this one was never there, was closed, or was not used for too long, so open its \
             URL again",
            named,
        ),
        EngineError::Argument { name, problem } => Failure::argument(name, problem.clone(), ""),
        EngineError::TooManyPages { .. } => {
            Failure::Limit { limit: "pages", message: error.to_string() }
        }
        EngineError::TimedOut { .. } => late(&error.to_string(), ctx),
        _ => Failure::Failed(error.to_string()),
    }
}

/// The time of the call is over.
pub(super) fn late(what: &str, ctx: &ExecContext) -> Failure {
    Failure::TimedOut { timeout: ctx.timeout(), message: what.to_owned() }
}
