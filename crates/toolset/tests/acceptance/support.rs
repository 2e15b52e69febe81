//! A workdir with files, the chain over it, and a model that remembers what it was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use chain::{ChainOutcome, NoObserver, ToolChain};
use model::{ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError};
use sandbox::{SandboxedToolProvider, ToolSandbox};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tool_core::{BoxFuture, ToolCall};
use toolset::{Config, create_default_registry};

/// A model that gives replies one after the other.
#[derive(Debug)]
struct Recording {
    replies: Mutex<VecDeque<ChatReply>>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Model for Recording {
    fn name(&self) -> &str {
        "recording"
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.requests.lock().unwrap().push(request.clone());
        let reply = self.replies.lock().unwrap().pop_front();
        Box::pin(async move { reply.ok_or(ModelError::ScriptEnded { replies: 0 }) })
    }
}

/// A reply with a text.
pub(crate) fn says(text: &str) -> ChatReply {
    ChatReply {
        text: text.to_owned(),
        reasoning: None,
        calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: None,
        opaque: None,
    }
}

/// A reply with calls: id, name, arguments.
pub(crate) fn asks(calls: &[(&str, &str, &str)]) -> ChatReply {
    let calls =
        calls.iter().map(|(id, name, args)| ToolCall::from_text(*id, *name, *args)).collect();
    ChatReply { calls, finish: FinishReason::ToolCalls, ..says("") }
}

/// A workdir, and a file beside it.
pub(crate) struct Bench {
    dir: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let work = dir.path().join("work");
        std::fs::create_dir(&work).unwrap();
        std::fs::write(work.join("note.txt"), "The note: καλημέρα\n").unwrap();
        let lines: String = (0..2000).map(|n| format!("{n:04}\n")).collect();
        std::fs::write(work.join("long.txt"), lines).unwrap();
        std::fs::write(dir.path().join("outside.txt"), "secret").unwrap();
        Self { dir }
    }

    /// A chain with a model over the workdir, in which one tool may be called and 1,000 bytes read.
    pub(crate) fn chain(&self, model: Arc<dyn Model>) -> ToolChain {
        let mut config = Config::default();
        config.tools.workdir = Some(self.dir.path().join("work"));
        config.limits.max_output_bytes = 1000;
        let registry = Arc::new(create_default_registry(&config).unwrap());
        let scope = registry.scope(["read_file_in_workdir"]).unwrap();
        let sandbox = ToolSandbox::new(registry, scope, config.limits.limits().unwrap());
        let offered = sandbox.offered();
        let provider = SandboxedToolProvider::new(Arc::new(sandbox), 4);
        ToolChain::new(model, Arc::new(provider)).with_tools(offered)
    }

    /// Runs the chain with these replies; gives its outcome, and what the model was asked.
    pub(crate) async fn run<const N: usize>(
        &self,
        replies: [ChatReply; N],
    ) -> (ChainOutcome, Vec<ChatRequest>) {
        let replies = Mutex::new(replies.into());
        let model = Arc::new(Recording { replies, requests: Mutex::default() });
        let chain = self.chain(Arc::clone(&model) as _);
        let outcome = chain.run(task(), &NoObserver, CancellationToken::new()).await.unwrap();
        let requests = model.requests.lock().unwrap().clone();
        (outcome, requests)
    }
}

pub(crate) fn task() -> Vec<Message> {
    vec![Message::System("Be brief.".to_owned()), Message::User("What is in it?".to_owned())]
}
