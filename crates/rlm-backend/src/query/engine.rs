//! Queries over the sessions of a manager: begun, counted, and told about.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::{
    NoObserver, Query, QueryConfig, QueryConfigError, QueryModels, QueryObserver, QueryOutcome,
    Replay, SessionTools, Spent, StopReason,
    budget::Budget,
    question::Question,
    run,
    session::QuerySession,
    session_cap::SessionLeft,
    tree::{Bounds, Level, Tree, lock},
};
use crate::{SandboxConfig, SessionError, SessionId, SessionManager, Waiting};

/// Runs recursive queries. Clones are the same engine.
#[derive(Debug, Clone)]
pub struct QueryEngine {
    shared: Arc<Shared>,
}

/// What all queries share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) manager: Arc<SessionManager>,
    pub(super) models: QueryModels,
    pub(super) config: QueryConfig,
    pub(super) system_prompt: Option<String>,
    /// The time of one block.
    pub(super) block_time: Duration,
    /// The most bytes of contexts that the code of a query hands to others.
    pub(super) max_upload: u64,
    tools: OnceLock<Arc<dyn SessionTools>>,
    /// Sessions in which a query runs.
    active: Mutex<BTreeSet<SessionId>>,
    uses: Mutex<BTreeMap<SessionId, SessionUse>>,
}

/// Why a query was not begun.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// There is no such session, none can be had, or another query runs in it.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// No model has this name.
    #[error("{0}")]
    Model(String),
    /// The queries of the session have taken all that they may.
    #[error("the queries of session {id} have spent its {key}; no more are accepted in it")]
    Spent {
        /// The session.
        id: SessionId,
        /// The setting of `[query]` of which nothing is left.
        key: &'static str,
    },
}

/// What the queries of a session took, from its first to now.
#[derive(Debug, Clone, Default)]
pub struct SessionUse {
    /// How many there were.
    pub queries: u64,
    /// What they spent.
    pub spent: Spent,
    /// How long they ran.
    pub time: Duration,
    /// How many levels of queries were below them, at most.
    pub depth: u64,
    /// Why the last one ended; `None` while the first one runs.
    pub last_stop: Option<StopReason>,
    /// Whether one runs now; what it spent until now is counted.
    pub is_running: bool,
    running: Option<(Budget, tokio::time::Instant)>,
}

/// Who watches a query, what ends it, and what was answered before.
#[derive(Debug)]
pub struct Watch {
    /// Sees every step.
    pub observer: Arc<dyn QueryObserver>,
    /// Ends it, and everything below it.
    pub cancel: CancellationToken,
    /// What need not be asked again.
    pub replay: Replay,
}

impl Default for Watch {
    fn default() -> Self {
        let (cancel, replay) = (CancellationToken::new(), Replay::default());
        Self { observer: Arc::new(NoObserver), cancel, replay }
    }
}

impl QueryEngine {
    /// Queries in the sessions of this manager. Starts nothing; reads the prompt where one is named.
    ///
    /// # Errors
    ///
    /// A value that can't be used.
    pub fn new(
        manager: Arc<SessionManager>,
        models: QueryModels,
        config: QueryConfig,
        sandbox: &SandboxConfig,
    ) -> Result<Self, QueryConfigError> {
        config.check()?;
        if config.max_cost_micros.max(config.session_max_cost_micros) > 0
            && let Some(model) = models.names().find(|name| !config.prices.contains_key(*name))
        {
            return Err(QueryConfigError::NoPrice { model: model.to_owned() });
        }
        let system_prompt = config.system_prompt.as_ref().map(|path| {
            std::fs::read_to_string(path).map_err(|error| QueryConfigError::Prompt {
                path: path.clone(),
                message: error.to_string(),
            })
        });
        let shared = Shared {
            manager,
            models,
            system_prompt: system_prompt.transpose()?,
            config,
            block_time: sandbox.timeout(),
            max_upload: sandbox.disk_bytes,
            tools: OnceLock::new(),
            active: Mutex::default(),
            uses: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Offers tools to the code of queries. Only the first offer counts.
    pub fn offer(&self, tools: Arc<dyn SessionTools>) {
        let _ = self.shared.tools.set(tools);
    }

    /// The longest that a query may take.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.shared.config.time()
    }

    /// Returns when the sessions of queries can be made without a wait for what takes long to get. It is
    /// part of no query, and of no query's time.
    ///
    /// # Errors
    ///
    /// A backend that can't be had, or is not ready in time.
    pub async fn prepare(&self, waiting: Waiting) -> Result<(), SessionError> {
        self.shared.manager.prepare(waiting).await
    }

    /// Asks a question. A caller that drops the future ends the query and all below it.
    ///
    /// # Errors
    ///
    /// [`QueryError`], where no model was asked. Everything later is an outcome.
    pub async fn ask(&self, query: Query, watch: Watch) -> Result<QueryOutcome, QueryError> {
        let shared = &self.shared;
        let model = shared.models.pick(query.model.as_deref(), &shared.models.root);
        let model = Arc::clone(model.map_err(QueryError::Model)?);
        let Watch { observer, cancel, replay } = watch;
        // What runs below ends also where this future is dropped.
        let cancel = cancel.child_token();
        let _ended = cancel.clone().drop_guard();
        let bounds = self.bounds(&query);
        let tree = Tree::new(Arc::clone(shared), bounds, observer, cancel, replay);
        let session = match query.session {
            Some(id) => QuerySession::given(shared, id)?,
            None => run::open(&tree, &query.context).await?,
        };
        let id = session.id;
        let budget = self.budget(&query)?;
        let level = Level::new(Arc::new(tree), 0, None, 0, budget.clone());
        let counted = Counted::begin(shared, id, budget);
        let question = Question { prompt: query.prompt, context: query.context, model };
        let outcome = run::run(Arc::new(level), question, session).await;
        counted.end(&outcome);
        Ok(outcome)
    }

    /// What the queries of a session took; `None` where there was none.
    #[must_use]
    pub fn session_use(&self, id: SessionId) -> Option<SessionUse> {
        let mut found = lock(&self.shared.uses).get(&id).cloned()?;
        if let Some((budget, since)) = found.running.take() {
            found.spent.add(&budget.spent());
            found.time += since.elapsed();
            found.is_running = true;
        }
        Some(found)
    }

    /// What is left for the next query of a session.
    #[must_use]
    pub fn session_left(&self, id: SessionId) -> SessionLeft {
        SessionLeft::of(&self.shared.config, &self.session_use(id).unwrap_or_default())
    }

    fn bounds(&self, query: &Query) -> Bounds {
        let (config, asked) = (&self.shared.config, &query.budget);
        Bounds {
            depth: least(asked.depth, config.max_depth),
            iterations: least(asked.iterations, config.max_iterations).max(1),
        }
    }

    /// What is asked for, of what the operator allows, of what is left of its session's.
    fn budget(&self, query: &Query) -> Result<Budget, QueryError> {
        let (config, asked) = (&self.shared.config, &query.budget);
        let mut allowance = config.allowance();
        allowance.tokens = least(asked.tokens, allowance.tokens);
        allowance.sub_calls = least(asked.sub_calls, allowance.sub_calls);
        let time = asked.time(config.time());
        let Some(id) = query.session else { return Ok(Budget::new(allowance, time)) };
        let left = self.session_left(id);
        if let Some(key) = left.ended() {
            return Err(QueryError::Spent { id, key });
        }
        let (allowance, time) = left.bound(allowance, time);
        Ok(Budget::new(allowance, time))
    }
}

fn least(asked: Option<u64>, most: u64) -> u64 {
    asked.map_or(most, |asked| asked.min(most))
}

impl Shared {
    pub(super) fn tools(&self) -> Option<&Arc<dyn SessionTools>> {
        self.tools.get()
    }

    /// Takes a session for a query; `false` where another has it.
    pub(super) fn claim(&self, id: SessionId) -> bool {
        lock(&self.active).insert(id)
    }

    pub(super) fn release(&self, id: SessionId) {
        lock(&self.active).remove(&id);
    }
}

/// A query that is counted among those of its session, however it ends.
struct Counted<'a> {
    shared: &'a Shared,
    id: SessionId,
    budget: Budget,
    began: tokio::time::Instant,
    depth: u64,
    stop: StopReason,
}

impl<'a> Counted<'a> {
    fn begin(shared: &'a Shared, id: SessionId, budget: Budget) -> Self {
        let began = tokio::time::Instant::now();
        let mut uses = lock(&shared.uses);
        uses.retain(|id, _| shared.manager.backend(*id).is_ok());
        let it = uses.entry(id).or_default();
        it.queries += 1;
        it.running = Some((budget.clone(), began));
        drop(uses);
        Self { shared, id, budget, began, depth: 0, stop: StopReason::Cancelled }
    }

    fn end(mut self, outcome: &QueryOutcome) {
        (self.depth, self.stop) = (outcome.levels_below, outcome.stop);
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if let Some(it) = lock(&self.shared.uses).get_mut(&self.id) {
            it.running = None;
            it.spent.add(&self.budget.spent());
            it.time += self.began.elapsed();
            it.depth = it.depth.max(self.depth);
            it.last_stop = Some(self.stop);
        }
    }
}
