//! One call of a tool: through the sandbox, with progress while it runs, until it is answered or
//! cancelled.
//!
//! A cancelled call is dropped, which ends its work; the library then sends nothing for it. The client
//! hears of progress only where it gave a token or asked for the most detailed log, with values that
//! rise, and of none after the answer: the last notification is waited for before the answer goes out.
//! A client that takes tasks gets one where the answer does not come soon (`tasks`), and reads there how
//! it goes.

use std::{pin::pin, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult,
        ProgressNotificationParam, ProgressToken,
    },
    service::RequestContext,
};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tool_core::{CallId, ErrorKind, RawArguments, ToolCall, ToolError, ToolResult};

use crate::{
    arguments,
    ask::{Asking, Way},
    catalogue::Target,
    connection::{Connection, World},
    intake::CallArguments,
    log,
    progress::Watch,
    result,
    tasks::{self, Answer, Begun},
};

/// The least time between two notifications of one call.
const RARELY: Duration = Duration::from_millis(100);
/// How long a call is silent before the client is told that it still runs.
const STILL_RUNS: Duration = Duration::from_secs(5);
/// How long the last notification may take.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Calls the tool that a client named.
pub(crate) async fn run(
    connection: &Connection,
    request: &CallToolRequestParams,
    given: CallArguments,
    context: &RequestContext<RoleServer>,
) -> Answer {
    let world = connection.world().map_err(|error| {
        tracing::error!(%error, "a client has no tools");
        ErrorData::internal_error("the tools can't be made; the operator's log says why", None)
    })?;
    let call = tool_call(connection, world.catalogue.target(&request.name), request, given);
    let id = call.id.clone();
    let asking = asking(connection, request, &id, context)?;
    let mut work = Box::pin(work(world, call, asking));
    if tasks::are_taken(context) {
        let begun = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Ok(cancelled().into()),
            begun = connection.tasks().begin(work, connection.watch(id.clone())) => begun,
        };
        work = match begun {
            Begun::Answered(answer) => return answer,
            Begun::Task(task) => return Ok(CallToolResponse::Task(CreateTaskResult::new(task))),
            Begun::Waits(work) => work,
        };
    }
    let answer = match watched(connection, request, &id, context) {
        None => tokio::select! {
            biased;
            () = context.ct.cancelled() => None,
            answer = work => Some(answer),
        },
        Some(watched) => watched.through(work, &context.ct).await,
    };
    answer.unwrap_or_else(|| Ok(cancelled().into()))
}

/// The call itself, and its answer. It holds what it needs of its connection, and not the connection.
async fn work(world: Arc<World>, call: ToolCall, asking: Option<Asking>) -> Answer {
    let result = world.sandbox.execute(call).await;
    if let Some(question) = asking.and_then(|asking| asking.question()) {
        return Ok(question.into());
    }
    match result {
        Ok(result) => answered(result).map(CallToolResponse::from),
        Err(error) => {
            tracing::error!(%error, "calls are not executed any more");
            Err(ErrorData::internal_error("the server does not execute any more", None))
        }
    }
}

fn tool_call(
    connection: &Connection,
    target: Option<&Target>,
    request: &CallToolRequestParams,
    CallArguments(given): CallArguments,
) -> ToolCall {
    let tool = target.map_or(&*request.name, |target| &target.tool).to_owned();
    let text = match target.and_then(|target| target.operation.as_deref()) {
        Some(operation) => arguments::with_operation(given.as_deref(), operation),
        None => given.unwrap_or_default(),
    };
    ToolCall { id: connection.next_call(), name: tool, arguments: RawArguments::Text(text) }
}

/// Where the client can be asked, until the call has ended.
fn asking(
    connection: &Connection,
    request: &CallToolRequestParams,
    call: &CallId,
    context: &RequestContext<RoleServer>,
) -> Result<Option<Asking>, ErrorData> {
    let way = Way::of(connection.desk(), request, context)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    Ok(way.map(|way| connection.desk().open(call.clone(), way)))
}

fn watched<'a>(
    connection: &Connection,
    request: &'a CallToolRequestParams,
    call: &CallId,
    context: &RequestContext<RoleServer>,
) -> Option<Watched<'a>> {
    let token = context.meta.get_progress_token();
    let logs = log::wants_lines(connection, context);
    (token.is_some() || logs).then(|| Watched {
        token,
        logs: logs.then_some(&request.name),
        watch: connection.watch(call.clone()),
        peer: context.peer.clone(),
    })
}

/// A name that is no tool is a fault of the protocol; everything else is for the model.
fn answered(result: ToolResult) -> Result<CallToolResult, ErrorData> {
    match &result.outcome {
        Err(error) if error.kind == ErrorKind::UnknownTool => {
            Err(ErrorData::invalid_params(one_sentence(&error.message), None))
        }
        _ => Ok(result::of(result)),
    }
}

/// The protocol wants one: what follows the first is joined to it.
fn one_sentence(text: &str) -> String {
    let Some((what, advice)) = text.split_once(". ") else { return text.to_owned() };
    let mut letters = advice.chars();
    let first = letters.next().map(|first| first.to_lowercase().collect::<String>());
    format!("{what}; {}{}", first.unwrap_or_default(), letters.as_str())
}

fn cancelled() -> CallToolResult {
    let text = format!("{}: {}", ErrorKind::Cancelled, ToolError::Cancelled.for_model());
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// A call whose client gave a token, or reads what it writes as log messages of this tool.
struct Watched<'a> {
    token: Option<ProgressToken>,
    logs: Option<&'a str>,
    watch: Watch,
    peer: Peer<RoleServer>,
}

impl Watched<'_> {
    /// Waits for the answer, and tells the client what happens meanwhile.
    async fn through(
        self,
        work: impl Future<Output = Answer>,
        cancelled: &CancellationToken,
    ) -> Option<Answer> {
        let done = CancellationToken::new();
        let (mut work, mut telling) = (pin!(work), pin!(self.tell(&done)));
        let answer = tokio::select! {
            biased;
            () = cancelled.cancelled() => return None,
            answer = &mut work => answer,
            () = &mut telling => return Some(work.await),
        };
        done.cancel();
        // A client that does not read gets its answer all the same.
        let _ = timeout(LAST_WORD, telling).await;
        Some(answer)
    }

    /// Tells until `done`; ends early where the client is gone. What is left at the end is only logged.
    async fn tell(&self, done: &CancellationToken) {
        self.tell_until(done).await;
        if let Some(line) = self.watch.rest() {
            self.log(&line).await;
        }
    }

    async fn tell_until(&self, done: &CancellationToken) {
        let (started, mut told) = (Instant::now(), 0.0);
        loop {
            let earliest = Instant::now() + RARELY;
            let message = tokio::select! {
                biased;
                () = done.cancelled() => return,
                line = self.watch.next() => {
                    self.log(&line).await;
                    line
                }
                () = sleep(STILL_RUNS) => format!("running for {} s", started.elapsed().as_secs()),
            };
            told += 1.0;
            if !self.progress(told, message).await {
                return;
            }
            tokio::select! {
                biased;
                () = done.cancelled() => return,
                () = sleep_until(earliest) => {}
            }
        }
    }

    async fn log(&self, line: &str) {
        if let Some(tool) = self.logs {
            log::line(&self.peer, tool, line).await;
        }
    }

    /// Whether the client is still there.
    async fn progress(&self, told: f64, message: String) -> bool {
        let Some(token) = &self.token else { return true };
        let progress = ProgressNotificationParam::new(token.clone(), told);
        self.peer.notify_progress(progress.with_message(message)).await.is_ok()
    }
}
