//! `remit agent`: a model in a chain.

use std::{
    io::{self, BufReader, IsTerminal, Read},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use chain::{
    ChainEvent, ChainMetrics, ChainOutcome, LineProvider, ReplayProvider, StopReason, ToolChain,
};
use indicatif::MultiProgress;
use model::{Message, Model, Sampling, ScriptedModel};
use sandbox::SandboxedToolProvider;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tool_core::{
    BoxFuture, ProviderError, ToolCall, ToolError, ToolResult, ToolResultProvider, ToolSpec,
    UnauthorizedReason,
};

use super::timeline::Timeline;
use crate::{
    approver::TerminalApprover,
    args::AgentArgs,
    env,
    failure::Failure,
    interrupt, out, session,
    settings::{Layers, Settings},
};

/// The most bytes of a task, a script or a recording.
const MAX_INPUT: u64 = 64 * 1024 * 1024;

pub(super) async fn run(args: AgentArgs) -> Result<ExitCode, Failure> {
    let settings = settings(&args)?;
    let screen = MultiProgress::new();
    let cancellation = interrupt::watch();
    let answers = answers(&args, &settings, &screen, &cancellation)?;
    let model = model(&args, &settings)?;
    let messages = messages(&args)?;
    let is_shown_only = answers.is_shown_only;
    let chain = ToolChain::new(model, answers.provider)
        .with_tools(answers.offered)
        .with_sampling(sampling(&settings))
        .with_limits(limits(&settings, is_shown_only)?)
        .with_context(settings.config().chain.context_policy().map_err(|e| Failure::operator(&e))?);
    let timeline = Timeline::new(screen);
    let observer = Observer { timeline, is_json: args.json, cancellation: cancellation.clone() };
    let outcome = chain.run(messages, &observer, cancellation).await;
    let outcome = outcome.map_err(|error| Failure::operator(&error))?;
    report(&outcome, &args, is_shown_only)
}

fn settings(args: &AgentArgs) -> Result<Settings, Failure> {
    let mut layers = Layers::read(&args.settings, &args.execution)?;
    let (model, chain) = (&args.model, &args.chain);
    let provider = model.provider.map(|provider| match provider {
        crate::args::Provider::Openai => "openai",
        crate::args::Provider::Anthropic => "anthropic",
    });
    layers.set("model.provider", provider, "--provider");
    layers.set("model.name", model.model.clone(), "--model");
    layers.set("model.url", model.model_url.clone(), "--model-url");
    layers.set("model.temperature", model.temperature, "--temperature");
    layers.set("model.seed", model.seed, "--seed");
    layers.set("model.max_tokens", model.max_tokens, "--max-tokens");
    layers.set("chain.max_turns", chain.max_steps, "--max-steps");
    layers.set("chain.token_budget", chain.token_budget, "--token-budget");
    layers.set("chain.wall_clock_ms", chain.wall_clock_ms, "--wall-clock-ms");
    layers.finish()
}

/// Who answers the model's calls, and what it is offered.
struct Answers {
    provider: Arc<dyn ToolResultProvider>,
    offered: Vec<ToolSpec>,
    /// Nothing answers: the calls of one reply are shown.
    is_shown_only: bool,
}

fn answers(
    args: &AgentArgs,
    settings: &Settings,
    screen: &MultiProgress,
    cancellation: &CancellationToken,
) -> Result<Answers, Failure> {
    if let (true, None) = (settings.config().tools.execute, &args.results) {
        let approver = TerminalApprover::new(screen.clone());
        let sandbox = session::sandbox(settings, approver, cancellation.clone())?;
        let offered = sandbox.offered();
        let jobs =
            session::jobs(settings)?.max(if is_set(settings, "limits.jobs") { 1 } else { 8 });
        let provider = Arc::new(SandboxedToolProvider::new(sandbox, jobs));
        return Ok(Answers { provider, offered, is_shown_only: false });
    }
    settings.check_idle()?;
    let registry = settings.registry()?;
    let offered = registry.list().map(|tool| tool.spec().clone()).collect();
    let (provider, is_shown_only): (Arc<dyn ToolResultProvider>, _) = match args.results.as_deref()
    {
        None => (Arc::new(Shown), true),
        Some(path) if path == Path::new("-") => {
            if args.task.is_none() {
                let message = "--results - reads standard input, so give the task as an argument";
                return Err(Failure::Operator(message.to_owned()));
            }
            let line = LineProvider::new(BufReader::new(io::stdin()), io::stdout());
            let line = line.map_err(|e| Failure::Broken(format!("--results -: {e}")))?;
            (Arc::new(line), false)
        }
        Some(path) => {
            let replay = ReplayProvider::from_jsonl(&read("--results", path)?)
                .map_err(|e| Failure::Operator(format!("--results {}: {e}", path.display())))?;
            (Arc::new(replay), false)
        }
    };
    Ok(Answers { provider, offered, is_shown_only })
}

fn is_set(settings: &Settings, key: &str) -> bool {
    settings.layered.origin(key) != toolset::Origin::Default
}

fn model(args: &AgentArgs, settings: &Settings) -> Result<Arc<dyn Model>, Failure> {
    if let Some(path) = &args.model.replay {
        let script = read("--replay", path)?;
        let model = ScriptedModel::from_jsonl(path.to_string_lossy(), &script)
            .map_err(|e| Failure::Operator(format!("--replay {}: {e}", path.display())))?;
        return Ok(Arc::new(model));
    }
    let mut config = settings.config().model.clone();
    if config.name.is_none() {
        let message = "agent needs a model: --model NAME (with --model-url URL), or --replay FILE";
        return Err(Failure::Operator(message.to_owned()));
    }
    config.stream |= out::is_terminal_err() && !is_set(settings, "model.stream");
    let key = env::api_key(config.key_env())?;
    config.build(key).map_err(|error| Failure::operator(&error))
}

fn sampling(settings: &Settings) -> Sampling {
    let model = &settings.config().model;
    Sampling { temperature: model.temperature, seed: model.seed, max_tokens: model.max_tokens }
}

fn limits(settings: &Settings, is_shown_only: bool) -> Result<chain::ChainLimits, Failure> {
    let limits = settings.config().chain.limits().map_err(|e| Failure::operator(&e))?;
    if !is_shown_only {
        return Ok(limits);
    }
    // One reply is enough to show what it calls.
    limits.with_max_turns(1).map_err(|e| Failure::operator(&e))
}

fn messages(args: &AgentArgs) -> Result<Vec<Message>, Failure> {
    let task = match &args.task {
        Some(task) => task.clone(),
        None if io::stdin().is_terminal() => {
            let message = "agent needs a task: an argument, or text on standard input";
            return Err(Failure::Operator(message.to_owned()));
        }
        None => bounded("the task on standard input", io::stdin())?,
    };
    if task.trim().is_empty() {
        return Err(Failure::Operator("the task is empty".to_owned()));
    }
    let system = args.model.system.clone().map(Message::System);
    Ok(system.into_iter().chain([Message::User(task)]).collect())
}

fn read(flag: &str, path: &Path) -> Result<String, Failure> {
    let what = format!("{flag} {}", path.display());
    let file =
        std::fs::File::open(path).map_err(|error| Failure::Operator(format!("{what}: {error}")))?;
    bounded(&what, file)
}

fn bounded(what: &str, input: impl Read) -> Result<String, Failure> {
    let mut text = String::new();
    let read = input.take(MAX_INPUT + 1).read_to_string(&mut text);
    let bytes = read.map_err(|error| Failure::Operator(format!("{what}: {error}")))?;
    if bytes as u64 > MAX_INPUT {
        return Err(Failure::Operator(format!("{what}: more than {MAX_INPUT} bytes")));
    }
    Ok(text)
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

/// Shows events to a person, or prints them as lines of JSON.
struct Observer {
    timeline: Timeline,
    is_json: bool,
    cancellation: CancellationToken,
}

impl chain::ChainObserver for Observer {
    fn on_event(&self, event: &ChainEvent) {
        self.timeline.on_event(event);
        if self.is_json && out::json_line(event).is_err() {
            // Nobody reads any more.
            self.cancellation.cancel();
        }
    }
}

fn report(
    outcome: &ChainOutcome,
    args: &AgentArgs,
    is_shown_only: bool,
) -> Result<ExitCode, Failure> {
    let calls = if is_shown_only { last_calls(outcome) } else { &[] };
    if args.json {
        out::json_line(&Ended {
            event: "outcome",
            answer: outcome.answer.as_deref(),
            stop: &outcome.stop,
            metrics: &outcome.metrics,
        })?;
    } else {
        calls.iter().try_for_each(|call| out::json_line(&flat(call)))?;
        print_answer(outcome)?;
    }
    if !calls.is_empty() {
        out::note("remit: shown, not executed; add --execute-tools and --allow-tool NAME to run");
        return Ok(ExitCode::SUCCESS);
    }
    match &outcome.stop {
        StopReason::Answer => Ok(ExitCode::SUCCESS),
        StopReason::Cancelled => {
            out::note("remit: stopped");
            Ok(ExitCode::from(interrupt::INTERRUPTED))
        }
        stop => Err(Failure::Broken(format!("no answer: {stop}"))),
    }
}

/// The answer, or what the model said last before it was stopped.
fn print_answer(outcome: &ChainOutcome) -> Result<(), Failure> {
    let last_text = || {
        outcome.messages.iter().rev().find_map(|message| match message {
            Message::Assistant(reply) if !reply.text.is_empty() => Some(reply.text.as_str()),
            _ => None,
        })
    };
    let Some(text) = outcome.answer.as_deref().or_else(last_text) else { return Ok(()) };
    let text = if out::is_terminal_out() { crate::printable::lines(text) } else { text.to_owned() };
    out::text_out(&format!("{}\n", text.trim_end_matches('\n')))
}

fn last_calls(outcome: &ChainOutcome) -> &[ToolCall] {
    let last = outcome.messages.iter().rev().find_map(|message| match message {
        Message::Assistant(reply) => Some(reply.calls.as_slice()),
        _ => None,
    });
    last.unwrap_or_default()
}

/// The last line of `--json`.
#[derive(Serialize)]
struct Ended<'a> {
    event: &'static str,
    answer: Option<&'a str>,
    stop: &'a StopReason,
    metrics: &'a ChainMetrics,
}

/// A call in the flat shape, which `remit exec` reads.
#[derive(Serialize)]
struct Flat<'a> {
    id: &'a str,
    name: &'a str,
    arguments: Value,
}

/// Arguments that are no JSON stay a string.
fn flat(call: &ToolCall) -> Flat<'_> {
    let text = call.arguments.to_text();
    let arguments = tool_core::parse_strict(&text).unwrap_or_else(|_| text.into());
    Flat { id: call.id.as_str(), name: &call.name, arguments }
}
