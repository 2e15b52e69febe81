//! From settings to a sandbox that is ready to execute.

use std::sync::Arc;

use sandbox::{AuditLog, ToolSandbox};
use tokio_util::sync::CancellationToken;
use tool_core::Limits;
use toolset::offer_to_queries;

use crate::{
    approver::TerminalApprover, failure::Failure, live::LiveOutput, models, settings::Settings,
};

/// The sandbox of one run. All mistakes of the operator are found here.
pub(crate) fn sandbox(
    settings: &Settings,
    approver: TerminalApprover,
    live: Option<LiveOutput>,
    cancellation: CancellationToken,
) -> Result<Arc<ToolSandbox>, Failure> {
    let config = settings.config();
    let limits = limits(settings)?;
    let toolset = settings.toolset(models::of_tool(settings))?;
    let queries = toolset.queries().cloned();
    let registry = Arc::new(toolset.into_registry());
    let scope = settings.scope(&registry)?;
    let ask = settings.ask(&registry, &scope)?;
    let mut sandbox = ToolSandbox::new(registry, scope, limits)
        .with_cancellation(cancellation)
        .with_approval(ask, Arc::new(approver));
    if let Some(live) = live {
        sandbox = sandbox.with_progress(Arc::new(live));
    }
    if let Some(path) = &config.audit.file {
        let audit = AuditLog::open(path).map_err(|error| {
            settings.mistake("audit.file", &Failure::operator(&error).to_string())
        })?;
        sandbox = sandbox.with_audit(audit);
    }
    let sandbox = Arc::new(sandbox);
    if let Some(queries) = &queries {
        offer_to_queries(queries, &sandbox);
    }
    Ok(sandbox)
}

/// The ceilings of a call.
pub(crate) fn limits(settings: &Settings) -> Result<Limits, Failure> {
    let limits = settings.config().limits.limits();
    limits.map_err(|error| settings.mistake(error.key(), &error.to_string()))
}

/// How many calls run side by side.
pub(crate) fn jobs(settings: &Settings) -> Result<usize, Failure> {
    let jobs = settings.config().limits.jobs();
    jobs.map_err(|error| settings.mistake(error.key(), &error.to_string()))
}
