//! `remit agent --orchestrate`: a plan of sub-tasks, side by side, one outcome each in the plan's order.
//!
//! Every mistake of the plan and of the flags is found before a model is asked. What the sub-tasks may
//! call is what was allowed, narrowed by `--sub-agent-allow-tool`.

use std::{path::Path, process::ExitCode, sync::Arc, time::Duration};

use spawner::{CheckedPlan, DelegationPlan, OrchestrationBounds, SubOutcome, SubStatus, narrow};
use tokio_util::sync::CancellationToken;
use tool_core::{AuthorizationScope, ToolRegistry, parse_strict};

use crate::{
    agents::Host,
    approver::TerminalApprover,
    args::AgentArgs,
    failure::Failure,
    input, interrupt, out, printable,
    screen::Screen,
    session::{self, Session},
    settings::Settings,
};

pub(super) async fn run(
    args: &AgentArgs,
    settings: &Settings,
    screen: &Screen,
) -> Result<ExitCode, Failure> {
    let cancellation = CancellationToken::new();
    let work = Work::of(args, settings, screen, &cancellation)?;
    let plan = plan(args, &work)?;
    // A model that can't be had is told before anything runs.
    super::model(args, settings)?;
    if let Some(path) = &args.model.replay {
        work.host.replays(input::file("--replay", path)?);
    }
    interrupt::watch(screen, cancellation.clone())?;
    let outcomes = spawner::orchestrate(&plan, &*work.host, cancellation.clone()).await;
    if let Some(session) = &work.session {
        session.end().await;
    }
    let is_json = args.json || !out::is_terminal_out();
    outcomes.iter().try_for_each(|outcome| show(outcome, is_json))?;
    if cancellation.is_cancelled() {
        return Ok(ExitCode::from(interrupt::INTERRUPTED));
    }
    match outcomes.iter().filter(|outcome| outcome.status != SubStatus::Answered).count() {
        0 => Ok(ExitCode::SUCCESS),
        failed => {
            Err(Failure::Broken(format!("{failed} of {} sub-tasks have no answer", outcomes.len())))
        }
    }
}

/// Who makes chains, and what they may call.
struct Work {
    host: Arc<Host>,
    scope: AuthorizationScope,
    /// Where calls are executed.
    session: Option<Session>,
    /// In what names are looked up where nothing is executed.
    _registry: Option<Arc<ToolRegistry>>,
}

impl Work {
    fn of(
        args: &AgentArgs,
        settings: &Settings,
        screen: &Screen,
        cancellation: &CancellationToken,
    ) -> Result<Self, Failure> {
        let approver = TerminalApprover::new(screen.clone());
        let work = if settings.config().tools.execute {
            let session = session::start(settings, approver, None, cancellation.clone())?;
            let (host, scope) = (Arc::clone(&session.host), session.scope.clone());
            Self { host, scope, session: Some(session), _registry: None }
        } else {
            settings.check_idle()?;
            let limits = session::limits(settings)?;
            let host = Arc::new(Host::new(settings.clone(), limits, approver, None));
            let registry = Arc::new(settings.registry()?);
            host.knows(&registry);
            let scope = AuthorizationScope::empty();
            Self { host, scope, session: None, _registry: Some(registry) }
        };
        work.narrowed(&args.orchestration.sub_agent_allow_tool)
    }

    /// The same with less that may be called.
    fn narrowed(self, names: &[String]) -> Result<Self, Failure> {
        use spawner::AgentHost as _;
        if names.is_empty() {
            return Ok(self);
        }
        let mistake = |text: String| Failure::Operator(format!("--sub-agent-allow-tool: {text}"));
        if self.session.is_none() {
            return Err(mistake("nothing is allowed without --execute-tools".to_owned()));
        }
        let asked = self.host.scope(names).map_err(mistake)?;
        let scope =
            narrow(&self.scope, Some(&asked)).map_err(|error| mistake(error.to_string()))?;
        Ok(Self { scope, ..self })
    }
}

fn plan(args: &AgentArgs, work: &Work) -> Result<CheckedPlan, Failure> {
    let flags = &args.orchestration;
    let path = flags.delegation_plan.as_deref().unwrap_or(Path::new("-"));
    let mistake =
        |text: String| Failure::Operator(format!("--delegation-plan: {}: {text}", path.display()));
    let text = input::file("--delegation-plan", path)?;
    let value = parse_strict(&text).map_err(|error| mistake(error.to_string()))?;
    let plan: DelegationPlan =
        serde_json::from_value(value).map_err(|error| mistake(error.to_string()))?;
    let bounds = OrchestrationBounds {
        max_sub_agents: flags.max_sub_agents,
        budget: Duration::from_millis(flags.max_orchestration_budget_ms),
        scope: work.scope.clone(),
    };
    plan.check(bounds, &*work.host).map_err(|error| mistake(error.to_string()))
}

fn show(outcome: &SubOutcome, is_json: bool) -> Result<(), Failure> {
    if is_json {
        return out::json_line(outcome);
    }
    let status = serde_json::to_value(outcome.status).unwrap_or_default();
    let said = outcome.answer.as_deref().or(outcome.error.as_deref()).unwrap_or_default();
    let (id, said) = (printable::one_line(&outcome.id), printable::lines(said));
    out::text_out(&format!("{id}: {}\n{}\n", status.as_str().unwrap_or_default(), said.trim_end()))
}
