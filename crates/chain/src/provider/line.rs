//! Results from a person or a program: one call a line out, one result a line in.
//!
//! Out goes `{"id", "name", "arguments"}`; in comes the JSON of a [`ToolResult`] with the same id and
//! name. Calls are asked one after the other. The end of the input, a line that is no result, a result
//! of another call and a line over [`MAX_LINE_BYTES`](LineProvider::MAX_LINE_BYTES) end it.
//!
//! Reading and writing block, so they happen on one thread of their own. It ends when the provider is
//! dropped; where it waits for a line at that moment, it ends with that line or with the process.

use std::{
    fmt,
    io::{self, BufRead, Read as _, Write},
    sync::mpsc,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Mutex, oneshot};
use tool_core::{
    BoxFuture, ProviderError, RawArguments, ToolCall, ToolResult, ToolResultProvider, parse_strict,
};

type Answer = Result<ToolResult, ProviderError>;

/// A line to a person or a program that answers calls.
pub struct LineProvider {
    /// Held while a call waits: one call, one answer.
    worker: Mutex<Worker>,
}

enum Worker {
    Open(mpsc::Sender<Question>),
    Broken,
}

struct Question {
    call: ToolCall,
    answer: oneshot::Sender<Answer>,
}

impl LineProvider {
    /// The longest line that is read, in bytes: room for the largest output that a result may carry.
    pub const MAX_LINE_BYTES: u64 = 128 * 1024 * 1024;

    /// A provider that writes calls to `writer` and reads results from `reader`.
    ///
    /// # Errors
    /// The thread for reading and writing could not be started.
    pub fn new(
        reader: impl BufRead + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, questions) = mpsc::channel::<Question>();
        let mut line = Line { reader, writer, number: 0 };
        std::thread::Builder::new().name("result-line".to_owned()).spawn(move || {
            for question in questions {
                // Nobody waits any more where the chain gave the call up.
                let _ = question.answer.send(line.ask(&question.call));
            }
        })?;
        Ok(Self { worker: Mutex::new(Worker::Open(sender)) })
    }

    async fn ask(&self, call: ToolCall) -> Answer {
        let mut worker = self.worker.lock().await;
        let Worker::Open(sender) = &*worker else {
            return Err(ProviderError::new("the line is broken since an earlier error"));
        };
        let (answer, answered) = oneshot::channel();
        let gone = || ProviderError::new("the thread that reads results is gone");
        let sent = sender.send(Question { call, answer }).map_err(|_| gone());
        let result = match sent {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(gone())),
            Err(error) => Err(error),
        };
        if result.is_err() {
            *worker = Worker::Broken;
        }
        result
    }
}

impl ToolResultProvider for LineProvider {
    fn next_result(&self, call: ToolCall) -> BoxFuture<'_, Answer> {
        Box::pin(self.ask(call))
    }

    /// The input may go on: a person's terminal does.
    fn finish(&self) -> BoxFuture<'_, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }
}

impl fmt::Debug for LineProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineProvider").finish_non_exhaustive()
    }
}

/// A call as it is written out.
#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    name: &'a str,
    arguments: Value,
}

/// Both ends, and how many lines were read.
struct Line<R, W> {
    reader: R,
    writer: W,
    number: u64,
}

impl<R: BufRead, W: Write> Line<R, W> {
    fn ask(&mut self, call: &ToolCall) -> Answer {
        self.write(call).map_err(|error| {
            ProviderError::new(format!("call {:?} could not be written", call.id.as_str()))
                .with_source(error)
        })?;
        self.number += 1;
        let expected = format!(
            "expected one JSON line with the result of call {:?} ({:?})",
            call.id.as_str(),
            call.name
        );
        let wrong =
            |what: String| ProviderError::new(format!("line {}: {what}; {expected}", self.number));
        let mut bytes = Vec::new();
        let most = LineProvider::MAX_LINE_BYTES;
        let read = self.reader.by_ref().take(most + 1).read_until(b'\n', &mut bytes);
        match read {
            Err(error) => Err(wrong("it could not be read".to_owned()).with_source(error)),
            Ok(0) => Err(wrong("the input ended".to_owned())),
            Ok(count) if u64::try_from(count).unwrap_or(u64::MAX) > most => {
                Err(wrong(format!("it has more than {most} bytes")))
            }
            Ok(_) => result_of(&bytes, call).map_err(wrong),
        }
    }

    fn write(&mut self, call: &ToolCall) -> io::Result<()> {
        let arguments = shown_arguments(&call.arguments);
        let line = CallLine { id: call.id.as_str(), name: &call.name, arguments };
        let line = serde_json::to_string(&line)?;
        writeln!(self.writer, "{line}")?;
        self.writer.flush()
    }
}

/// The arguments as JSON where that changes nothing, otherwise as the text that they are.
fn shown_arguments(arguments: &RawArguments) -> Value {
    match arguments {
        RawArguments::Json(value) => value.clone(),
        RawArguments::Text(text) => match parse_strict(text) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::from(text.as_str()),
        },
    }
}

fn result_of(bytes: &[u8], call: &ToolCall) -> Result<ToolResult, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not UTF-8: {error}"))?;
    let value = parse_strict(text).map_err(|problem| format!("not JSON: {problem}"))?;
    let result: ToolResult =
        serde_json::from_value(value).map_err(|error| format!("not a result: {error}"))?;
    if result.call_id != call.id {
        return Err(format!("it is the result of call {:?}", result.call_id.as_str()));
    }
    if result.tool != call.name {
        return Err(format!("it is a result of the tool {:?}", result.tool));
    }
    Ok(result)
}
