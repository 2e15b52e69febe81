//! `recursive_query`: a question that a model answers by working in a session.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tool_core::{ExecContext, ToolOutput, ValidatedArgs};

use super::{
    failure::Failure,
    live::LiveQuery,
    operations::{Operations, session, waiting},
};
use crate::{
    Context, Query, QueryBudget, QueryError, QueryOutcome, SessionId, SessionUse, Spent,
    StopReason, Watch, query::clipped,
};

/// What is said where no model is configured.
pub(super) const NO_MODEL: &str =
    "no model is configured for recursive queries; name one in [model]";
/// What is kept back of a call's time for the end of a query.
pub(super) const MARGIN: Duration = Duration::from_secs(2);
/// What is kept free in a result for everything but the answer.
const FRAME: usize = 2048;

impl Operations {
    pub(super) async fn query(
        &self,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        let engine = self.queries.as_ref().map_err(|why| Failure::Unavailable(why.clone()))?;
        let id = session(args)?;
        if id.is_none() {
            self.manager.prepare(waiting(ctx)).await?;
        }
        let cancel = CancellationToken::new();
        let observer = Arc::new(LiveQuery::new(ctx.clone()));
        let watch = Watch { observer, cancel: cancel.clone(), ..Watch::default() };
        let mut ask = std::pin::pin!(engine.ask(query(args, id, ctx)?, watch));
        let outcome = tokio::select! {
            outcome = &mut ask => outcome,
            () = ctx.cancelled() => {
                cancel.cancel();
                ask.await
            }
        };
        let outcome = outcome.map_err(|error| match error {
            QueryError::Session(error) => error.into(),
            error @ (QueryError::Model(_) | QueryError::Spent { .. }) => {
                Failure::Argument(error.to_string())
            }
        })?;
        match outcome.stop {
            StopReason::Cancelled => Err(Failure::Cancelled),
            StopReason::ModelError if outcome.answer.is_null() => {
                Err(Failure::Argument(outcome.message.unwrap_or_default()))
            }
            _ => Ok(output(id, &outcome, ctx)),
        }
    }

    /// What the queries of a session took, where it had some.
    pub(super) fn session_use(&self, id: SessionId) -> Option<Value> {
        let engine = self.queries.as_ref().ok()?;
        let SessionUse { queries, spent, time, depth, last_stop, is_running, .. } =
            engine.session_use(id)?;
        let mut all = json!({
            "queries": queries,
            "running": is_running,
            "time_ms": whole_ms(time),
            "depth": depth,
            "last_stop": last_stop,
            "left": engine.session_left(id),
        });
        if let Some(all) = all.as_object_mut() {
            all.append(&mut spent_json(spent));
        }
        Some(all)
    }
}

fn query(args: &ValidatedArgs, id: Option<SessionId>, ctx: &ExecContext) -> Result<Query, Failure> {
    let budget = args.get("budget").cloned().unwrap_or_else(|| json!({}));
    let mut budget: QueryBudget =
        serde_json::from_value(budget).map_err(|error| Failure::Argument(error.to_string()))?;
    let left = ctx.remaining();
    let time = budget.time(left - (left / 4).min(MARGIN));
    budget.time_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let context = args.get("context").cloned().map_or(Context::None, Context::Value);
    Ok(Query {
        prompt: args.get_str("prompt").unwrap_or_default().to_owned(),
        context,
        session: id,
        model: args.get_str("model").map(str::to_owned),
        budget,
    })
}

fn output(id: Option<SessionId>, outcome: &QueryOutcome, ctx: &ExecContext) -> ToolOutput {
    let room = ctx.limits().max_output().as_usize().saturating_sub(FRAME);
    let (answer, is_cut) = bounded(&outcome.answer, room);
    let mut all = json!({
        "success": outcome.stop.is_answer(),
        "answer": answer,
        "stop": outcome.stop,
        "turns": outcome.turns,
        "depth": outcome.levels_below,
        "truncated": is_cut,
        "duration_ms": whole_ms(outcome.duration),
    });
    if let Some(all) = all.as_object_mut() {
        all.append(&mut spent_json(outcome.spent));
        if let Some(id) = id {
            all.insert("session_id".to_owned(), id.to_string().into());
        }
        if let Some(message) = &outcome.message {
            let message = clipped(message, FRAME / 4);
            all.insert("message".to_owned(), message.into());
        }
    }
    ToolOutput::json(all)
}

/// The answer, or a part of it as a text, and whether something is left out.
fn bounded(answer: &Value, room: usize) -> (Value, bool) {
    let length = |value: &Value| value.to_string().len();
    if length(answer) <= room {
        return (answer.clone(), false);
    }
    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    let mut kept = room / 2;
    loop {
        let part = Value::from(clipped(&text, kept));
        if length(&part) <= room || kept < 64 {
            return (part, true);
        }
        kept /= 2;
    }
}

fn spent_json(spent: Spent) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("input_tokens".to_owned(), spent.input_tokens.into());
    all.insert("output_tokens".to_owned(), spent.output_tokens.into());
    all.insert("sub_calls".to_owned(), spent.sub_calls.into());
    if spent.cost_micros > 0 {
        all.insert("cost_micros".to_owned(), spent.cost_micros.into());
    }
    all
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
