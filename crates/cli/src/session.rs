//! From settings to a sandbox that is ready to execute, and the sub-agents behind it.

use std::sync::Arc;

use sandbox::{Approver, AuditLog, ToolSandbox};
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
    let around = Around { audit: audit(settings)?, progress: live, client: None };
    start_with(settings, approver, around, cancellation)
}

/// What else a session uses.
#[derive(Default)]
pub(crate) struct Around {
    /// The trail that is written, which several sessions may share.
    pub(crate) audit: Option<AuditLog>,
    /// Who watches the calls.
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    /// Who is asked where nobody is at the terminal.
    pub(crate) client: Option<Arc<dyn Approver>>,
}

/// The same for programs that have several sessions.
pub(crate) fn start_with(
    settings: &Settings,
    approver: TerminalApprover,
    around: Around,
    cancellation: CancellationToken,
) -> Result<Session, Failure> {
    let Around { audit, progress, client } = around;
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
        .with_approval(ask, approver.or(client));
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
