//! Attempts to reach the host or the world by sockets.
//!
//! They use listeners of the suite on the host's loopback (`tcp`, `tcp6`, `udp` by port, `unix` and
//! `unixdgram` by path, `abstract` by name). The TCP and UNIX listeners greet, the UDP one echoes:
//! a greeting proves that the host was reached and not a loopback of the sandbox's own.

mod families;
mod inet;
mod tricks;
mod unix;

use std::io::Read;
use std::time::Duration;

use crate::attempt::{Attempt, Tried, denied};

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] =
    &[inet::ATTEMPTS, unix::ATTEMPTS, families::ATTEMPTS, tricks::ATTEMPTS];

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_millis(800);

/// Reads the listener's greeting.
fn greeting(mut stream: impl Read) -> Tried {
    let mut bytes = [0; 64];
    let read = stream.read(&mut bytes)?;
    match bytes.get(..read) {
        Some(text) if !text.is_empty() => Ok(String::from_utf8_lossy(text).trim().to_owned()),
        _ => Err(denied("connected, but nobody greets")),
    }
}
