//! What an error says to the model: what was wrong, and what would be accepted.

use super::{ArgumentsProblem, ExitStatus, ToolError, UnauthorizedReason};
use crate::{ToolName, clip};

/// The text of an error, not yet bounded.
pub(super) fn of(error: &ToolError) -> String {
    match error {
        ToolError::UnknownTool { name, closest } => unknown_tool(name, closest.as_ref()),
        ToolError::Unauthorized { capability, reason } => unauthorized(capability, *reason),
        ToolError::ArgumentsTooLarge { bytes, max } => format!(
            "The arguments are {bytes}; at most {max} are accepted. Send less, or split the \
                 work into several calls."
        ),
        ToolError::InvalidArguments { tool, problem } => invalid_arguments(tool, problem),
        ToolError::TimedOut { after, source_of_limit, so_far } => format!(
            "The call did not finish within {} ms ({source_of_limit}) and was ended.{}",
            after.as_millis(),
            so_far.as_ref().map(|said| format!(" Until then: {said}")).unwrap_or_default()
        ),
        ToolError::LimitExceeded { limit, message } => {
            format!("Limit exceeded: {limit}. {message}")
        }
        ToolError::OutputTooLarge { bytes, max } => format!(
            "The output is {bytes}; at most {max} are accepted, and this tool's output may not \
                 be cut. Ask for less."
        ),
        ToolError::BackendUnavailable { tool, message } => {
            format!("{tool} is not available: {message}")
        }
        ToolError::ExecutionFailed { message, exit } => execution_failed(message, *exit),
        ToolError::Cancelled => "The call was cancelled.".to_owned(),
        ToolError::MalformedCall { message } => format!("This is not a tool call: {message}"),
    }
}

fn unknown_tool(name: &str, closest: Option<&ToolName>) -> String {
    let name = clip(name, 80);
    match closest {
        Some(closest) => {
            format!("No tool is named {name:?}. Names are exact; the nearest one is \"{closest}\".")
        }
        None => {
            format!("No tool is named {name:?}. Use one of the tools offered, by its exact name.")
        }
    }
}

fn unauthorized(capability: &str, reason: UnauthorizedReason) -> String {
    let capability = clip(capability, 160);
    match reason {
        UnauthorizedReason::NotInScope => format!(
            "{capability} is not authorized here. Only the operator can allow it; do without it."
        ),
        UnauthorizedReason::NoApprover => format!(
            "{capability} needs a person's approval, and nobody can be asked here. Do without it."
        ),
        UnauthorizedReason::Denied => format!("A person was asked and did not allow {capability}."),
    }
}

fn invalid_arguments(tool: &str, problem: &ArgumentsProblem) -> String {
    match problem {
        ArgumentsProblem::Json(problem) => format!(
            "The arguments of {tool} can't be read as JSON: {problem}. Send one JSON object."
        ),
        ArgumentsProblem::NotAnObject { found } => {
            format!("The arguments of {tool} are {found}. Send one JSON object.")
        }
        ArgumentsProblem::Schema(violations) => {
            format!("The arguments of {tool} don't fit its schema:\n{violations}")
        }
        ArgumentsProblem::Truncated => format!(
            "The reply was cut off in the middle of the call of {tool}, so nothing was run. Send \
             the call again, with shorter arguments."
        ),
    }
}

fn execution_failed(message: &str, exit: Option<ExitStatus>) -> String {
    let message = if message.trim().is_empty() { "the tool gave no reason" } else { message };
    match exit {
        None => format!("The tool failed: {message}"),
        Some(ExitStatus::Code(code)) => format!("The tool failed with exit code {code}: {message}"),
        Some(ExitStatus::Signal(signal)) => {
            format!("The tool was ended by signal {signal}: {message}")
        }
    }
}
