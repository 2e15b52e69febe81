//! Calls that take long, as tasks of the protocol: answered with an id, asked for, cancelled.
//!
//! A client that takes tasks gets the answer itself where it comes soon, and a task where not. So many
//! tasks are kept for a connection; where there is no place for one more, the client waits for its
//! answer, as those do that take no tasks. A task's work ends with the task: when it is cancelled, when
//! its time is up, when the connection ends. Its id is random, so it is found by those alone who have it.
//!
//! Left out: questions within a task (who has to be asked is asked before the work begins), and telling of
//! changes, which the protocol library can't send yet.

use std::{
    collections::HashMap,
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, DetailedTask, ErrorCode, JsonObject, Task, TaskPayload, TaskStatus},
    service::RequestContext,
    task_manager::current_timestamp,
};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    task::AbortHandle,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{ask::is_stateless, progress::Watch, random};

/// How long an answer is waited for before it becomes a task.
const SOON: Duration = Duration::from_millis(500);
/// How long a task is kept, from its beginning, in milliseconds; its work may take no longer.
const KEPT_MS: u64 = 30 * 60 * 1000;
/// How often a client should ask, in milliseconds.
const POLL_MS: u64 = 1000;
/// How many tasks of a connection are kept, those that are done among them.
const MAX_TASKS: usize = 64;

/// The answer to a call.
pub(crate) type Answer = Result<CallToolResponse, ErrorData>;

/// The tasks of a connection.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    kept: Mutex<HashMap<String, Kept>>,
}

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Begun<W> {
    Answered(Answer),
    Task(Task),
    /// There is no place for a task.
    Waits(W),
}

#[derive(Debug)]
struct Kept {
    task: Task,
    payload: TaskPayload,
    cancel: CancellationToken,
    /// Ends the work when the task is forgotten.
    _running: Running,
}

#[derive(Debug)]
struct Running(AbortHandle);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether the client of a request takes tasks.
pub(crate) fn are_taken(context: &RequestContext<RoleServer>) -> bool {
    is_stateless(context)
        && context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

impl Tasks {
    /// Waits a little for the answer, and makes a task of the rest.
    pub(crate) async fn begin<W>(self: &Arc<Self>, mut work: W, watch: Watch) -> Begun<W>
    where
        W: Future<Output = Answer> + Send + Unpin + 'static,
    {
        match timeout(SOON, &mut work).await {
            Ok(answer) => Begun::Answered(answer),
            Err(_) => self.keep(work, watch),
        }
    }

    /// The task as it is now.
    pub(crate) fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let kept = self.kept();
        let kept = kept.get(id).ok_or_else(unknown)?;
        Ok(DetailedTask::new(kept.task.clone(), kept.payload.clone()))
    }

    /// Ends the work of a task that is not done.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.kept().get(id).ok_or_else(unknown)?.cancel.cancel();
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep<W>(self: &Arc<Self>, work: W, watch: Watch) -> Begun<W>
    where
        W: Future<Output = Answer> + Send + Unpin + 'static,
    {
        let Ok(id) = random::hex::<16>() else { return Begun::Waits(work) };
        let mut kept = self.kept();
        if kept.len() >= MAX_TASKS {
            return Begun::Waits(work);
        }
        let now = current_timestamp();
        let task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now)
            .with_ttl_ms(KEPT_MS)
            .with_poll_interval_ms(POLL_MS);
        let cancel = CancellationToken::new();
        let living = live(Arc::downgrade(self), id.clone(), work, watch, cancel.clone());
        let running = Running(tokio::spawn(living).abort_handle());
        let payload = TaskPayload::Working;
        kept.insert(id, Kept { task: task.clone(), payload, cancel, _running: running });
        Begun::Task(task)
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Kept)) {
        if let Some(kept) = self.kept().get_mut(id) {
            change(kept);
            kept.task.last_updated_at = current_timestamp();
        }
    }
}

/// A task from its beginning until it is forgotten.
async fn live<W>(tasks: Weak<Tasks>, id: String, work: W, watch: Watch, cancel: CancellationToken)
where
    W: Future<Output = Answer> + Unpin,
{
    let end = Instant::now() + Duration::from_millis(KEPT_MS);
    let change = |change: &mut dyn FnMut(&mut Kept)| {
        if let Some(tasks) = tasks.upgrade() {
            tasks.change(&id, change);
        }
    };
    let life = async {
        let payload = outcome(work, watch, cancel, |line| {
            change(&mut |kept| kept.task.status_message = Some(line.clone()));
        });
        let payload = payload.await;
        change(&mut |kept| kept.payload = payload.clone());
        pending::<()>().await;
    };
    // Nothing but the time ends it.
    let _ = timeout_at(end, life).await;
    if let Some(tasks) = tasks.upgrade() {
        tasks.kept().remove(&id);
    }
}

/// How the work ends. It has ended when this is known.
async fn outcome<W>(
    mut work: W,
    watch: Watch,
    cancel: CancellationToken,
    tell: impl Fn(String),
) -> TaskPayload
where
    W: Future<Output = Answer> + Unpin,
{
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return TaskPayload::Cancelled,
            answer = &mut work => return payload(answer),
            line = watch.next() => tell(line),
        }
    }
}

fn payload(answer: Answer) -> TaskPayload {
    let failed = |error: &ErrorData| TaskPayload::Failed { error: object(error) };
    match answer {
        Ok(CallToolResponse::Complete(result)) => {
            TaskPayload::Completed { result: object(&result) }
        }
        // The question was not ready soon, so it found no one; a new call asks it anew.
        Ok(_) => failed(&ErrorData::new(
            ErrorCode::INTERNAL_ERROR,
            "the person was not asked in time; call the tool again",
            None,
        )),
        Err(error) => failed(&error),
    }
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no task with this taskId, or it is no longer kept", None)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolResult, ContentBlock};
    use tokio::sync::oneshot;
    use tool_core::CallId;

    use super::*;
    use crate::progress::ProgressHub;

    fn watch() -> Watch {
        Arc::<ProgressHub>::default().watch(CallId::new("c"))
    }

    fn said(text: &str) -> Answer {
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    /// Work that ends when it is told to; whether it was dropped is heard at the other end.
    fn slow() -> (oneshot::Sender<Answer>, impl Future<Output = Answer> + Send + Unpin) {
        let (sender, receiver) = oneshot::channel();
        (sender, Box::pin(async move { receiver.await.unwrap() }))
    }

    async fn begin(tasks: &Arc<Tasks>) -> (oneshot::Sender<Answer>, String) {
        let (sender, work) = slow();
        let Begun::Task(task) = tasks.begin(work, watch()).await else { panic!("no task") };
        (sender, task.task_id)
    }

    async fn until(tasks: &Tasks, id: &str, status: TaskStatus) -> TaskPayload {
        for _ in 0..1000 {
            let task = tasks.get(id).unwrap();
            if task.status() == status {
                return task.payload;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{:?}", tasks.get(id));
    }

    #[tokio::test]
    async fn what_comes_soon_is_the_answer() {
        let tasks = Arc::<Tasks>::default();
        let begun = tasks.begin(Box::pin(async { said("quick") }), watch()).await;
        assert!(matches!(begun, Begun::Answered(Ok(_))));
        assert!(tasks.kept().is_empty());
    }

    #[tokio::test]
    async fn a_task_works_until_it_is_done() {
        let tasks = Arc::<Tasks>::default();
        let (work, id) = begin(&tasks).await;
        assert_eq!(tasks.get(&id).unwrap().payload, TaskPayload::Working);
        work.send(said("late")).unwrap();
        let done = until(&tasks, &id, TaskStatus::Completed).await;
        let TaskPayload::Completed { result } = done else { panic!("{done:?}") };
        assert_eq!(result["content"][0]["text"], "late");
        tasks.cancel(&id).unwrap();
        assert_eq!(tasks.get(&id).unwrap().status(), TaskStatus::Completed);
    }

    #[tokio::test]
    async fn a_fault_of_the_protocol_fails_the_task() {
        let tasks = Arc::<Tasks>::default();
        let (work, id) = begin(&tasks).await;
        work.send(Err(unknown())).unwrap();
        let failed = until(&tasks, &id, TaskStatus::Failed).await;
        let TaskPayload::Failed { error } = failed else { panic!("{failed:?}") };
        assert_eq!(error["code"], -32602);
    }

    #[tokio::test]
    async fn cancelling_ends_the_work() {
        let tasks = Arc::<Tasks>::default();
        let (mut work, id) = begin(&tasks).await;
        tasks.cancel(&id).unwrap();
        until(&tasks, &id, TaskStatus::Cancelled).await;
        // It was dropped before the task was said to be cancelled.
        assert!(work.is_closed());
        work.closed().await;
    }

    #[tokio::test]
    async fn the_end_of_the_connection_ends_the_work() {
        let tasks = Arc::<Tasks>::default();
        let (mut work, _) = begin(&tasks).await;
        drop(tasks);
        timeout(Duration::from_secs(60), work.closed()).await.unwrap();
    }

    #[tokio::test]
    async fn without_a_place_the_client_waits() {
        let tasks = Arc::<Tasks>::default();
        let mut works = Vec::new();
        for _ in 0..MAX_TASKS {
            let (sender, work) = slow();
            assert!(matches!(tasks.keep(work, watch()), Begun::Task(_)));
            works.push(sender);
        }
        let (sender, work) = slow();
        let Begun::Waits(work) = tasks.begin(work, watch()).await else { panic!("a place") };
        sender.send(said("after all")).unwrap();
        assert!(work.await.is_ok());
        assert_eq!(tasks.get("nobody").unwrap_err().code, ErrorCode::INVALID_PARAMS);
    }
}
