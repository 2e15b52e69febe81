//! The messages of the protocol, as they travel.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The session of one target of Chromium's: a page, a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SessionId(String);

/// Something that is asked for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request<'a> {
    pub(super) id: u64,
    pub(super) method: &'static str,
    pub(super) params: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a SessionId>,
}

impl Request<'_> {
    /// With the byte that ends it.
    pub(super) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(0);
        Ok(bytes)
    }
}

/// What comes from Chromium.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Incoming {
    pub(super) id: Option<u64>,
    pub(super) method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Problem>,
    session_id: Option<SessionId>,
}

/// An error as Chromium tells it.
#[derive(Debug, Deserialize)]
struct Problem {
    message: String,
    data: Option<Value>,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) struct Event {
    /// Of which target; nothing for the browser itself.
    pub(crate) session: Option<SessionId>,
    /// What.
    pub(crate) method: String,
    params: Option<Box<RawValue>>,
}

impl Event {
    /// What is told of it; nothing where that has another shape.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let text = self.params.as_ref().map_or("{}", |params| params.get());
        serde_json::from_str(text).ok()
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answer(Result<Option<Box<RawValue>>, Problem>);

impl Answer {
    /// The result as `T`, or what is wrong with it.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T, String> {
        let result = self.0.map_err(|problem| match problem.data {
            Some(Value::String(data)) => format!("{} ({data})", problem.message),
            _ => problem.message,
        })?;
        let text = result.as_ref().map_or("{}", |result| result.get());
        serde_json::from_str(text).map_err(|error| format!("an answer of another shape: {error}"))
    }
}

/// A message that was taken apart.
#[derive(Debug)]
pub(super) enum Message {
    Answer(u64, Answer),
    Event(Event),
}

impl Message {
    /// Reads one; nothing where it is none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let Incoming { id, method, params, result, error, session_id } =
            serde_json::from_slice(bytes).ok()?;
        match (id, method) {
            (Some(id), _) => Some(Self::Answer(id, Answer(error.map_or(Ok(result), Err)))),
            (None, Some(method)) => {
                Some(Self::Event(Event { session: session_id, method, params }))
            }
            (None, None) => None,
        }
    }
}
