//! From settings to a sandbox that is ready to execute, and the sub-agents behind it.

use std::sync::Arc;

use sandbox::{AuditLog, ToolSandbox};
use spawner::SubagentTool;
use tokio_util::sync::CancellationToken;
use tool_core::{AuthorizationScope, Limits, ProgressSink};
use toolset::offer_to_queries;

use crate::{
    agents::Host, approver::TerminalApprover, failure::Failure, live::LiveOutput, models,
    settings::Settings,
};

/// What executes calls in one run.
pub(crate) struct Session {
    pub(crate) sandbox: Arc<ToolSandbox>,
    /// What may be called.
    pub(crate) scope: AuthorizationScope,
    /// Makes chains within the scope.
    pub(crate) host: Arc<Host>,
    agents: Option<Arc<SubagentTool>>,
}

impl Session {
    /// Ends the sub-agents that still live, with their grace.
    pub(crate) async fn end(&self) {
        if let Some(agents) = &self.agents {
            agents.pool().drain().await;
        }
    }
}

/// The session of one run. All mistakes of the operator are found here.
pub(crate) fn start(
    settings: &Settings,
    approver: TerminalApprover,
    live: Option<LiveOutput>,
    cancellation: CancellationToken,
) -> Result<Session, Failure> {
    let live = live.map(|live| Arc::new(live) as Arc<_>);
    start_with(settings, approver, audit(settings)?, live, cancellation)
}

/// The same with a trail that is open, for programs that have several sessions with one trail.
pub(crate) fn start_with(
    settings: &Settings,
    approver: TerminalApprover,
    audit: Option<AuditLog>,
    progress: Option<Arc<dyn ProgressSink>>,
    cancellation: CancellationToken,
) -> Result<Session, Failure> {
    let limits = limits(settings)?;
    let host = Arc::new(Host::new(settings.clone(), limits, approver.clone(), audit.clone()));
    let models = models::of_tool(settings);
    let toolset = settings.toolset(Arc::clone(&host) as Arc<_>, models)?;
    let (agents, queries) = (toolset.agents(), toolset.queries().cloned());
    let registry = Arc::new(toolset.into_registry());
    host.knows(&registry);
    let scope = settings.scope(&registry)?;
    let ask = settings.ask(&registry, &scope)?;
    let mut sandbox = ToolSandbox::new(registry, scope.clone(), limits)
        .with_cancellation(cancellation)
        .with_approval(ask, Arc::new(approver));
    if let Some(progress) = progress {
        sandbox = sandbox.with_progress(progress);
    }
    if let Some(audit) = audit {
        sandbox = sandbox.with_audit(audit);
    }
    let sandbox = Arc::new(sandbox);
    if let Some(queries) = &queries {
        offer_to_queries(queries, &sandbox);
    }
    Ok(Session { sandbox, scope, host, agents })
}

/// The trail, where the operator wants one.
pub(crate) fn audit(settings: &Settings) -> Result<Option<AuditLog>, Failure> {
    let Some(path) = &settings.config().audit.file else { return Ok(None) };
    let audit = AuditLog::open(path);
    audit
        .map(Some)
        .map_err(|error| settings.mistake("audit.file", &Failure::operator(&error).to_string()))
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
