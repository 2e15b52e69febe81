//! One call of a tool: through the sandbox, with progress while it runs, until it is answered or
//! cancelled.
//!
//! A cancelled call is dropped, which ends its work; the library then sends nothing for it. The client
//! hears of progress only where it gave a token, with values that rise, and of none after the answer:
//! the last notification is waited for before the answer goes out.

use std::{pin::pin, time::Duration};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use sandbox::AuditError;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tool_core::{ErrorKind, RawArguments, ToolCall, ToolError, ToolResult};

use crate::{arguments, connection::Connection, intake::CallArguments, progress::Watch, result};

/// The least time between two notifications of one call.
const RARELY: Duration = Duration::from_millis(100);
/// How long a call is silent before the client is told that it still runs.
const STILL_RUNS: Duration = Duration::from_secs(5);
/// How long the last notification may take.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Calls the tool that a client named.
pub(crate) async fn run(
    connection: &Connection,
    name: &str,
    given: CallArguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let world = connection.world().map_err(|error| {
        tracing::error!(%error, "a client has no tools");
        ErrorData::internal_error("the tools can't be made; the operator's log says why", None)
    })?;
    let call = tool_call(connection, world.catalogue.target(name), name, given);
    let watch = context.meta.get_progress_token().map(|token| Watched {
        token,
        watch: connection.watch(call.id.clone()),
        peer: context.peer.clone(),
    });
    let work = Box::pin(world.sandbox.execute(call));
    let answer = match watch {
        None => tokio::select! {
            biased;
            () = context.ct.cancelled() => None,
            answer = work => Some(answer),
        },
        Some(watched) => watched.through(work, &context.ct).await,
    };
    match answer {
        None => Ok(cancelled()),
        Some(Ok(result)) => answered(result),
        Some(Err(error)) => {
            tracing::error!(%error, "calls are not executed any more");
            Err(ErrorData::internal_error("the server does not execute any more", None))
        }
    }
}

fn tool_call(
    connection: &Connection,
    target: Option<&crate::catalogue::Target>,
    name: &str,
    CallArguments(given): CallArguments,
) -> ToolCall {
    let tool = target.map_or(name, |target| &target.tool).to_owned();
    let text = match target.and_then(|target| target.operation.as_deref()) {
        Some(operation) => arguments::with_operation(given.as_deref(), operation),
        None => given.unwrap_or_default(),
    };
    ToolCall { id: connection.next_call(), name: tool, arguments: RawArguments::Text(text) }
}

/// A name that is no tool is a fault of the protocol; everything else is for the model.
fn answered(result: ToolResult) -> Result<CallToolResult, ErrorData> {
    match &result.outcome {
        Err(error) if error.kind == ErrorKind::UnknownTool => {
            Err(ErrorData::invalid_params(error.message.clone(), None))
        }
        _ => Ok(result::of(result)),
    }
}

fn cancelled() -> CallToolResult {
    let text = format!("{}: {}", ErrorKind::Cancelled, ToolError::Cancelled.for_model());
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// A call whose client gave a token.
struct Watched {
    token: ProgressToken,
    watch: Watch,
    peer: Peer<RoleServer>,
}

impl Watched {
    /// Waits for the answer, and tells the client what happens meanwhile.
    async fn through(
        self,
        work: impl Future<Output = Result<ToolResult, AuditError>>,
        cancelled: &CancellationToken,
    ) -> Option<Result<ToolResult, AuditError>> {
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

    /// Tells until `done`; ends early where the client is gone.
    async fn tell(&self, done: &CancellationToken) {
        let (started, mut told) = (Instant::now(), 0.0);
        loop {
            let earliest = Instant::now() + RARELY;
            let message = tokio::select! {
                biased;
                () = done.cancelled() => return,
                line = self.watch.next() => line,
                () = sleep(STILL_RUNS) => format!("running for {} s", started.elapsed().as_secs()),
            };
            told += 1.0;
            let progress = ProgressNotificationParam::new(self.token.clone(), told);
            if self.peer.notify_progress(progress.with_message(message)).await.is_err() {
                return;
            }
            tokio::select! {
                biased;
                () = done.cancelled() => return,
                () = sleep_until(earliest) => {}
            }
        }
    }
}
