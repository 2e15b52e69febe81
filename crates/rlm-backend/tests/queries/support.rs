//! A program that plays a model, and an engine that asks it.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use model::{ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError, Usage};
use rlm_backend::{
    Context, Query, QueryConfig, QueryEngine, QueryEvent, QueryModels, QueryObserver, QueryOutcome,
    QueryRecord, SandboxConfig, SessionManager, Watch,
};
use serde_json::Value;
use tool_core::BoxFuture;

/// Ends a test where the backend that it is about is not there, which has said so.
macro_rules! here {
    () => {
        if !crate::backend::is_there() {
            return;
        }
    };
}
pub(crate) use here;

/// What a program says, after how long.
pub(crate) struct Said {
    pub(crate) reply: Result<String, String>,
    pub(crate) after: Duration,
    pub(crate) finish: FinishReason,
    pub(crate) usage: Usage,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        let usage = Usage { input_tokens: 10, output_tokens: 5 };
        Self { reply: Ok(text), after: Duration::ZERO, finish: FinishReason::Stop, usage }
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

type Play = dyn Fn(u64, &str) -> Said + Send + Sync;

/// A program that plays a model: it is given the number of the request, from 0, and the last message.
pub(crate) struct Program {
    name: String,
    play: Box<Play>,
    requests: AtomicU64,
    in_flight: AtomicUsize,
    pub(crate) most_in_flight: AtomicUsize,
    pub(crate) last_request: Mutex<Vec<Message>>,
}

impl Program {
    pub(crate) fn new<S: Into<Said>>(
        name: &str,
        play: impl Fn(u64, &str) -> S + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            play: Box::new(move |number, last| play(number, last).into()),
            requests: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
            last_request: Mutex::default(),
        })
    }

    /// One that gives these replies in order, and the last one again and again.
    pub(crate) fn script<const N: usize>(replies: [&str; N]) -> Arc<Self> {
        let replies = replies.map(str::to_owned);
        Self::new("root", move |number, _: &str| {
            let at = usize::try_from(number).unwrap().min(replies.len() - 1);
            replies[at].clone()
        })
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Counts a request for as long as it lives.
struct InFlight<'a>(&'a Program);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Model for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_in_flight.fetch_max(now, Ordering::SeqCst);
            let _counted = InFlight(self);
            self.last_request.lock().unwrap().clone_from(&request.messages);
            let last = match request.messages.last() {
                Some(Message::User(text)) => text.as_str(),
                other => panic!("{other:?}"),
            };
            let said = (self.play)(number, last);
            tokio::time::sleep(said.after).await;
            let text = said.reply.map_err(|message| ModelError::Transport {
                provider: "test".to_owned(),
                message,
            })?;
            Ok(ChatReply {
                text,
                reasoning: None,
                calls: Vec::new(),
                finish: said.finish,
                usage: Some(said.usage),
                opaque: None,
            })
        })
    }
}

/// Keeps every step.
#[derive(Debug, Default)]
pub(crate) struct Kept(pub(crate) Mutex<Vec<QueryRecord>>);

impl QueryObserver for Kept {
    fn observe(&self, record: &QueryRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}

impl Kept {
    pub(crate) fn events(&self) -> Vec<QueryEvent> {
        self.0.lock().unwrap().iter().map(|record| record.event.clone()).collect()
    }

    /// What the blocks gave, in order.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let output = |event| match event {
            QueryEvent::Block { output, .. } => Some(output),
            _ => None,
        };
        self.events().into_iter().filter_map(output).collect()
    }
}

/// An engine over sessions of the backend that the tests are for.
pub(crate) struct Bench {
    pub(crate) manager: Arc<SessionManager>,
    pub(crate) engine: QueryEngine,
    pub(crate) kept: Arc<Kept>,
}

impl Bench {
    pub(crate) fn new(root: &Arc<Program>) -> Self {
        Self::with(QueryModels::new(Arc::clone(root) as _), |_| {})
    }

    pub(crate) fn with_leaf(root: &Arc<Program>, leaf: &Arc<Program>) -> Self {
        let models = QueryModels::new(Arc::clone(root) as _);
        Self::with(models.with_leaf(Arc::clone(leaf) as _), |_| {})
    }

    pub(crate) fn with(models: QueryModels, set: impl FnOnce(&mut QueryConfig)) -> Self {
        let sandbox = SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() };
        Self::over(crate::backend::manager(sandbox.clone()), &sandbox, models, set)
    }

    /// The same over these sessions.
    pub(crate) fn over(
        manager: SessionManager,
        sandbox: &SandboxConfig,
        models: QueryModels,
        set: impl FnOnce(&mut QueryConfig),
    ) -> Self {
        let manager = Arc::new(manager);
        let mut config = QueryConfig::default();
        set(&mut config);
        let engine = QueryEngine::new(Arc::clone(&manager), models, config, sandbox).unwrap();
        Self { manager, engine, kept: Arc::default() }
    }

    pub(crate) fn watch(&self) -> Watch {
        Watch { observer: Arc::clone(&self.kept) as _, ..Watch::default() }
    }

    pub(crate) async fn ask(&self, prompt: &str, context: Context) -> QueryOutcome {
        let query = Query { prompt: prompt.to_owned(), context, ..Query::default() };
        self.run(query).await
    }

    pub(crate) async fn run(&self, query: Query) -> QueryOutcome {
        let outcome = self.engine.ask(query, self.watch()).await.unwrap();
        assert!(outcome.spent.tokens() <= 1 << 40);
        outcome
    }

    /// What code prints, with this context.
    pub(crate) async fn about(&self, context: impl Into<Value>) -> QueryOutcome {
        self.ask("?", Context::Value(context.into())).await
    }
}

/// A reply that is one block of Python.
pub(crate) fn python(code: &str) -> String {
    format!("```python\n{code}\n```")
}
