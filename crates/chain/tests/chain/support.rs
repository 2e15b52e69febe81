//! A model that follows a script, sources of results made of a function, and what must hold always.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    sync::{Arc, Mutex},
};

use chain::{ChainLimits, ChainOutcome, NoObserver, ToolChain};
use model::{
    ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError, Sampling, Usage,
};
use tool_core::{BoxFuture, ProviderError, ToolCall, ToolOutput, ToolResult, ToolResultProvider};

/// What the model does when it is asked.
pub(crate) enum Step {
    Reply(ChatReply),
    Fail(ModelError),
    /// It never answers; the flag is dropped with the request.
    Hang(Arc<()>),
}

impl From<ChatReply> for Step {
    fn from(reply: ChatReply) -> Self {
        Self::Reply(reply)
    }
}

/// A model that follows a script and remembers what it was asked.
pub(crate) struct Script {
    steps: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Script {
    pub(crate) fn new<S: Into<Step>>(steps: impl IntoIterator<Item = S>) -> Arc<Self> {
        let steps = Mutex::new(steps.into_iter().map(Into::into).collect());
        Arc::new(Self { steps, requests: Mutex::default() })
    }

    pub(crate) fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Model for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        _on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.requests.lock().unwrap().push(request.clone());
        let step = self.steps.lock().unwrap().pop_front();
        Box::pin(async move {
            match step {
                Some(Step::Reply(reply)) => Ok(reply),
                Some(Step::Fail(error)) => Err(error),
                Some(Step::Hang(_held)) => std::future::pending().await,
                None => Err(ModelError::ScriptEnded { replies: self.requests().len() - 1 }),
            }
        })
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
pub(crate) fn asks<const N: usize>(calls: [(&str, &str, &str); N]) -> ChatReply {
    let calls = calls.map(|(id, name, arguments)| ToolCall::from_text(id, name, arguments)).into();
    ChatReply { calls, finish: FinishReason::ToolCalls, ..says("") }
}

/// The same reply, with what it cost.
pub(crate) fn costing(reply: ChatReply, input_tokens: u64, output_tokens: u64) -> ChatReply {
    ChatReply { usage: Some(Usage { input_tokens, output_tokens }), ..reply }
}

/// The same reply, ended by its token limit.
pub(crate) fn cut(reply: ChatReply) -> ChatReply {
    ChatReply { finish: FinishReason::Length, ..reply }
}

type AnswerFn = dyn Fn(&ToolCall) -> Result<ToolResult, ProviderError> + Send + Sync;

/// A source of results made of a function; it remembers the calls.
pub(crate) struct Answers {
    pub(crate) calls: Mutex<Vec<ToolCall>>,
    answer: Box<AnswerFn>,
}

impl Answers {
    pub(crate) fn new(
        answer: impl Fn(&ToolCall) -> Result<ToolResult, ProviderError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { calls: Mutex::default(), answer: Box::new(answer) })
    }

    /// Says `done` to everything.
    pub(crate) fn done() -> Arc<Self> {
        Self::new(|call| Ok(ok(call, "done")))
    }

    pub(crate) fn count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

impl ToolResultProvider for Answers {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolResult, ProviderError>> {
        let result = (self.answer)(&call);
        self.calls.lock().unwrap().push(call);
        Box::pin(async move { result })
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }
}

pub(crate) fn ok(call: &ToolCall, text: &str) -> ToolResult {
    ToolResult::ok(call.id.clone(), call.name.clone(), ToolOutput::text(text))
}

pub(crate) fn task() -> Vec<Message> {
    vec![Message::System("Be brief.".to_owned()), Message::User("Do it.".to_owned())]
}

pub(crate) fn chain_of(model: &Arc<Script>, provider: &Arc<Answers>) -> ToolChain {
    ToolChain::new(Arc::clone(model) as _, Arc::clone(provider) as _)
}

/// A chain whose model may write 100 tokens a reply.
pub(crate) fn chain_with(
    model: &Arc<Script>,
    provider: &Arc<Answers>,
    limits: ChainLimits,
) -> ToolChain {
    let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
    chain_of(model, provider).with_limits(limits).with_sampling(sampling)
}

/// Runs the chain on the usual task, and checks what must hold for every outcome.
pub(crate) async fn run(chain: &ToolChain) -> ChainOutcome {
    let outcome = chain.run(task(), &NoObserver, Default::default()).await.unwrap();
    check_invariants(&outcome);
    outcome
}

/// Every call has exactly one result, right after its reply, in the order of the calls; ids are unique.
pub(crate) fn check_invariants(outcome: &ChainOutcome) {
    let mut seen = HashSet::new();
    let mut open = VecDeque::new();
    for message in &outcome.messages {
        match message {
            Message::Tool { call_id, .. } => {
                assert_eq!(open.pop_front().as_ref(), Some(call_id), "a result at its place");
            }
            other => {
                assert!(open.is_empty(), "{open:?} have no result before {other:?}");
                if let Message::Assistant(reply) = other {
                    open.extend(reply.calls.iter().map(|call| call.id.to_string()));
                    assert!(reply.calls.iter().all(|call| seen.insert(call.id.clone())));
                }
            }
        }
    }
    assert!(open.is_empty(), "{open:?} have no result at the end");
    let calls = usize::try_from(outcome.metrics.calls).unwrap();
    assert_eq!(calls, seen.len(), "every call is counted once");
}

/// The contents of the tool messages.
pub(crate) fn results(messages: &[Message]) -> Vec<&str> {
    let contents = messages.iter().filter_map(|message| match message {
        Message::Tool { content, .. } => Some(content.as_str()),
        _ => None,
    });
    contents.collect()
}
