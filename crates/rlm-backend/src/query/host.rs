//! What the code of a query asks the host for: sub-calls, sub-queries, tools.
//!
//! Every answer is `{"ok": …}` or `{"error": {"kind", "message"}}`; the session makes exceptions of
//! the latter, so an error never looks like an answer.

use std::{io::Write, sync::Arc, time::Instant};

use model::{Message, Model};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tool_core::BoxFuture;

use super::{
    Context, ContextFile, Problem, QueryEvent, StopReason,
    ask::{Answered, AskError, ask, refusal},
    budget::{Amount, Reservation},
    clipped::clipped,
    question::Question,
    run,
    tree::{Level, ms},
};
use crate::HostCalls;

/// How many characters of a prompt stand in a trajectory.
const SHOWN_PROMPT: usize = 2000;

/// Answers the code of one query.
#[derive(Debug, Clone)]
pub(super) struct QueryCalls {
    pub(super) level: Arc<Level>,
}

#[derive(Debug, Deserialize)]
struct One {
    texts: [String; 1],
    model: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Batch {
    texts: Vec<String>,
    model: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Below {
    prompt: String,
    model: Option<String>,
    #[serde(default)]
    context: Value,
    upload: Option<u64>,
    #[serde(default)]
    is_json: bool,
}

#[derive(Debug, Deserialize)]
struct Piece {
    ticket: Option<u64>,
    texts: [String; 1],
}

#[derive(Debug, Deserialize)]
struct ToolUse {
    name: String,
    arguments: Value,
}

type Answer = Result<Value, Problem>;

impl HostCalls for QueryCalls {
    fn call(&self, name: String, args: Value) -> BoxFuture<'static, Result<Value, String>> {
        let calls = self.clone();
        Box::pin(async move { calls.answer(&name, args).await })
    }
}

impl QueryCalls {
    async fn answer(&self, name: &str, args: Value) -> Result<Value, String> {
        match name {
            "llm_query" => Ok(json_of(self.one(read(args)?).await)),
            "llm_batch" => Ok(self.batch(read(args)?).await),
            "rlm_query" => Ok(json_of(self.below(read(args)?).await)),
            "upload" => Ok(json_of(self.upload(read(args)?).await)),
            "tool" => Ok(json_of(self.tool(read(args)?).await)),
            _ => Err(format!("there is nothing to call by the name {name:?}")),
        }
    }

    async fn one(&self, one: One) -> Answer {
        let model = self.model(one.model.as_deref())?;
        let [prompt] = one.texts;
        let held = self.hold_calls(1).map_err(stopped)?;
        self.sub_call(model, prompt, held).await
    }

    /// Asks side by side; what there are no sub-calls for is refused, and the rest is asked.
    async fn batch(&self, batch: Batch) -> Value {
        let model = match self.model(batch.model.as_deref()) {
            Ok(model) => model,
            Err(problem) => return batch.texts.iter().map(|_| error_of(&problem)).collect(),
        };
        let count = batch.texts.len() as u64;
        let mut held = self.hold_calls(count).or_else(|_| {
            let left = self.level.budget.left().sub_calls.min(count);
            self.hold_calls(left)
        });
        let mut running = JoinSet::new();
        let mut answers = vec![json!(null); batch.texts.len()];
        for (at, prompt) in batch.texts.into_iter().enumerate() {
            let one = held.as_mut().map_or(None, Reservation::split_call);
            let Some(one) = one else {
                self.level.refuse(StopReason::SubCalls);
                answers[at] = error_of(&stopped(StopReason::SubCalls));
                continue;
            };
            let (calls, model) = (self.clone(), Arc::clone(&model));
            running.spawn(async move { (at, calls.sub_call(model, prompt, one).await) });
        }
        drop(held);
        while let Some(done) = running.join_next().await {
            if let Ok((at, answer)) = done {
                answers[at] = json_of(answer);
            }
        }
        let lost = problem("ended", "the call has ended");
        answers.into_iter().map(|it| if it.is_null() { error_of(&lost) } else { it }).collect()
    }

    async fn sub_call(&self, model: Arc<dyn Model>, prompt: String, held: Reservation) -> Answer {
        let (level, tree) = (&self.level, &self.level.tree);
        let permit = level.within(tree.limiter.acquire()).await.map_err(stopped)?;
        tree.emit(QueryEvent::Asking { query: level.query });
        let (started, began_ms) = (Instant::now(), ms(tree.began.elapsed()));
        let (shown, chars) = (clipped(&prompt, SHOWN_PROMPT), prompt.chars().count() as u64);
        let asked = ask(level, &model, vec![Message::User(prompt)]).await;
        drop(permit);
        if let Err(AskError::Stopped(stop)) = &asked {
            level.refuse(*stop);
        } else {
            // It was with the model, whatever came of it.
            held.settle(model::Usage::default(), 0);
        }
        let mut event =
            Call { target: model.name(), prompt: shown, chars, began_ms, is_tool: false }
                .event(level, ms(started.elapsed()));
        let answer = asked.map_err(|error| problem(error.kind(), &error.to_string()));
        fill_in(&mut event, &answer);
        tree.emit(event);
        answer.map(|answered| Value::String(answered.text))
    }

    async fn below(&self, below: Below) -> Answer {
        let level = &self.level;
        let model = self.root_model(below.model.as_deref())?;
        if level.depth >= level.tree.bounds.depth {
            level.refuse(StopReason::Depth);
            return Err(stopped(StopReason::Depth));
        }
        let context = self.context(&below)?;
        let held = self.hold_calls(1).map_err(stopped)?;
        let session = run::open(&level.tree, &context).await;
        let session = session.map_err(|error| problem("session", &error.to_string()))?;
        held.settle(model::Usage::default(), 0);
        let question = Question { prompt: below.prompt, context, model };
        let outcome = run::run(Arc::new(level.below()), question, session).await;
        if outcome.stop.is_answer() {
            return Ok(outcome.answer);
        }
        let why = outcome.message.unwrap_or_else(|| refusal(outcome.stop).to_owned());
        let message = match &outcome.answer {
            Value::Null => why,
            draft => {
                format!("{why}; until then it had: {}", clipped(&text_of(draft), SHOWN_PROMPT))
            }
        };
        Err(problem(outcome.stop.as_str(), &message))
    }

    fn context(&self, below: &Below) -> Result<Context, Problem> {
        let Some(ticket) = below.upload else {
            return Ok(match &below.context {
                Value::Null => Context::None,
                value => Context::Value(value.clone()),
            });
        };
        let file = self.level.uploads().files.remove(&ticket);
        let file = file.ok_or_else(|| problem("upload", "the context was not handed over"))?;
        Ok(Context::Temporary { file: Arc::new(file), is_json: below.is_json })
    }

    /// Takes in a piece of a large context, and gives the ticket for the next one.
    async fn upload(&self, piece: Piece) -> Answer {
        let level = Arc::clone(&self.level);
        let [text] = piece.texts;
        let write = move || level.write_piece(piece.ticket, &text);
        let written = tokio::task::spawn_blocking(write).await;
        let written = written.map_err(|error| problem("upload", &error.to_string()))?;
        written.map(Value::from).map_err(|error| problem("upload", &error.to_string()))
    }

    async fn tool(&self, tool: ToolUse) -> Answer {
        let (level, tree) = (&self.level, &self.level.tree);
        let Some(tools) = tree.shared.tools() else {
            return Err(problem("unauthorized", "no tools are offered to code"));
        };
        let (started, began_ms) = (Instant::now(), ms(tree.began.elapsed()));
        let arguments = tool.arguments.to_string();
        let (shown, chars) = (clipped(&arguments, SHOWN_PROMPT), arguments.chars().count() as u64);
        let answer = match level.within(tools.call(&tool.name, tool.arguments)).await {
            Ok(answer) => answer,
            Err(stop) => Err(stopped(stop)),
        };
        let target = tool_core::clip(&tool.name, 80);
        let mut event = Call { target, prompt: shown, chars, began_ms, is_tool: true }
            .event(level, ms(started.elapsed()));
        if let QueryEvent::Call { reply, error, .. } = &mut event {
            *reply = answer.as_ref().ok().map(|value| clipped(&text_of(value), SHOWN_PROMPT));
            *error = answer.as_ref().err().cloned();
        }
        tree.emit(event);
        answer
    }

    fn hold_calls(&self, sub_calls: u64) -> Result<Reservation, StopReason> {
        let held = self.level.budget.reserve(Amount { sub_calls, ..Amount::default() });
        held.inspect_err(|stop| self.level.refuse(*stop))
    }

    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, Problem> {
        let models = &self.level.tree.shared.models;
        let picked = models.pick(name, &models.leaf).map(Arc::clone);
        picked.map_err(|message| problem("unknown_model", &message))
    }

    fn root_model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, Problem> {
        let models = &self.level.tree.shared.models;
        let picked = models.pick(name, &models.root).map(Arc::clone);
        picked.map_err(|message| problem("unknown_model", &message))
    }
}

impl Level {
    fn write_piece(&self, ticket: Option<u64>, text: &str) -> std::io::Result<u64> {
        let most = self.tree.shared.max_upload;
        let mut uploads = self.uploads();
        uploads.bytes += text.len() as u64;
        if uploads.bytes > most {
            let message = format!("contexts of sub-queries have more than {most} bytes together");
            return Err(std::io::Error::other(message));
        }
        let ticket = match ticket {
            Some(ticket) => ticket,
            None => {
                uploads.last += 1;
                let ticket = uploads.last;
                uploads.files.insert(ticket, ContextFile::new()?);
                ticket
            }
        };
        let file = uploads.files.get_mut(&ticket);
        let file = file.ok_or_else(|| std::io::Error::other("there is no such context"))?;
        file.write_all(text.as_bytes())?;
        Ok(ticket)
    }
}

/// What a sub-call was.
struct Call<'a> {
    target: &'a str,
    prompt: String,
    chars: u64,
    began_ms: f64,
    is_tool: bool,
}

impl Call<'_> {
    fn event(self, level: &Level, ms: f64) -> QueryEvent {
        QueryEvent::Call {
            query: level.query,
            turn: level.turn(),
            target: self.target.to_owned(),
            is_tool: self.is_tool,
            digest: String::new(),
            prompt: self.prompt,
            prompt_chars: self.chars,
            reply: None,
            error: None,
            usage: model::Usage::default(),
            began_ms: self.began_ms,
            ms,
            is_replayed: false,
        }
    }
}

/// Puts what came of a sub-call into its event.
fn fill_in(event: &mut QueryEvent, answer: &Result<Answered, Problem>) {
    let QueryEvent::Call { digest, reply, error, usage, is_replayed, .. } = event else { return };
    match answer {
        Ok(answered) => {
            (*digest, *reply) = (answered.digest.clone(), Some(answered.text.clone()));
            (*usage, *is_replayed) = (answered.usage, answered.is_replayed);
        }
        Err(problem) => *error = Some(problem.clone()),
    }
}

fn read<T: serde::de::DeserializeOwned>(args: Value) -> Result<T, String> {
    serde_json::from_value(args).map_err(|error| format!("unreadable arguments: {error}"))
}

fn json_of(answer: Answer) -> Value {
    match answer {
        Ok(value) => json!({ "ok": value }),
        Err(problem) => error_of(&problem),
    }
}

fn error_of(problem: &Problem) -> Value {
    json!({ "error": problem })
}

pub(super) fn problem(kind: &str, message: &str) -> Problem {
    Problem { kind: kind.to_owned(), message: message.to_owned() }
}

fn stopped(stop: StopReason) -> Problem {
    problem(stop.as_str(), refusal(stop))
}

/// A value as a text: itself where it is one, else its JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
