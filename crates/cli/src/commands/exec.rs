//! `remit exec`: recorded calls in, one result a line out, in the order of the calls. A line is JSON,
//! or a few words where it goes to a terminal.

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

use futures_util::{StreamExt, stream::FuturesOrdered};
use indicatif::ProgressBar;
use sandbox::{AuditError, ToolSandbox};
use tokio_util::sync::CancellationToken;
use tool_core::{CallId, MalformedCall, ToolResult};

use super::{
    brief,
    lines::{self, Line, MAX_LINE},
};
use crate::{
    approver::TerminalApprover,
    args::ExecArgs,
    failure::Failure,
    interrupt,
    live::LiveOutput,
    out,
    screen::Screen,
    session,
    settings::{Layers, Settings},
};

pub(super) async fn run(args: ExecArgs, screen: &Screen) -> Result<ExitCode, Failure> {
    let settings = Layers::read(&args.settings, &args.execution)?.finish()?;
    check(&args, &settings)?;
    let cancellation = CancellationToken::new();
    let approver = TerminalApprover::new(screen.clone());
    // Lines of JSON on the same terminal are all there is to see.
    let is_all_json = args.json && out::is_terminal_out();
    let live = if is_all_json { None } else { LiveOutput::on(screen) };
    let session = session::start(&settings, approver, live, cancellation.clone())?;
    let sandbox = &session.sandbox;
    let jobs = session::jobs(&settings)?;
    let mut input = lines::read(args.calls.as_deref(), jobs)?;
    interrupt::watch(screen, cancellation.clone())?;
    let mut running = FuturesOrdered::new();
    let mut tally = Tally::new(screen, args.json);
    let mut is_more = true;
    while is_more || !running.is_empty() {
        tokio::select! {
            biased;
            Some(result) = running.next() => tally.print(result)?,
            () = cancellation.cancelled(), if is_more => is_more = false,
            line = input.recv(), if is_more && running.len() < jobs => match line {
                None => is_more = false,
                Some(Ok(line)) => running.push_back(answer(sandbox, line)),
                Some(Err(error)) => {
                    let message = format!("the calls can't be read any further: {error}");
                    return Err(Failure::Broken(message));
                }
            },
        }
    }
    session.end().await;
    if cancellation.is_cancelled() {
        return Ok(ExitCode::from(interrupt::INTERRUPTED));
    }
    let is_failure = args.fail_on_error && tally.errors > 0;
    Ok(if is_failure { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn check(args: &ExecArgs, settings: &Settings) -> Result<(), Failure> {
    if !settings.config().tools.execute {
        settings.check_idle()?;
        let message = "exec needs --execute-tools, and --allow-tool NAME for what may run: nothing \
                       is executed without them";
        return Err(Failure::Operator(message.to_owned()));
    }
    let is_typed = lines::is_stdin(args.calls.as_deref()) && io::stdin().is_terminal();
    if is_typed && !settings.config().tools.ask.is_empty() {
        let message = "answers are typed on the terminal, so give the calls in a file";
        return Err(settings.mistake("tools.ask", message));
    }
    Ok(())
}

async fn answer(sandbox: &ToolSandbox, line: Line) -> Result<ToolResult, AuditError> {
    match line {
        Line::Text(text) => sandbox.execute_text(&text).await,
        Line::TooLong(head) => {
            let message = format!("the line is longer than {MAX_LINE} bytes");
            let malformed = MalformedCall { id: CallId::default(), name: String::new(), message };
            sandbox.refuse_malformed(&malformed, &head)
        }
    }
}

/// Counts results, prints them, and shows how far the work is where the results go elsewhere.
struct Tally {
    /// Whether a person reads the results, on a terminal.
    is_brief: bool,
    answered: u64,
    errors: u64,
    progress: Option<ProgressBar>,
}

impl Tally {
    fn new(screen: &Screen, is_json: bool) -> Self {
        let is_shown = out::is_terminal_err() && !out::is_terminal_out();
        let progress = is_shown.then(|| screen.spinner("waiting for the first call".to_owned()));
        let is_brief = out::is_terminal_out() && !is_json;
        Self { is_brief, answered: 0, errors: 0, progress }
    }

    fn print(&mut self, result: Result<ToolResult, AuditError>) -> Result<(), Failure> {
        let result = result.map_err(|error| Failure::broken(&error))?;
        self.answered += 1;
        self.errors += u64::from(!result.is_ok());
        if let Some(progress) = &self.progress {
            progress.set_message(format!("{} answered, {} errors", self.answered, self.errors));
        }
        if self.is_brief {
            return out::text_out(&format!("{}\n", brief::line(&result)));
        }
        out::json_line(&result)
    }
}
