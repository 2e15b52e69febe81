//! What a host and a driver say to each other: requests one way, events the other.
//!
//! One JSON object a line. Every event carries the session's token, which the host made and sent in
//! its first message; a line without it is not from the driver and is dropped. Values that code made
//! travel as texts of JSON inside an event, so that one which cannot be read spoils no event.
//!
//! Large texts of a call back go before its line as they are: `#TOKEN SIZE`, a line's end, and that many
//! bytes. They are cut by the sizes in the line.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the host says.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Request<'a> {
    /// The first message: the token, and the bounds on what is shown.
    Hello { token: &'a str, limits: ShownLimits },
    /// Runs code.
    Run { id: u64, code: &'a str },
    /// Answers a call back to the host.
    Reply { seq: u64, value: Option<Value>, error: Option<String> },
    /// Sets a variable; a pinned one is there again before every call.
    Set { id: u64, name: &'a str, value: &'a Value, pinned: bool },
    /// Asks for a variable as JSON.
    Get { id: u64, name: &'a str },
    /// Asks for the names of the session's variables.
    List { id: u64 },
    /// Calls a part of the driver that is loaded by its first call, which brings its text.
    Part { id: u64, name: &'a str, code: Option<&'a str>, call: &'a str, args: &'a Value },
}

/// Bounds on what a driver shows of a value: characters, and bytes for images and JSON.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ShownLimits {
    pub(crate) text: usize,
    pub(crate) html: usize,
    pub(crate) image: usize,
    pub(crate) value: usize,
}

impl Default for ShownLimits {
    fn default() -> Self {
        Self { text: 32 << 10, html: 256 << 10, image: 2 << 20, value: 8 << 20 }
    }
}

/// A line from the driver: the token, and what it says.
#[derive(Debug, Deserialize)]
pub(crate) struct Signed {
    pub(crate) token: String,
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// What a driver says.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// It is there, and its interpreter has this version.
    Ready { version: String },
    /// Code calls the host while the call `id` runs; `args` is a text of JSON, and `texts` has the sizes
    /// of those that came before the line.
    Call {
        id: u64,
        seq: u64,
        name: String,
        args: String,
        #[serde(default)]
        texts: Vec<usize>,
    },
    /// The call `id` has ended.
    Done(Box<Done>),
    /// The answer to `Set`, `Get` and `Part`; `value` is a text of JSON.
    Value { id: u64, value: String, error: Option<String> },
    /// The answer to `List`.
    Names { id: u64, names: Vec<Variable> },
}

/// How a call ended, as the driver tells it.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {
    pub(crate) id: u64,
    pub(crate) exit_code: i32,
    pub(crate) error: Option<CodeError>,
    pub(crate) shown: Vec<Shown>,
    pub(crate) cwd: String,
    pub(crate) cwd_exists: bool,
    pub(crate) state: Kept,
}

/// How the end of a call begins, as both drivers write it.
const DONE: &str = r#"{"event":"done","#;

/// The same line as a [`Signed`] one, read in one go: it ends every call.
#[derive(Deserialize)]
struct SignedDone<'a> {
    #[serde(borrow)]
    token: Cow<'a, str>,
    id: u64,
    exit_code: i32,
    error: Option<CodeError>,
    shown: Vec<Shown>,
    cwd: String,
    cwd_exists: bool,
    state: Kept,
}

impl SignedDone<'_> {
    fn done(self) -> Box<Done> {
        let Self { id, exit_code, error, shown, cwd, cwd_exists, state, .. } = self;
        Box::new(Done { id, exit_code, error, shown, cwd, cwd_exists, state })
    }
}

/// What became of the interpreter's state in a call that it reported itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kept {
    /// The same interpreter goes on.
    Kept,
    /// A new interpreter took the state over.
    Restored,
}

/// What code raised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeError {
    /// The exception's type, for example `ValueError`.
    pub name: String,
    /// Its text, bounded.
    pub message: String,
    /// The traceback: the code's own lines, bounded.
    pub traceback: String,
}

/// What a call shows of a value, as in a notebook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Shown {
    /// Text.
    Text {
        /// The value's `repr`, bounded.
        text: String,
    },
    /// HTML, not sanitized.
    Html {
        /// The markup.
        html: String,
    },
    /// An image.
    Image {
        /// Its type, for example `image/png`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
}

/// A variable of a session, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Elements of a built-in container or text, bytes of anything else.
    pub size: u64,
}

/// Reads one line of the driver; `None` where it is not one, or not signed with the token.
pub(crate) fn parse(line: &[u8], token: &str) -> Option<Event> {
    let text = String::from_utf8_lossy(line);
    if text.starts_with(DONE) {
        let line: SignedDone<'_> = serde_json::from_str(&text).ok()?;
        return (line.token == token).then(|| Event::Done(line.done()));
    }
    let signed: Signed = serde_json::from_str(&text).ok()?;
    (signed.token == token).then_some(signed.event)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: &str = r#"{"event":"done","token":"t","id":1,"exit_code":3,"error":null,"shown":[],
        "cwd":"/","cwd_exists":true,"state":"restored"}"#;

    #[test]
    fn a_signed_line_is_read() {
        let Some(Event::Done(done)) = parse(DONE.as_bytes(), "t") else { panic!("not read") };
        assert_eq!((done.id, done.exit_code, done.state), (1, 3, Kept::Restored));
    }

    #[test]
    fn a_line_with_another_token_or_without_one_is_dropped() {
        assert!(parse(DONE.as_bytes(), "u").is_none());
        assert!(parse(br#"{"event":"ready","version":"3"}"#, "t").is_none());
        assert!(parse(b"Hello", "t").is_none());
    }

    #[test]
    fn a_path_that_is_not_utf_8_does_not_break_the_line() {
        let line = DONE.replace("\"/\"", "\"/PATH\"").into_bytes();
        let at = line.windows(4).position(|w| w == b"PATH").unwrap();
        let mut line = line;
        line[at] = 0xff;
        let Some(Event::Done(done)) = parse(&line, "t") else { panic!("not read") };
        assert_eq!(done.cwd, "/\u{fffd}ATH");
    }
}
