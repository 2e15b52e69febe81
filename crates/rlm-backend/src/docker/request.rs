//! What is asked of a supervisor about the session's files, and its answer.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    sync::Arc,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{frames::Frame, wire::Wire};

/// How large the pieces are that are sent.
const PIECE: usize = 256 << 10;

/// Somebody who waits for an answer.
#[derive(Debug)]
pub(super) struct Request {
    pieces: Pieces,
    /// How many bytes may still come.
    room: u64,
    failed: Option<io::Error>,
    tell: oneshot::Sender<io::Result<(Answered, Pieces)>>,
}

/// Where the pieces of an answer go.
#[derive(Debug)]
pub(super) enum Pieces {
    /// Into memory.
    Kept(Vec<u8>),
    /// Into a file.
    Filed(File),
}

/// What is sent after a request.
#[derive(Debug)]
pub(super) enum Upload {
    /// Nothing.
    None,
    /// These bytes.
    Bytes(Vec<u8>),
    /// What is in a file, from where it stands.
    File(File),
}

/// An answer: what was asked for, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Answered {
    /// The kind of error.
    pub(super) error: Option<String>,
    /// What is there in place of a file.
    pub(super) what: Option<String>,
    /// The kernel's number.
    pub(super) errno: Option<i32>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

impl Answered {
    pub(super) fn read(json: &[u8]) -> io::Result<Self> {
        serde_json::from_slice(json).map_err(io::Error::from)
    }

    /// What it holds where it is no error.
    pub(super) fn into<T: DeserializeOwned>(self) -> io::Result<T> {
        serde_json::from_value(Value::Object(self.rest)).map_err(io::Error::from)
    }
}

impl Request {
    /// Takes a piece in; says whether no more came than was asked for.
    pub(super) fn piece(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.room.checked_sub(bytes.len() as u64) else { return false };
        self.room = room;
        match &mut self.pieces {
            Pieces::Kept(all) => all.extend_from_slice(bytes),
            Pieces::Filed(file) => {
                if let (Err(error), None) = (file.write_all(bytes), &self.failed) {
                    self.failed = Some(error);
                }
            }
        }
        true
    }

    /// Gives the answer to whoever waits.
    pub(super) fn end(self, answered: io::Result<Answered>) {
        let answered = match self.failed {
            Some(error) => Err(error),
            None => answered.map(|answered| (answered, self.pieces)),
        };
        // Nobody may wait any more.
        let _ = self.tell.send(answered);
    }
}

/// Asks, sends what belongs to it, and waits for the answer, of at most `room` bytes besides its JSON.
pub(super) async fn ask(
    wire: Arc<Wire>,
    request: Value,
    upload: Upload,
    pieces: Pieces,
    room: u64,
) -> io::Result<(Answered, Pieces)> {
    let number = wire.number();
    let (tell, told) = oneshot::channel();
    wire.add_request(number, Request { pieces, room, failed: None, tell });
    wire.send(Frame::new(b'Q', number, request.to_string().as_bytes())).await;
    match upload {
        Upload::None => {}
        Upload::Bytes(bytes) => {
            for piece in bytes.chunks(PIECE) {
                wire.send(Frame::new(b'P', number, piece)).await;
            }
            wire.send(Frame::new(b'P', number, b"")).await;
        }
        Upload::File(file) => send_file(&wire, number, file).await?,
    }
    told.await.map_err(|_| io::Error::other("the container is gone"))?
}

async fn send_file(wire: &Arc<Wire>, number: u32, mut file: File) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        wire.send(Frame::new(b'P', number, piece.get(..count).unwrap_or_default())).await;
        if count == 0 {
            return Ok(());
        }
    }
}
