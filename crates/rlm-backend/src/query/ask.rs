//! One request to a model: held in the budget, replayed where it was answered before, given up in time.

use std::{sync::Arc, time::Instant};

use model::{ChatRequest, FinishReason, Message, Model, Usage};
use thiserror::Error;

use super::{
    StopReason,
    replay::{OldReply, digest},
    tree::{Level, lock},
};

/// What a reply is taken to have where nothing bounds it.
const USUAL_REPLY: u64 = 1024;
/// The least that a reply needs.
const LEAST_REPLY: u64 = 16;
/// From here on a model is told how many tokens its reply may have.
const SCARCE: u64 = 16_384;

/// A reply.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) model: String,
    pub(super) digest: String,
    pub(super) text: String,
    /// Whether the provider cut it off.
    pub(super) is_cut: bool,
    pub(super) usage: Usage,
    pub(super) ms: f64,
    pub(super) is_replayed: bool,
}

/// Why there is no reply.
#[derive(Debug, Error)]
pub(super) enum AskError {
    /// A budget, or the caller, ended it.
    #[error("{}", refusal(*.0))]
    Stopped(StopReason),
    /// The model could not be had.
    #[error("{0}")]
    Model(String),
}

impl AskError {
    /// The word for it that programs read.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Stopped(stop) => stop.as_str(),
            Self::Model(_) => "model_error",
        }
    }
}

/// What code reads of a budget that has ended.
pub(super) fn refusal(stop: StopReason) -> &'static str {
    match stop {
        StopReason::TokenBudget => "the tokens of this query are spent",
        StopReason::CostBudget => "what this query may cost is spent",
        StopReason::SubCalls => "no more sub-calls are left to this query",
        StopReason::Depth => "no query may be deeper than this one; use llm_query",
        StopReason::TimeBudget => "the time of this query is over",
        StopReason::Cancelled => "the query was cancelled",
        _ => "the query has ended",
    }
}

/// Asks a model, within the budget of a query.
pub(super) async fn ask(
    level: &Level,
    model: &Arc<dyn Model>,
    messages: Vec<Message>,
) -> Result<Answered, AskError> {
    let tree = &level.tree;
    let price = tree.config().price(model.name());
    let input = estimate(&messages);
    let sampling = tree.shared.models.sampling;
    let reply = sampling.max_tokens.map_or(USUAL_REPLY, u64::from);
    let hold = level.budget.hold(input + LEAST_REPLY.min(reply), input + reply, |tokens| {
        price.of(input, tokens.saturating_sub(input))
    });
    let held = level.within(hold).await.and_then(|held| held).map_err(AskError::Stopped)?;
    let started = Instant::now();
    let mut request = ChatRequest { messages, tools: Vec::new(), sampling };
    let digest = digest(model.name(), &request);
    let old = lock(&tree.replay).take(&digest);
    let is_replayed = old.is_some();
    let left = (level.budget.left().tokens + held.tokens()).saturating_sub(input).max(LEAST_REPLY);
    if left < SCARCE {
        let most = u32::try_from(left).unwrap_or(u32::MAX);
        request.sampling.max_tokens = Some(sampling.max_tokens.map_or(most, |set| set.min(most)));
    }
    let reply = match old {
        Some(old) => old,
        None => {
            level.within(fresh(&**model, &request, input)).await.map_err(AskError::Stopped)??
        }
    };
    let usage = reply.usage;
    held.settle(usage, price.of(usage.input_tokens, usage.output_tokens));
    let (text, is_cut, model) = (reply.text, reply.is_cut, model.name().to_owned());
    let ms = super::tree::ms(started.elapsed());
    Ok(Answered { model, digest, text, is_cut, usage, ms, is_replayed })
}

async fn fresh(model: &dyn Model, request: &ChatRequest, input: u64) -> Result<OldReply, AskError> {
    let reply = model.chat(request, &|_| {}).await;
    let reply = reply.map_err(|error| AskError::Model(error.to_string()))?;
    let guess = || Usage { input_tokens: input, output_tokens: tokens(reply.text.len()) };
    let usage = reply.usage.unwrap_or_else(guess);
    Ok(OldReply { is_cut: reply.finish == FinishReason::Length, text: reply.text, usage })
}

/// About how many tokens a conversation has. Providers count otherwise; what they count is booked.
pub(super) fn estimate(messages: &[Message]) -> u64 {
    let text = |message: &Message| match message {
        Message::System(text) | Message::User(text) => text.len(),
        Message::Assistant(reply) => reply.text.len(),
        Message::Tool { content, .. } => content.len(),
    };
    messages.iter().map(|message| message_tokens(text(message))).sum()
}

/// The same of a message of this many bytes.
pub(super) fn message_tokens(bytes: usize) -> u64 {
    tokens(bytes) + 4
}

fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}
