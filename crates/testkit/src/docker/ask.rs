//! A question to an engine over its socket, without a client: an HTTP request of one line.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

/// How long an engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether an engine has an image.
pub(super) fn has_image(socket: &Path, name: &str) -> io::Result<bool> {
    match status(socket, &format!("/images/{name}/json"))? {
        200 => Ok(true),
        404 => Ok(false),
        other => Err(io::Error::other(format!("it answered {other}"))),
    }
}

/// The status of the answer to a GET.
fn status(socket: &Path, path: &str) -> io::Result<u16> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::other("it does not speak HTTP"))
}
