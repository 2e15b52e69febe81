//! `remit rlm`: a question about a text of any length.

mod context;
mod prepare;
mod redact;
mod view;

use std::{path::Path, process::ExitCode, sync::Arc};

use rlm_backend::{
    Query, QueryEngine, QueryModels, QueryObserver, QueryOutcome, QueryRecord, Replay, SandboxTool,
    StopReason, Trajectory, Watch, read_trajectory,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::{redact::Secrets, view::View};
use crate::{
    approver::TerminalApprover,
    args::RlmArgs,
    failure::Failure,
    interrupt, models, out, printable,
    screen::Screen,
    session::{self, Session},
    settings::{Layers, Settings},
};

pub(super) async fn run(args: RlmArgs, screen: &Screen) -> Result<ExitCode, Failure> {
    let settings = settings(&args)?;
    let models = query_models(&args, &settings)?;
    let engine = engine(&settings, models)?;
    let cancellation = CancellationToken::new();
    // The engine sees the tools for as long as the session is here.
    let tools = offer(&engine, &settings, screen, &cancellation)?;
    let replay = args.resume.as_deref().map(replay).transpose()?.unwrap_or_default();
    let context = context::of(args.context.as_deref())?;
    let trajectory = args.resume.as_ref().or(args.trajectory.as_ref());
    let trajectory = trajectory.map(|path| self::trajectory(path, &settings)).transpose()?;
    interrupt::watch(screen, cancellation.clone())?;
    let observer = Observers {
        view: out::is_terminal_err().then(|| View::new(screen, settings.config().query.max_tokens)),
        trajectory: trajectory.clone(),
        json: args.json.then(|| cancellation.clone()),
    };
    let watch = Watch { observer: Arc::new(observer), cancel: cancellation, replay };
    let query = Query { prompt: args.question.clone(), context, ..Query::default() };
    let outcome = prepare::ask(&engine, screen, query, watch).await;
    if let Some(tools) = &tools {
        tools.end().await;
    }
    let Some(outcome) = outcome? else { return Ok(ExitCode::from(interrupt::INTERRUPTED)) };
    if let Some(trajectory) = trajectory {
        trajectory.finish().map_err(|error| Failure::broken(&error))?;
    }
    report(&args, &outcome)
}

fn settings(args: &RlmArgs) -> Result<Settings, Failure> {
    if args.model.system.is_some() {
        let message = "--system: rlm has instructions of its own; query.system_prompt names a file \
                       with others";
        return Err(Failure::Operator(message.to_owned()));
    }
    let mut layers = Layers::read(&args.settings, &args.execution)?;
    models::set_flags(&mut layers, &args.model);
    let query = &args.query;
    layers.set("query.leaf_model", query.leaf_model.clone(), "--leaf-model");
    layers.set("query.max_iterations", query.max_iterations, "--max-iterations");
    layers.set("query.max_sub_calls", query.max_sub_calls, "--max-sub-calls");
    layers.set("query.max_depth", query.max_depth, "--max-depth");
    layers.set("query.max_tokens", query.token_budget, "--token-budget");
    layers.set("query.time_secs", query.time_secs, "--time-secs");
    layers.finish()
}

fn query_models(args: &RlmArgs, settings: &Settings) -> Result<QueryModels, Failure> {
    match models::replayed(&args.model)? {
        Some(model) => Ok(QueryModels::new(model).with_sampling(models::sampling(settings))),
        None => models::of_queries(settings, models::configured(settings, "rlm")?),
    }
}

fn engine(settings: &Settings, models: QueryModels) -> Result<QueryEngine, Failure> {
    let config = settings.config();
    let made = SandboxTool::new(config.sandbox.clone())
        .and_then(|tool| tool.with_queries(models, config.query.clone()));
    let wrong = |error| {
        let error = toolset::ToolsetError::Sessions(error);
        settings.mistake(&error.key(), &Failure::operator(&error).to_string())
    };
    let engine = made.map_err(wrong)?.queries().cloned();
    engine.ok_or_else(|| Failure::Broken("queries can't be had".to_owned()))
}

/// Offers the allowed tools to code, where tools are executed at all.
fn offer(
    engine: &QueryEngine,
    settings: &Settings,
    screen: &Screen,
    cancellation: &CancellationToken,
) -> Result<Option<Session>, Failure> {
    if !settings.config().tools.execute {
        settings.check_idle()?;
        return Ok(None);
    }
    let approver = TerminalApprover::new(screen.clone());
    let session = session::start(settings, approver, None, cancellation.clone())?;
    toolset::offer_to_queries(engine, &session.sandbox);
    Ok(Some(session))
}

/// A file that steps are appended to, without secrets.
fn trajectory(path: &Path, settings: &Settings) -> Result<Arc<Trajectory>, Failure> {
    let secrets = Secrets::new(settings)?;
    let opened = Trajectory::open(path).map_err(|error| Failure::operator(&error))?;
    Ok(Arc::new(opened.redacting(Arc::new(secrets))))
}

fn replay(path: &Path) -> Result<Replay, Failure> {
    let records = read_trajectory(path).map_err(|error| Failure::operator(&error))?;
    let replay = Replay::from_records(&records);
    if replay.count() == 0 {
        out::note(&format!("remit: {} holds no answer yet", path.display()));
    }
    Ok(replay)
}

fn report(args: &RlmArgs, outcome: &QueryOutcome) -> Result<ExitCode, Failure> {
    if outcome.stop == StopReason::Cancelled {
        return Ok(ExitCode::from(interrupt::INTERRUPTED));
    }
    let text = match &outcome.answer {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => format!("{other:#}"),
    };
    if outcome.stop.is_answer() {
        if !args.json {
            let text = if out::is_terminal_out() { printable::lines(&text) } else { text };
            out::text_out(&format!("{text}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let why = outcome.message.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let why = format!("remit: the query ended without an answer ({}){why}", outcome.stop);
    out::note(&printable::lines(&why));
    if !text.is_empty() {
        out::note(&printable::lines(&format!("remit: until then it had:\n{text}")));
    }
    Ok(ExitCode::from(1))
}

/// Everyone who watches.
#[derive(Debug)]
struct Observers {
    view: Option<View>,
    trajectory: Option<Arc<Trajectory>>,
    /// Steps are printed as JSON; a reader that is gone ends the query.
    json: Option<CancellationToken>,
}

impl QueryObserver for Observers {
    fn observe(&self, record: &QueryRecord) {
        if let Some(view) = &self.view {
            view.observe(record);
        }
        if let Some(trajectory) = &self.trajectory {
            trajectory.observe(record);
        }
        if let Some(cancel) = &self.json
            && out::json_line(record).is_err()
        {
            cancel.cancel();
        }
    }
}
