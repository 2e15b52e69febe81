//! Servers that misbehave, one answer each.

use std::time::Duration;

use super::{Answer, Part};

const HEAD: &str = "HTTP/1.1 200 Said\r\nContent-Type: text/html\r\n";
const PAUSE: Duration = Duration::from_millis(200);

fn with_head(lines: &str, body: impl Into<Vec<u8>>) -> Vec<u8> {
    [format!("{HEAD}{lines}\r\n").into_bytes(), body.into()].concat()
}

/// A body without an end, as fast as it goes.
#[must_use]
pub fn endless_body() -> Answer {
    let chunk = b"<p>more and more</p>".repeat(200);
    Answer::script([Part::Send(with_head("", "")), Part::Forever(chunk, Duration::ZERO)])
}

/// A head that comes byte by byte.
#[must_use]
pub fn slow_head() -> Answer {
    Answer::script([Part::Send(HEAD.into()), Part::Forever(b"x".to_vec(), PAUSE)])
}

/// A body that comes byte by byte.
#[must_use]
pub fn slow_body() -> Answer {
    let head = with_head("Content-Length: 100000\r\n", "");
    Answer::script([Part::Send(head), Part::Forever(b"x".to_vec(), PAUSE)])
}

/// A head, and nothing after it.
#[must_use]
pub fn stalled_body() -> Answer {
    Answer::script([Part::Send(with_head("Content-Length: 10\r\n", "abc")), Part::Hold])
}

/// A connection on which nothing is ever said.
#[must_use]
pub fn silence() -> Answer {
    Answer::script([Part::Hold])
}

/// A `Content-Length` of more than comes.
#[must_use]
pub fn too_little() -> Answer {
    Answer::raw(with_head("Content-Length: 100\r\n", "only this"))
}

/// A `Content-Length` of less than comes.
#[must_use]
pub fn too_much() -> Answer {
    Answer::raw(with_head("Content-Length: 4\r\n", "this is more"))
}

/// Two lengths that differ.
#[must_use]
pub fn two_lengths() -> Answer {
    Answer::raw(with_head("Content-Length: 4\r\nContent-Length: 5\r\n", "abcde"))
}

/// A length beside chunks.
#[must_use]
pub fn length_and_chunks() -> Answer {
    let lines = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n";
    Answer::raw(with_head(lines, "5\r\nabcde\r\n0\r\n\r\n"))
}

/// Chunks whose size is no number.
#[must_use]
pub fn bad_chunks() -> Answer {
    Answer::raw(with_head("Transfer-Encoding: chunked\r\n", "5\r\nabcde\r\nxyz\r\n"))
}

/// Chunks that break off.
#[must_use]
pub fn broken_chunks() -> Answer {
    Answer::raw(with_head("Transfer-Encoding: chunked\r\n", "5\r\nabcde\r\n9\r\nab"))
}

/// More headers than anybody reads.
#[must_use]
pub fn many_headers() -> Answer {
    let lines: String = (0..150).map(|number| format!("X-{number}: 1\r\n")).collect();
    Answer::raw(with_head(&lines, "x"))
}

/// One header that is as long as a page.
#[must_use]
pub fn long_header() -> Answer {
    Answer::raw(with_head(&format!("X: {}\r\n", "a".repeat(600_000)), "x"))
}

/// Interim answers without an end.
#[must_use]
pub fn endless_interim() -> Answer {
    let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(200);
    Answer::script([Part::Forever(interim, Duration::ZERO)])
}

/// The protocol of before there were heads.
#[must_use]
pub fn no_head() -> Answer {
    Answer::raw("<html>old</html>")
}

/// Something that is not HTTP.
#[must_use]
pub fn another_protocol() -> Answer {
    Answer::raw(b"SSH-2.0-OpenSSH_9.2\r\n\x00\x01\x02\x03".to_vec())
}

/// A connection that is closed without a word.
#[must_use]
pub fn hang_up() -> Answer {
    Answer::script([])
}
