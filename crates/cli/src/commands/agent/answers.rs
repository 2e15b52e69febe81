//! Who answers the model's calls: the sandbox, a recording, a person or program, or nobody.

use std::{
    io::{self, BufReader},
    path::Path,
    sync::Arc,
};

use chain::{LineProvider, ReplayProvider};
use sandbox::SandboxedToolProvider;
use tokio_util::sync::CancellationToken;
use tool_core::{
    BoxFuture, ProviderError, ToolCall, ToolError, ToolResult, ToolResultProvider, ToolSpec,
    UnauthorizedReason,
};

use crate::{
    approver::TerminalApprover,
    args::AgentArgs,
    failure::Failure,
    input,
    live::LiveOutput,
    out,
    screen::Screen,
    session::{self, Session},
    settings::Settings,
};

/// How many calls of one turn run side by side where nothing else is set.
const SIDE_BY_SIDE: usize = 8;

/// Who answers, and what the model is offered.
pub(super) struct Answers {
    pub(super) provider: Arc<dyn ToolResultProvider>,
    pub(super) offered: Vec<ToolSpec>,
    /// Nothing answers: the calls of one reply are shown.
    pub(super) is_shown_only: bool,
    /// What executes, where something does.
    pub(super) session: Option<Session>,
}

impl Answers {
    pub(super) fn of(
        args: &AgentArgs,
        settings: &Settings,
        screen: &Screen,
        cancellation: &CancellationToken,
    ) -> Result<Self, Failure> {
        if settings.config().tools.execute && args.results.is_none() {
            return executed(settings, live(args, screen), screen, cancellation);
        }
        settings.check_idle()?;
        let registry = settings.registry()?;
        Ok(Self {
            offered: registry.list().map(|tool| tool.spec().clone()).collect(),
            is_shown_only: args.results.is_none(),
            session: None,
            provider: match args.results.as_deref() {
                None => Arc::new(Shown),
                Some(path) if path == Path::new("-") => asked(args)?,
                Some(path) => recorded(path)?,
            },
        })
    }
}

/// Where events are lines on the same terminal, they are all there is to see.
fn live(args: &AgentArgs, screen: &Screen) -> Option<LiveOutput> {
    if args.json && out::is_terminal_out() { None } else { LiveOutput::on(screen) }
}

fn executed(
    settings: &Settings,
    live: Option<LiveOutput>,
    screen: &Screen,
    cancellation: &CancellationToken,
) -> Result<Answers, Failure> {
    let approver = TerminalApprover::new(screen.clone());
    let session = session::start(settings, approver, live, cancellation.clone())?;
    let sandbox = Arc::clone(&session.sandbox);
    let offered = sandbox.offered();
    let jobs = match session::jobs(settings)? {
        jobs if settings.is_set("limits.jobs") => jobs,
        _ => SIDE_BY_SIDE,
    };
    let provider = Arc::new(SandboxedToolProvider::new(sandbox, jobs));
    Ok(Answers { provider, offered, is_shown_only: false, session: Some(session) })
}

fn asked(args: &AgentArgs) -> Result<Arc<dyn ToolResultProvider>, Failure> {
    if super::is_task_on_stdin(args) {
        let message = "--results - reads standard input, so give the task as an argument";
        return Err(Failure::Operator(message.to_owned()));
    }
    let line = LineProvider::new(BufReader::new(io::stdin()), io::stdout());
    Ok(Arc::new(line.map_err(|e| Failure::Broken(format!("--results -: {e}")))?))
}

fn recorded(path: &Path) -> Result<Arc<dyn ToolResultProvider>, Failure> {
    let replay = ReplayProvider::from_jsonl(&input::file("--results", path)?)
        .map_err(|e| Failure::Operator(format!("--results: {}: {e}", path.display())))?;
    Ok(Arc::new(replay))
}

/// Answers nothing: calls are shown, not executed.
#[derive(Debug)]
struct Shown;

impl ToolResultProvider for Shown {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        let (capability, reason) = (call.name.clone(), UnauthorizedReason::NotInScope);
        let error = ToolError::Unauthorized { capability, reason };
        Box::pin(async move { Ok(ToolResult::error(call.id, call.name, &error)) })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }
}
