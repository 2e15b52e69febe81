//! The two tasks of a connection.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::message::{Event, Message};

/// The largest message: the HTML of a page and a screenshot in base64 are below.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Starts the task that reads until the end.
pub(super) fn read(
    pipe: PipeReader,
    shared: Arc<Shared>,
    events: mpsc::Sender<Event>,
) -> io::Result<()> {
    let mut pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(pipe))?;
    tokio::spawn(async move {
        let closed = shared.closed.clone();
        tokio::select! {
            () = closed.cancelled() => {}
            () = read_all(&mut pipe, &shared, &events) => {}
        }
        shared.close();
    });
    Ok(())
}

/// Reads message after message, until one is missing, too large, or none.
async fn read_all(pipe: &mut pipe::Receiver, shared: &Shared, events: &mpsc::Sender<Event>) {
    let mut bytes = Vec::with_capacity(CHUNK_BYTES);
    // Where the search for an end goes on.
    let mut searched = 0;
    loop {
        bytes.reserve(CHUNK_BYTES);
        match pipe.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut start = 0;
        while let Some(length) = bytes.iter().skip(searched).position(|&byte| byte == 0) {
            let end = searched + length;
            let Some(message) = bytes.get(start..end).and_then(Message::read) else { return };
            if !hand_on(message, shared, events).await {
                return;
            }
            start = end + 1;
            searched = start;
        }
        bytes.drain(..start);
        searched = bytes.len();
        if bytes.len() > MAX_MESSAGE_BYTES {
            return;
        }
    }
}

/// Gives a message to whom it concerns; whether anybody still listens.
async fn hand_on(message: Message, shared: &Shared, events: &mpsc::Sender<Event>) -> bool {
    match message {
        Message::Answer(id, answer) => {
            shared.answer(id, answer);
            true
        }
        Message::Event(event) => events.send(event).await.is_ok(),
    }
}

/// Starts the task that writes what is queued.
pub(super) fn write(
    pipe: PipeWriter,
    mut queue: mpsc::Receiver<Vec<u8>>,
    closed: CancellationToken,
) -> io::Result<()> {
    let mut pipe = pipe::Sender::from_owned_fd(OwnedFd::from(pipe))?;
    tokio::spawn(async move {
        let write_all = async {
            while let Some(bytes) = queue.recv().await {
                if pipe.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = closed.cancelled() => {}
            () = write_all => closed.cancel(),
        }
    });
    Ok(())
}
