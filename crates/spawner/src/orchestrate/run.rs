//! Running a checked plan: one task of the event loop for each sub-chain, one deadline for all.

use std::time::Duration;

use chain::{ChainError, ChainMetrics, ChainOutcome, NoObserver, StopReason, ToolChain};
use model::Message;
use serde::{Deserialize, Serialize};
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use super::plan::{CheckedPlan, CheckedTask};
use crate::{AgentHost, ChainRequest, agent::scoped_chain, scope::shortest};

/// How long a sub-chain that is cut may take to say what it had.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What became of one sub-task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubOutcome {
    /// Its id in the plan.
    pub id: String,
    /// What became of it.
    pub status: SubStatus,
    /// Its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it could call.
    pub scope: Vec<String>,
    /// What it took, where it could say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<ChainMetrics>,
    /// From its start to its end.
    pub duration_ms: u64,
}

/// What became of a sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubStatus {
    /// It answered.
    Answered,
    /// It stopped without an answer, or could not begin.
    Failed,
    /// Its code panicked.
    Panicked,
    /// The time was over.
    Cut,
    /// Somebody stopped the whole.
    Cancelled,
}

/// Runs a plan, and gives one outcome for each sub-task, in its order.
///
/// What a sub-chain is handed is checked once more against the bounds; whatever one does, the others
/// have their time and their results. Dropping the future ends all of them.
pub async fn orchestrate(
    plan: &CheckedPlan,
    host: &dyn AgentHost,
    cancellation: CancellationToken,
) -> Vec<SubOutcome> {
    let began = Instant::now();
    let deadline = began + plan.bounds.budget;
    let most = usize::try_from(plan.bounds.max_sub_agents).unwrap_or(usize::MAX);
    let begun: Vec<_> = plan
        .tasks
        .iter()
        .enumerate()
        .map(|(index, task)| {
            let task = Contained { task, plan, is_one_too_many: index >= most };
            task.begin(host, &cancellation)
        })
        .collect();
    let mut outcomes = Vec::with_capacity(begun.len());
    for (task, begun) in plan.tasks.iter().zip(begun) {
        let deadline = deadline.min(began + task.budget);
        let scope = shortest(task.scope.allowed().map(str::to_owned).collect());
        outcomes.push(match begun {
            Ok(running) => running.outcome(task, scope, deadline, &cancellation).await,
            Err(error) => Ending::failed(error).outcome(task, scope, began.elapsed()),
        });
    }
    outcomes
}

/// A sub-task on its way to a chain.
struct Contained<'a> {
    task: &'a CheckedTask,
    plan: &'a CheckedPlan,
    is_one_too_many: bool,
}

impl Contained<'_> {
    fn begin(
        &self,
        host: &dyn AgentHost,
        cancellation: &CancellationToken,
    ) -> Result<Running, String> {
        let bounds = &self.plan.bounds;
        if self.is_one_too_many {
            return Err(format!("at most {} sub-agents may run", bounds.max_sub_agents));
        }
        let scope = bounds.scope.intersect(&self.task.scope);
        let stop = cancellation.child_token();
        let parts = host.chain(ChainRequest {
            model: self.task.model.as_deref(),
            scope: &scope,
            subagent: None,
            cancellation: stop.clone(),
        })?;
        let time = self.task.budget.min(bounds.budget);
        let chain = scoped_chain(parts, &scope, None, time)?;
        Ok(Running::start(chain, self.task.task.clone(), stop))
    }
}

/// A sub-chain at work. Dropping it ends it.
struct Running {
    handle: JoinHandle<(Duration, Result<ChainOutcome, ChainError>)>,
    stop: CancellationToken,
}

impl Running {
    fn start(chain: ToolChain, task: String, stop: CancellationToken) -> Self {
        let token = stop.clone();
        let began = Instant::now();
        let run = async move {
            let outcome = chain.run(vec![Message::User(task)], &NoObserver, token).await;
            (began.elapsed(), outcome)
        };
        Self { handle: tokio::spawn(run), stop }
    }

    async fn outcome(
        mut self,
        task: &CheckedTask,
        scope: Vec<String>,
        deadline: Instant,
        cancellation: &CancellationToken,
    ) -> SubOutcome {
        let began = Instant::now();
        let (is_cut, joined) = match tokio::time::timeout_at(deadline, &mut self.handle).await {
            Ok(joined) => (false, Some(joined)),
            Err(_) => {
                self.stop.cancel();
                let last = tokio::time::timeout(LAST_WORDS, &mut self.handle).await;
                (true, last.ok())
            }
        };
        let is_stopped = cancellation.is_cancelled();
        let (took, mut ending) = match joined {
            None => (None, Ending::failed("it did not stop when it was told to")),
            Some(Ok((took, Ok(outcome)))) => (Some(took), Ending::of(outcome)),
            Some(Ok((took, Err(error)))) => (Some(took), Ending::failed(error.to_string())),
            Some(Err(error)) if error.is_panic() => (None, Ending::panicked()),
            Some(Err(_)) => (None, Ending::failed("it was ended")),
        };
        if is_cut && ending.status != SubStatus::Answered {
            ending.cut(task.budget);
        } else if is_stopped && ending.status == SubStatus::Failed {
            ending.status = SubStatus::Cancelled;
        }
        ending.outcome(task, scope, took.unwrap_or_else(|| began.elapsed()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.handle.abort();
    }
}

/// How a sub-chain ended.
struct Ending {
    status: SubStatus,
    answer: Option<String>,
    error: Option<String>,
    metrics: Option<ChainMetrics>,
}

impl Ending {
    fn failed(error: impl Into<String>) -> Self {
        let error = Some(error.into());
        Self { status: SubStatus::Failed, answer: None, error, metrics: None }
    }

    fn panicked() -> Self {
        Self { status: SubStatus::Panicked, ..Self::failed("it panicked") }
    }

    fn of(outcome: ChainOutcome) -> Self {
        let status = match &outcome.stop {
            StopReason::Answer => SubStatus::Answered,
            StopReason::WallClock { .. } => SubStatus::Cut,
            _ => SubStatus::Failed,
        };
        let error = (status != SubStatus::Answered).then(|| outcome.stop.to_string());
        Self { status, answer: outcome.answer, error, metrics: Some(outcome.metrics) }
    }

    fn cut(&mut self, budget: Duration) {
        self.status = SubStatus::Cut;
        self.error = Some(format!("its time of {} ms was over", budget.as_millis()));
    }

    fn outcome(self, task: &CheckedTask, scope: Vec<String>, took: Duration) -> SubOutcome {
        SubOutcome {
            id: task.id.clone(),
            status: self.status,
            answer: self.answer,
            error: self.error,
            scope,
            metrics: self.metrics,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
