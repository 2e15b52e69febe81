//! From settings to a sandbox that is ready to execute.

use std::sync::Arc;

use sandbox::{AuditLog, ToolSandbox};
use tokio_util::sync::CancellationToken;
use tool_core::Limits;

use crate::{approver::TerminalApprover, failure::Failure, live::LiveOutput, settings::Settings};

/// The sandbox of one run. All mistakes of the operator are found here.
pub(crate) fn sandbox(
    settings: &Settings,
    approver: TerminalApprover,
    live: Option<LiveOutput>,
    cancellation: CancellationToken,
) -> Result<Arc<ToolSandbox>, Failure> {
    let mut sandbox = without_audit(settings, approver, cancellation)?;
    if let Some(live) = live {
        sandbox = sandbox.with_progress(Arc::new(live));
    }
    if let Some(audit) = audit(settings)? {
        sandbox = sandbox.with_audit(audit);
    }
    Ok(Arc::new(sandbox))
}

/// The same without its trail, for programs that have several sandboxes with one trail.
pub(crate) fn without_audit(
    settings: &Settings,
    approver: TerminalApprover,
    cancellation: CancellationToken,
) -> Result<ToolSandbox, Failure> {
    let limits = limits(settings)?;
    let registry = Arc::new(settings.registry()?);
    let scope = settings.scope(&registry)?;
    let ask = settings.ask(&registry, &scope)?;
    Ok(ToolSandbox::new(registry, scope, limits)
        .with_cancellation(cancellation)
        .with_approval(ask, Arc::new(approver)))
}

/// The trail, where the operator wants one.
pub(crate) fn audit(settings: &Settings) -> Result<Option<AuditLog>, Failure> {
    let Some(path) = &settings.config().audit.file else { return Ok(None) };
    let audit = AuditLog::open(path)
        .map_err(|error| settings.mistake("audit.file", &Failure::operator(&error).to_string()))?;
    Ok(Some(audit))
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
