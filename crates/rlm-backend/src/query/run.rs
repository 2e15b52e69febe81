//! The loop of one query: a turn of the model, its blocks in order, what they gave, the next turn.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use model::Message;
use serde_json::{Value, json};
use tool_core::{BoxFuture, ToolSpec};

use super::{
    Context, QueryEvent, QueryOutcome, StopReason, ask,
    clipped::clipped,
    history::History,
    outcome::End,
    prompts,
    question::Question,
    reply::{self, Block, Final, Reply, Tag},
    session::{QuerySession, Signal},
    tree::{Level, Tree, ms},
};
use crate::{Language, Ran, SessionError, StateAfter};

/// How many characters of a question stand in a trajectory.
const SHOWN_PROMPT: usize = 4000;
/// How long the end of a query waits for what it had written down.
const LAST_LOOK: Duration = Duration::from_millis(500);

/// A session for a query that has none.
pub(super) async fn open(tree: &Tree, context: &Context) -> Result<QuerySession, SessionError> {
    QuerySession::new(&tree.shared, context).await
}

/// Works on a question until it is answered, or until something ends it. Whatever happens, the session
/// is left or ended, and everything that was held is given back.
pub(super) fn run(
    level: Arc<Level>,
    question: Question,
    session: QuerySession,
) -> BoxFuture<'static, QueryOutcome> {
    Box::pin(async move {
        let started = Instant::now();
        let tools = level.tree.shared.tools().map(|tools| tools.offered()).unwrap_or_default();
        let mut query = Query::new(&level, &question, &session, &tools);
        let mut end = match query.work().await {
            Ok(end) | Err(end) => end,
        };
        if end.stop == StopReason::ModelError
            && tokio::time::Instant::now() >= level.budget.deadline()
        {
            // A session that can't be had once the time is over is no fault of the session.
            end.stop = StopReason::TimeBudget;
        }
        if !end.stop.is_answer() && end.stop != StopReason::Cancelled {
            let look = tokio::time::timeout(LAST_LOOK, session.signal()).await;
            let draft = look.ok().and_then(Result::ok).and_then(|signal| signal.draft);
            end.answer = draft.or(query.last_words.take()).unwrap_or_default();
        }
        let turns = query.turns;
        session.close().await;
        let End { stop, answer, message } = end;
        let outcome = QueryOutcome {
            stop,
            answer,
            message,
            spent: level.budget.spent(),
            turns,
            levels_below: level.tree.deepest().saturating_sub(level.depth),
            duration: started.elapsed(),
        };
        level.tree.emit(QueryEvent::End {
            query: level.query,
            stop,
            answer: outcome.answer.clone(),
            message: outcome.message.clone(),
            spent: outcome.spent,
            turns: outcome.turns,
            ms: ms(outcome.duration),
        });
        outcome
    })
}

/// A query that is under way.
struct Query<'a> {
    level: &'a Arc<Level>,
    question: &'a Question,
    session: &'a QuerySession,
    tools: &'a [ToolSpec],
    turns: u64,
    /// Whether the last reply had neither code nor an answer.
    was_reminded: bool,
    /// What was refused in an earlier turn: asking for it again ends the query.
    refused: Option<StopReason>,
    /// The last reply, where it had no code.
    last_words: Option<Value>,
}

/// What came of a reply.
enum Step {
    Answer(StopReason, Value),
    /// The model is told this.
    Told(String),
}

impl<'a> Query<'a> {
    fn new(
        level: &'a Arc<Level>,
        question: &'a Question,
        session: &'a QuerySession,
        tools: &'a [ToolSpec],
    ) -> Self {
        Self {
            level,
            question,
            session,
            tools,
            turns: 0,
            was_reminded: false,
            refused: None,
            last_words: None,
        }
    }

    async fn work(&mut self) -> Result<End, End> {
        let context = self.begin().await?;
        let tree = &self.level.tree;
        let system = prompts::system(self.level, self.tools);
        let asked = prompts::question(&self.question.prompt, &context);
        let mut history = History::new(system, asked, tree.config().compact_at_tokens);
        loop {
            if self.turns >= tree.bounds.iterations {
                return Err(End::because(StopReason::MaxIterations));
            }
            let (text, is_cut) = self.turn(history.messages()).await?;
            let told = match self.take(&text, is_cut).await? {
                Step::Answer(stop, answer) => return Ok(End { stop, answer, message: None }),
                Step::Told(told) => told,
            };
            history.add(text, self.with_refusals(told)?);
        }
    }

    /// Makes the session ready, and says that the query begins.
    async fn begin(&self) -> Result<Value, End> {
        let begun = self.session.begin(&self.question.context, self.tools);
        let context = self.level.within(begun).await.map_err(End::because)??;
        let left = self.level.budget.left();
        self.level.tree.emit(QueryEvent::Begin {
            query: self.level.query,
            parent: self.level.parent,
            depth: self.level.depth,
            prompt: clipped(&self.question.prompt, SHOWN_PROMPT),
            context: context.clone(),
            model: self.question.model.name().to_owned(),
            allowance: json!({
                "tokens": left.tokens,
                "sub_calls": left.sub_calls,
                "iterations": self.level.tree.bounds.iterations,
                "cost_micros": left.cost_micros,
            }),
        });
        Ok(context)
    }

    /// Asks the model; gives its reply, and whether it was cut off.
    async fn turn(&mut self, mut messages: Vec<Message>) -> Result<(String, bool), End> {
        let level = self.level;
        self.turns = level.begin_turn();
        if self.turns == level.tree.bounds.iterations
            && let Some(Message::User(last)) = messages.last_mut()
        {
            last.push_str("\n\n");
            last.push_str(prompts::LAST_TURN);
        }
        let answered = ask::ask(level, &self.question.model, messages).await?;
        level.tree.emit(QueryEvent::Turn {
            query: level.query,
            turn: self.turns,
            model: answered.model,
            digest: answered.digest,
            reply: answered.text.clone(),
            is_cut: answered.is_cut,
            usage: answered.usage,
            ms: answered.ms,
            is_replayed: answered.is_replayed,
        });
        Ok((answered.text, answered.is_cut))
    }

    async fn take(&mut self, text: &str, is_cut: bool) -> Result<Step, End> {
        let Reply { mut blocks, answer, notes } = reply::read(text);
        // What is there of a block that was cut off is not what was meant.
        let half = if is_cut { blocks.pop_if(|block| !block.is_closed) } else { None };
        if blocks.is_empty() && half.is_some() {
            return Ok(Step::Told(prompts::CUT_OFF.to_owned()));
        }
        if blocks.is_empty() {
            return match answer {
                Some(answer) => self.text_answer(answer).await,
                None => self.remind(text, &notes),
            };
        }
        self.was_reminded = false;
        self.last_words = None;
        let (mut told, of) = (Vec::new(), blocks.len());
        for (at, block) in blocks.into_iter().enumerate() {
            let ran = self.block(at, of, &block, &mut told).await?;
            if let Some(answer) = self.look(ran, &mut told).await? {
                return Ok(Step::Answer(answer.0, answer.1));
            }
        }
        told.extend(notes.iter().map(|note| note.text().to_owned()));
        told.extend(half.map(|_| prompts::CUT_OFF.to_owned()));
        Ok(Step::Told(told.join("\n\n")))
    }

    /// An answer in the text: a value, or the name of a variable.
    async fn text_answer(&mut self, answer: Final) -> Result<Step, End> {
        self.was_reminded = false;
        let name = match answer {
            Final::Value(value) => return Ok(Step::Answer(StopReason::Final, value.into())),
            Final::Variable(name) => name,
        };
        let variable = self.session.variable(&name);
        match self.level.within(variable).await.map_err(End::because)?? {
            Ok(value) => Ok(Step::Answer(StopReason::FinalVar, value)),
            Err(problem) => Ok(Step::Told(problem)),
        }
    }

    fn remind(&mut self, text: &str, notes: &[reply::Note]) -> Result<Step, End> {
        let is_empty = text.trim().is_empty();
        self.last_words = (!is_empty).then(|| text.trim().into());
        if std::mem::replace(&mut self.was_reminded, true) {
            return Err(End::because(StopReason::NoProgress));
        }
        let told = prompts::reminder(notes);
        self.note(&told);
        Ok(Step::Told(told))
    }

    /// Runs one block; what it gave is told.
    async fn block(
        &self,
        at: usize,
        of: usize,
        block: &Block,
        told: &mut Vec<String>,
    ) -> Result<Ran, End> {
        let level = self.level;
        let language = if block.tag == Tag::Bash { Language::Bash } else { Language::Python };
        let started = Instant::now();
        let run = self.session.run(level, language, block.code.clone());
        let ran = level.unless_cancelled(run).await.map_err(End::because)??;
        let most = usize::try_from(level.tree.config().output_chars).unwrap_or(usize::MAX);
        let output = prompts::output(&ran, most);
        level.tree.emit(QueryEvent::Block {
            query: level.query,
            turn: self.turns,
            block: at as u64 + 1,
            language: if language == Language::Bash { "bash" } else { "python" }.to_owned(),
            code: block.code.clone(),
            output: output.clone(),
            is_ok: ran.outcome.ending.exit_code == Some(0) && !ran.outcome.ending.timed_out,
            ms: ms(started.elapsed()),
        });
        told.push(format!("{}\n{output}", prompts::heading(at + 1, of, &block.tag)));
        if !block.is_closed {
            told.push("Your block had no closing fence, so it ended with your reply.".to_owned());
        }
        Ok(ran)
    }

    /// Looks whether the question is answered, and whether the session is as it was.
    async fn look(
        &self,
        ran: Ran,
        told: &mut Vec<String>,
    ) -> Result<Option<(StopReason, Value)>, End> {
        let level = self.level;
        let is_new = ran.is_fresh && ran.outcome.state != StateAfter::Kept;
        if ran.outcome.state == StateAfter::Lost || is_new {
            let begun = self.session.begin(&self.question.context, self.tools);
            level.within(begun).await.map_err(End::because)??;
            told.push(
                "The interpreter was started anew: your variables are gone, `context` and the \
                 functions are there again."
                    .to_owned(),
            );
            return Ok(None);
        }
        let signal = level.within(self.session.signal()).await.map_err(End::because)??;
        let Signal { answer, problem, .. } = signal;
        told.extend(problem);
        Ok(answer)
    }

    /// What was refused is said; asking for it once more, after that, ends the query.
    fn with_refusals(&mut self, mut told: String) -> Result<String, End> {
        let refused = self.level.take_refused();
        for stop in [StopReason::SubCalls, StopReason::Depth] {
            if !refused.contains(stop.as_str()) {
                continue;
            }
            if self.refused.replace(stop) == Some(stop) {
                return Err(End::because(stop));
            }
            told.push_str("\n\n");
            told.push_str(ask::refusal(stop));
            told.push_str(". Answer with what you have; asking again ends the query.");
        }
        Ok(told)
    }

    fn note(&self, text: &str) {
        let text = text.to_owned();
        self.level.tree.emit(QueryEvent::Note { query: self.level.query, turn: self.turns, text });
    }
}
