//! What the tools over sessions do, whatever they are called.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use tool_core::{ExecContext, ToolOutput, ValidatedArgs};

use super::{
    failure::Failure,
    live::Live,
    result::{self, Report},
};
use crate::{
    Background, DriverStatus, Extended, Language, QueryEngine, Run, SessionId, SessionManager,
    Waiting,
};

/// The most that is kept back of a call's time for its end.
const MAX_MARGIN: Duration = Duration::from_secs(3);
/// From when on a result says that its session ends soon.
const SOON: Duration = Duration::from_secs(300);

/// How many paths each list of a session's changes has at most.
const MAX_CHANGES: usize = 100;

/// The sessions, as tools use them.
#[derive(Debug)]
pub(super) struct Operations {
    pub(super) manager: Arc<SessionManager>,
    /// What runs recursive queries, or why none can be had.
    pub(super) queries: Result<QueryEngine, String>,
    /// The time of a call that runs code.
    pub(super) timeout: Duration,
}

impl Operations {
    /// Does what an operation says.
    pub(super) async fn perform(
        &self,
        operation: &str,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        match operation {
            "execute_code" => self.run(Language::Python, "code", args, ctx).await,
            "execute_bash" => self.run(Language::Bash, "command", args, ctx).await,
            "session_create" => self.create(ctx).await,
            "session_status" => self.status(needed_session(args)?, ctx).await,
            "session_extend" => self.extend(needed_session(args)?),
            "session_destroy" => self.destroy(needed_session(args)?, ctx).await,
            "file_put" => self.put(args, ctx).await,
            "file_get" => self.get(args, ctx).await,
            "snapshot_create" | "snapshot_restore" | "snapshot_list" | "snapshot_delete" => {
                self.snapshot(operation, args).await
            }
            "recursive_query" => self.query(args, ctx).await,
            operation => Err(Failure::Argument(format!("there is no operation {operation:?}"))),
        }
    }

    async fn run(
        &self,
        language: Language,
        argument: &str,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        let started = Instant::now();
        let left = ctx.remaining().min(self.timeout);
        let margin = (left / 4).min(MAX_MARGIN);
        let run = Run {
            language,
            code: args.get_str(argument).unwrap_or_default().to_owned(),
            deadline: (started + (left - margin)).into(),
            grace: margin * 2 / 3,
            watcher: ctx.is_watched().then(|| Arc::new(Live::new(ctx.clone())) as _),
        };
        let session = session(args)?;
        if session.is_none() {
            let waiting = Waiting::until(run.deadline.into()).watched(run.watcher.clone());
            self.manager.prepare_default(waiting).await?;
        }
        let (id, ran) = self.manager.run(session, run).await?;
        if ran.outcome.ending.cancelled {
            return Err(Failure::Cancelled);
        }
        let ends_soon = self.manager.ends_within(id, SOON);
        let backend = self.manager.chosen_backend(id);
        let report = Report { id, ran: &ran, duration: started.elapsed(), ends_soon, backend };
        Ok(result::output(&report, ctx.limits().max_output()))
    }

    async fn create(&self, ctx: &ExecContext) -> Result<ToolOutput, Failure> {
        self.manager.prepare(waiting(ctx)).await?;
        let id = self.manager.create().await?;
        let backend = self.manager.backend(id)?;
        Ok(ToolOutput::json(json!({"session_id": id.to_string(), "backend": backend})))
    }

    async fn destroy(&self, id: SessionId, ctx: &ExecContext) -> Result<ToolOutput, Failure> {
        let changes = self.manager.destroy(id).await?;
        let mut most = MAX_CHANGES;
        loop {
            let mut all = json!({"session_id": id.to_string(), "destroyed": true});
            if let Some(changes) = &changes {
                all["changes"] = json!(changes.summary(most));
            }
            let output = ToolOutput::json(all);
            if output.len_bytes() <= ctx.limits().max_output() || most == 0 {
                return Ok(output);
            }
            most /= 2;
        }
    }

    fn extend(&self, id: SessionId) -> Result<ToolOutput, Failure> {
        let Extended { ends_in, extensions_left } = self.manager.extend(id)?;
        Ok(ToolOutput::json(json!({
            "session_id": id.to_string(),
            "ends_in_secs": ends_in.as_secs(),
            "extensions_left": extensions_left,
        })))
    }

    async fn status(&self, id: SessionId, ctx: &ExecContext) -> Result<ToolOutput, Failure> {
        let status = self.manager.status(id).await?;
        let driver = |driver: &DriverStatus| {
            json!({
                "running": driver.is_running,
                "generation": driver.generation,
                "version": driver.version,
            })
        };
        let mut all = json!({
            "session_id": id.to_string(),
            "backend": status.backend,
            "age_secs": status.age.as_secs(),
            "expires_in_secs": status.expires_in.as_secs(),
            "ends_in_secs": status.ends_in.as_secs(),
            "extensions_left": status.extensions_left,
            "busy": status.is_busy,
            "python": driver(&status.python),
            "bash": driver(&status.bash),
        });
        let room = ctx.limits().max_output().as_usize() / 16;
        let unread = [("python", &status.unread.python), ("bash", &status.unread.bash)];
        let background = background(&unread, room);
        if let (Some(all), false) = (all.as_object_mut(), background.is_empty()) {
            all.insert("background".to_owned(), Value::Object(background));
        }
        if let (Some(all), Some(used)) = (all.as_object_mut(), self.session_use(id)) {
            all.insert("queries".to_owned(), used);
        }
        Ok(ToolOutput::json(all))
    }
}

/// What the interpreters of a session print in the background, where they do.
fn background(unread: &[(&str, &Background)], room: usize) -> Map<String, Value> {
    let there = unread.iter().filter(|(_, background)| !background.is_empty());
    there
        .map(|(name, background)| {
            let stream = |captured| result::stream(captured, room);
            let streams = json!({
                "stdout": stream(&background.stdout),
                "stderr": stream(&background.stderr),
            });
            ((*name).to_owned(), streams)
        })
        .collect()
}

/// Waits as long as a call can, and still be answered.
pub(super) fn waiting(ctx: &ExecContext) -> Waiting {
    let left = ctx.remaining();
    let until = Instant::now() + (left - (left / 4).min(MAX_MARGIN));
    let watcher = ctx.is_watched().then(|| Arc::new(Live::new(ctx.clone())) as _);
    Waiting::until(until).watched(watcher)
}

/// The session that a call names, if it does.
pub(super) fn session(args: &ValidatedArgs) -> Result<Option<SessionId>, Failure> {
    Ok(args.get_str("session_id").map(str::parse).transpose()?)
}

pub(super) fn needed_session(args: &ValidatedArgs) -> Result<SessionId, Failure> {
    Ok(args.get_str("session_id").unwrap_or_default().parse()?)
}
