//! A program that plays the model, an engine that asks it, and rows of the table.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use model::{ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError, Usage};
use rlm_backend::{
    LocalBackend, QueryConfig, QueryEngine, QueryModels, QueryObserver, QueryRecord, SandboxConfig,
    SessionManager, Watch,
};
use tool_core::BoxFuture;

type Play = dyn Fn(usize, &str) -> String + Send + Sync;

/// A program that plays a model: it is given the number of the turn, from 0, and the last message.
pub(crate) struct Program {
    play: Box<Play>,
    latency: Duration,
    played: Mutex<Duration>,
}

impl Program {
    pub(crate) fn new(
        latency: Duration,
        play: impl Fn(usize, &str) -> String + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { play: Box::new(play), latency, played: Mutex::default() })
    }

    /// How long it took for its replies, in seconds.
    pub(crate) fn played(&self) -> f64 {
        self.played.lock().unwrap().as_secs_f64()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program")
    }
}

impl Model for Program {
    fn name(&self) -> &str {
        "program"
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let is_reply = |message: &&Message| matches!(message, Message::Assistant(_));
            let turn = request.messages.iter().filter(is_reply).count();
            let Some(Message::User(last)) = request.messages.last() else { panic!("no question") };
            if !self.latency.is_zero() {
                tokio::time::sleep(self.latency).await;
            }
            let began = Instant::now();
            let text = (self.play)(turn, last);
            *self.played.lock().unwrap() += began.elapsed();
            Ok(ChatReply {
                text,
                reasoning: None,
                calls: Vec::new(),
                finish: FinishReason::Stop,
                usage: Some(Usage { input_tokens: 1, output_tokens: 1 }),
                opaque: None,
            })
        })
    }
}

/// An engine whose code asks `leaf`.
pub(crate) fn engine(root: Arc<Program>, leaf: Arc<Program>) -> QueryEngine {
    let memory_bytes = 4 << 30;
    let sandbox = SandboxConfig { memory_bytes, ..SandboxConfig::default() };
    let backend = Arc::new(LocalBackend::new(sandbox.clone()));
    let manager = Arc::new(SessionManager::new(backend, sandbox.clone()));
    let config = QueryConfig {
        max_tokens: 1 << 40,
        max_iterations: 1000,
        max_sub_calls: 1 << 20,
        ..QueryConfig::default()
    };
    QueryEngine::new(manager, QueryModels::new(root).with_leaf(leaf), config, &sandbox).unwrap()
}

/// Keeps every step.
#[derive(Debug, Default)]
pub(crate) struct Kept(pub(crate) Mutex<Vec<QueryRecord>>);

impl QueryObserver for Kept {
    fn observe(&self, record: &QueryRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}

pub(crate) fn watch(kept: &Arc<Kept>) -> Watch {
    Watch { observer: Arc::clone(kept) as _, ..Watch::default() }
}

pub(crate) fn python(code: &str) -> String {
    format!("```repl\n{code}\n```")
}

/// Prints a row of times in seconds.
pub(crate) fn row(work: &str, ours: f64, peer: &str, theirs: f64, bar: Option<f64>) {
    let ratio = ours / theirs;
    let bar = match bar {
        Some(bar) if ratio <= bar => format!("≤ {bar}, kept"),
        Some(bar) => format!("≤ {bar}, MISSED"),
        None => String::new(),
    };
    println!("| {work} | {} | {peer} | {} | {ratio:.3} | {bar} |", time(ours), time(theirs));
}

pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
