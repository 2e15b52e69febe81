//! One conversation on its way: the state of a chain, and the steps between turns.
//!
//! Every step gives the reason to stop as its error, so that the loop is a row of `?`. The state has one
//! owner, and nothing in here is shared.

use std::time::Duration;

use model::{ChatReply, ChatRequest, Message, Usage};
use tokio_util::sync::CancellationToken;
use tool_core::ProviderError;

use crate::{
    ChainEvent, ChainMetrics, ChainObserver, ChainOutcome, StopReason, ToolChain,
    context::{Fit, Full, Transcript, messages_tokens, reply_tokens, summary, tools_tokens},
    ids::CallIds,
    interrupt::Interrupt,
    repeat::RepeatWatch,
};

/// How long a summary may take.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a source of results may take to finish.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// A chain that runs.
pub(crate) struct Run<'a> {
    pub(crate) chain: &'a ToolChain,
    pub(crate) observer: &'a dyn ChainObserver,
    pub(crate) interrupt: Interrupt,
    pub(crate) transcript: Transcript,
    pub(crate) ids: CallIds,
    pub(crate) repeats: RepeatWatch,
    /// Replies in a row that were cut off.
    pub(crate) cut_off: u32,
    /// Replies in a row with nothing in them.
    pub(crate) empty: u32,
    pub(crate) answer: Option<String>,
    pub(crate) metrics: ChainMetrics,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        chain: &'a ToolChain,
        messages: Vec<Message>,
        task: usize,
        observer: &'a dyn ChainObserver,
        cancellation: CancellationToken,
    ) -> Self {
        Self {
            chain,
            observer,
            interrupt: Interrupt::new(cancellation, chain.limits.wall_clock()),
            ids: CallIds::of(&messages),
            transcript: Transcript::new(messages, task, tools_tokens(&chain.tools)),
            repeats: RepeatWatch::new(chain.limits.repeat_limit(), &chain.tools),
            cut_off: 0,
            empty: 0,
            answer: None,
            metrics: ChainMetrics::default(),
        }
    }

    /// Turns until a stop reason.
    pub(crate) async fn drive(mut self) -> ChainOutcome {
        let mut stop = loop {
            if let Err(stop) = self.step().await {
                break stop;
            }
        };
        if let Err(error) = self.finish(&stop).await {
            match stop {
                StopReason::Answer => stop = provider_error(&error),
                _ => tracing::debug!(%error, %stop, "the source of results did not end well"),
            }
        }
        self.metrics.set_wall_time(self.interrupt.elapsed());
        let metrics = self.metrics;
        self.emit(&ChainEvent::Stopped { stop: stop.clone(), metrics });
        let (answer, messages) = (self.answer, self.transcript.into_messages());
        ChainOutcome { stop, answer, messages, metrics }
    }

    async fn step(&mut self) -> Result<(), StopReason> {
        self.interrupt.check()?;
        self.check_budgets()?;
        self.make_room().await?;
        self.turn().await
    }

    fn check_budgets(&self) -> Result<(), StopReason> {
        let limits = &self.chain.limits;
        if self.metrics.turns >= limits.max_turns() {
            return Err(StopReason::MaxTurns { max_turns: limits.max_turns() });
        }
        match limits.token_budget() {
            Some(budget) if self.metrics.tokens() >= budget => {
                Err(StopReason::TokenBudget { budget, spent: self.metrics.tokens() })
            }
            _ => Ok(()),
        }
    }

    /// Evicts what has to leave so that the next request fits.
    async fn make_room(&mut self) -> Result<(), StopReason> {
        let (exchanges, summary_tokens) = match self.transcript.fit(&self.chain.context) {
            Fit::Fits => return Ok(()),
            Fit::Full(full) => return Err(context_full(full)),
            Fit::Evict { exchanges, summary_tokens } => (exchanges, summary_tokens),
        };
        let summary = match summary_tokens {
            Some(tokens) => self.summarize(exchanges, tokens).await?,
            None => None,
        };
        let is_summarized = summary.is_some();
        self.transcript.evict(exchanges, summary);
        self.metrics.evictions += u32::try_from(exchanges).unwrap_or(u32::MAX);
        self.metrics.summaries += u32::from(is_summarized);
        let (turn, estimated_tokens) = (self.metrics.turns + 1, self.transcript.tokens());
        self.emit(&ChainEvent::Evicted { turn, exchanges, is_summarized, estimated_tokens });
        // A summary costs tokens, too.
        self.check_budgets()
    }

    /// A summary of the oldest exchanges; `None` where it can't be had.
    async fn summarize(
        &mut self,
        exchanges: usize,
        tokens: u64,
    ) -> Result<Option<String>, StopReason> {
        let (transcript, sampling) = (&self.transcript, self.chain.sampling);
        let room = self.chain.context.room().unwrap_or(u64::MAX);
        let request = summary::request(transcript, exchanges, tokens, room, sampling);
        let reply = self.chain.model.chat(&request, &|_| {});
        match self.interrupt.watch(tokio::time::timeout(SUMMARY_TIMEOUT, reply)).await? {
            Ok(Ok(reply)) => {
                self.metrics.count_usage(reply.usage, || estimated_usage(&request, &reply));
                let text = summary::clip_summary(&reply.text, tokens);
                Ok((!text.is_empty()).then(|| text.to_owned()))
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "no summary; the oldest exchanges are dropped instead");
                Ok(None)
            }
            Err(_) => {
                tracing::warn!(timeout = ?SUMMARY_TIMEOUT, "no summary in time; exchanges are dropped");
                Ok(None)
            }
        }
    }

    /// Tells the source of results that no further call comes.
    async fn finish(&self, stop: &StopReason) -> Result<(), ProviderError> {
        if matches!(stop, StopReason::ProviderError { .. }) {
            return Ok(());
        }
        let finish = self.chain.provider.finish();
        tokio::time::timeout(FINISH_TIMEOUT, finish).await.unwrap_or_else(|_| {
            let message = format!("the source of results did not finish within {FINISH_TIMEOUT:?}");
            Err(ProviderError::new(message))
        })
    }

    pub(crate) fn emit(&self, event: &ChainEvent) {
        self.observer.on_event(event);
    }
}

/// What a request and its reply take, for providers that don't count.
pub(crate) fn estimated_usage(request: &ChatRequest, reply: &ChatReply) -> Usage {
    let input_tokens = messages_tokens(&request.messages) + tools_tokens(&request.tools);
    Usage { input_tokens, output_tokens: reply_tokens(reply) }
}

/// The reason for a source of results that is broken, its causes included.
pub(crate) fn provider_error(error: &ProviderError) -> StopReason {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    StopReason::ProviderError { message }
}

fn context_full(full: Full) -> StopReason {
    StopReason::ContextFull {
        estimated_tokens: full.estimated,
        window_tokens: full.window,
        reserve_tokens: full.reserve,
    }
}
