//! `remit agent`: a model in a chain.

mod answers;
mod orchestrate;
mod report;

use std::{
    io::{self, IsTerminal},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use chain::{ChainEvent, ToolChain};
use model::{Message, Model};
use tokio_util::sync::CancellationToken;

use self::answers::Answers;
use super::timeline::Timeline;
use crate::{
    args::AgentArgs,
    failure::Failure,
    input, interrupt, models, out,
    screen::Screen,
    settings::{Layers, Settings},
};

pub(super) async fn run(args: AgentArgs, screen: &Screen) -> Result<ExitCode, Failure> {
    let settings = settings(&args)?;
    if args.orchestration.orchestrate {
        return orchestrate::run(&args, &settings, screen).await;
    }
    let cancellation = CancellationToken::new();
    let answers = Answers::of(&args, &settings, screen, &cancellation)?;
    let model = model(&args, &settings)?;
    let limits = limits(&settings, answers.is_shown_only)?;
    let context = settings.config().chain.context_policy();
    let context = context.map_err(|error| settings.wrong("chain", &error))?;
    let messages = messages(&args)?;
    // From here on something can be stopped; before, an interrupt just ends the process.
    interrupt::watch(screen, cancellation.clone())?;
    let chain = ToolChain::new(model, answers.provider)
        .with_tools(answers.offered)
        .with_sampling(models::sampling(&settings))
        .with_limits(limits)
        .with_context(context);
    let observer = Observer {
        timeline: timeline(&args, screen),
        is_json: args.json,
        cancellation: cancellation.clone(),
    };
    let outcome = chain.run(messages, &observer, cancellation).await;
    if let Some(session) = &answers.session {
        session.end().await;
    }
    let outcome = outcome.map_err(|error| Failure::operator(&error))?;
    // Takes what is still drawn off the screen.
    drop(observer);
    report::report(&outcome, &args, answers.is_shown_only)
}

fn settings(args: &AgentArgs) -> Result<Settings, Failure> {
    let mut layers = Layers::read(&args.settings, &args.execution)?;
    let (model, chain) = (&args.model, &args.chain);
    models::set_flags(&mut layers, model);
    layers.set("chain.max_turns", chain.max_steps, "--max-steps");
    layers.set("chain.token_budget", chain.token_budget, "--token-budget");
    layers.set("chain.wall_clock_ms", chain.wall_clock_ms, "--wall-clock-ms");
    layers.finish()
}

fn model(args: &AgentArgs, settings: &Settings) -> Result<Arc<dyn Model>, Failure> {
    match models::replayed(&args.model)? {
        Some(model) => Ok(model),
        None => models::configured(settings, "agent"),
    }
}

fn limits(settings: &Settings, is_shown_only: bool) -> Result<chain::ChainLimits, Failure> {
    let wrong = |error: &dyn std::error::Error| settings.wrong("chain", error);
    let limits = settings.config().chain.limits().map_err(|error| wrong(&error))?;
    if !is_shown_only {
        return Ok(limits);
    }
    // One reply is enough to show what it calls.
    limits.with_max_turns(1).map_err(|error| wrong(&error))
}

/// Whether standard input holds the task.
fn is_task_on_stdin(args: &AgentArgs) -> bool {
    args.task.as_deref().is_none_or(|task| task == "-")
}

fn messages(args: &AgentArgs) -> Result<Vec<Message>, Failure> {
    let task = match &args.task {
        Some(task) if !is_task_on_stdin(args) => task.clone(),
        _ if io::stdin().is_terminal() => {
            let message = "agent needs a task: an argument, or text on standard input";
            return Err(Failure::Operator(message.to_owned()));
        }
        _ => input::text("the task on standard input", io::stdin())?,
    };
    if task.trim().is_empty() {
        let message = "the task is empty; give it as an argument, or as text on standard input";
        return Err(Failure::Operator(message.to_owned()));
    }
    let system = args.model.system.clone().map(Message::System);
    Ok(system.into_iter().chain([Message::User(task)]).collect())
}

/// Where events are lines on the same terminal, they are all there is to see.
fn timeline(args: &AgentArgs, screen: &Screen) -> Option<Timeline> {
    let is_seen = out::is_terminal_err() && !(args.json && out::is_terminal_out());
    let is_used_otherwise = args.results.as_deref() == Some(Path::new("-"));
    (is_seen && !is_used_otherwise).then(|| Timeline::new(screen.clone()))
}

/// Shows events to a person, or prints them as lines of JSON.
struct Observer {
    timeline: Option<Timeline>,
    is_json: bool,
    cancellation: CancellationToken,
}

impl chain::ChainObserver for Observer {
    fn on_event(&self, event: &ChainEvent) {
        if let Some(timeline) = &self.timeline {
            timeline.on_event(event);
        }
        if self.is_json && out::json_line(event).is_err() {
            // Nobody reads any more.
            self.cancellation.cancel();
        }
    }
}
