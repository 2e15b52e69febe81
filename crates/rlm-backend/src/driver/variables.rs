//! A Python session's variables from the host's side: set, get, list.

use std::time::Duration;

use serde_json::Value;
use thiserror::Error;

use super::{CallError, DriverLink, control::Line, link::Health};
use crate::{
    language::Language,
    protocol::{Event, Request, Variable, parse},
};

/// A session that is between calls answers at once; one that does not is broken.
const ANSWER: Duration = Duration::from_secs(10);

/// Why a variable was not set or read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VariableError {
    /// The session cannot be asked.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A name is ASCII letters, digits and `_`, and does not begin with a digit.
    #[error("{0:?} is not a name for a variable")]
    Name(String),
    /// Only Python sessions have variables of JSON values.
    #[error("a bash session has no variables to set or read from outside")]
    Unsupported,
    /// The session said no: there is no such variable, it is not JSON, or it is too large.
    #[error("{0}")]
    Refused(String),
}

impl DriverLink {
    /// Sets a variable to a JSON value. A pinned one is there again before every call, where code
    /// bound its name to something else.
    ///
    /// # Errors
    ///
    /// [`VariableError`].
    pub async fn set_variable(
        &mut self,
        name: &str,
        value: &Value,
        pinned: bool,
    ) -> Result<(), VariableError> {
        check_name(name)?;
        let id = self.next_id();
        self.ask(id, &Request::Set { id, name, value, pinned }, ANSWER).await.map(drop)
    }

    /// A variable's value as JSON.
    ///
    /// # Errors
    ///
    /// [`VariableError`].
    pub async fn variable(&mut self, name: &str) -> Result<Value, VariableError> {
        check_name(name)?;
        let id = self.next_id();
        match self.ask(id, &Request::Get { id, name }, ANSWER).await? {
            Event::Value { value, .. } => serde_json::from_str(&value)
                .map_err(|error| VariableError::Refused(format!("unreadable value: {error}"))),
            _ => Ok(Value::Null),
        }
    }

    /// The session's variables: at most 500, without their values.
    ///
    /// # Errors
    ///
    /// [`VariableError`].
    pub async fn variables(&mut self) -> Result<Vec<Variable>, VariableError> {
        let id = self.next_id();
        match self.ask(id, &Request::List { id }, ANSWER).await? {
            Event::Names { names, .. } => Ok(names),
            _ => Ok(Vec::new()),
        }
    }

    pub(super) async fn ask(
        &mut self,
        id: u64,
        request: &Request<'_>,
        patience: Duration,
    ) -> Result<Event, VariableError> {
        if self.language != Language::Python {
            return Err(VariableError::Unsupported);
        }
        self.begin()?;
        self.send(request);
        let answer = tokio::time::timeout(patience, self.answer_to(id)).await.ok().flatten();
        self.control.rest();
        let Some(event) = answer else {
            self.process.kill();
            self.health = Health::Lost;
            return Err(CallError::Lost.into());
        };
        self.health = Health::Idle;
        match event {
            Event::Value { error: Some(error), .. } => Err(VariableError::Refused(error)),
            event => Ok(event),
        }
    }

    async fn answer_to(&mut self, asked: u64) -> Option<Event> {
        loop {
            let line = tokio::select! {
                line = self.control.next_line() => line,
                () = self.stdout.fill() => continue,
                () = self.stderr.fill() => continue,
            };
            let Line::Whole(line) = line else { return None };
            match parse(&line, &self.token) {
                Some(event @ (Event::Value { id, .. } | Event::Names { id, .. }))
                    if id == asked =>
                {
                    return Some(event);
                }
                Some(event) => self.refuse_stray(&event),
                None => {}
            }
        }
    }
}

fn check_name(name: &str) -> Result<(), VariableError> {
    let fits = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name != "host";
    if fits { Ok(()) } else { Err(VariableError::Name(name.to_owned())) }
}
