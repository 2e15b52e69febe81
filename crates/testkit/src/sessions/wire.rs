//! A driver's ends of its four pipes, and what is said on two of them.
//!
//! Python's driver reads a JSON object a line; bash's reads the token as a line, then `run ID BYTES`
//! and that many bytes. Both write a JSON object a line, with the token in it.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};

use rlm_backend::Language;
use serde_json::{Value, json};

/// How the first request begins.
const HELLO: &str = r#"{"op":"hello""#;

/// What the host asks a driver for.
pub(super) enum Request {
    Run {
        id: u64,
        code: String,
    },
    Set {
        id: u64,
        name: String,
        value: Value,
    },
    Get {
        id: u64,
        name: String,
    },
    /// Something that is not played.
    Other,
}

/// The ends.
pub(super) struct Ends {
    input: BufReader<PipeReader>,
    output: PipeWriter,
    pub(super) stdout: PipeWriter,
    pub(super) stderr: PipeWriter,
    token: String,
}

impl Ends {
    pub(super) fn new(
        input: PipeReader,
        output: PipeWriter,
        stdout: PipeWriter,
        stderr: PipeWriter,
    ) -> Self {
        Self { input: BufReader::new(input), output, stdout, stderr, token: String::new() }
    }

    /// The first words: the token in, the version out.
    pub(super) fn meet(&mut self, language: Language) -> io::Result<()> {
        let mut line = self.line()?;
        let (token, version) = match language {
            Language::Bash => (line, "5.99.0"),
            Language::Python => {
                // The text of the real driver comes first, and does not end its last line.
                let begin = loop {
                    match line.find(HELLO) {
                        Some(begin) => break begin,
                        None => line = self.line()?,
                    }
                };
                let hello: Value = serde_json::from_str(&line[begin..])?;
                (hello["token"].as_str().unwrap_or_default().to_owned(), "3.99.0")
            }
        };
        self.token = token;
        self.say(json!({"event": "ready", "version": version}))
    }

    /// The next request; the end of the pipe is an error.
    pub(super) fn next(&mut self, language: Language) -> io::Result<Request> {
        let line = self.line()?;
        if language == Language::Bash {
            let mut numbers = line.split(' ').skip(1).map(str::parse::<u64>);
            let mut number = || numbers.next().and_then(Result::ok).unwrap_or_default();
            let (id, bytes) = (number(), number());
            let mut code = String::new();
            (&mut self.input).take(bytes).read_to_string(&mut code)?;
            return Ok(Request::Run { id, code });
        }
        let request: Value = serde_json::from_str(&line)?;
        let id = request["id"].as_u64().unwrap_or_default();
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        Ok(match request["op"].as_str() {
            Some("run") => Request::Run { id, code: text("code") },
            Some("set") => Request::Set { id, name: text("name"), value: request["value"].clone() },
            Some("get") => Request::Get { id, name: text("name") },
            _ => Request::Other,
        })
    }

    /// Says something, with the token.
    pub(super) fn say(&mut self, mut event: Value) -> io::Result<()> {
        event["token"] = self.token.clone().into();
        self.output.write_all(format!("{event}\n").as_bytes())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end_matches('\n').len());
        Ok(line)
    }
}
