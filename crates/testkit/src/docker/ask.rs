//! A question to an engine over its socket, without a client: an HTTP request of one line.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use serde_json::Value;

use super::Container;

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

/// An engine's containers, whatever they do.
pub(super) fn containers(socket: &Path) -> io::Result<Vec<Container>> {
    let (status, body) = get(socket, "/containers/json?all=1")?;
    if status != 200 {
        return Err(io::Error::other(format!("it answered {status}")));
    }
    let all: Vec<Value> = serde_json::from_str(&body)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels = |one: &Value| {
        let labels = one["Labels"].as_object().into_iter().flatten();
        labels.map(|(name, value)| (name.clone(), text(value))).collect()
    };
    let read = |one: &Value| Container {
        name: text(&one["Names"][0]).trim_start_matches('/').to_owned(),
        labels: labels(one),
    };
    Ok(all.iter().map(read).collect())
}

/// Ends and removes a container.
pub(super) fn remove(socket: &Path, name: &str) -> io::Result<()> {
    match ask(socket, "DELETE", &format!("/containers/{name}?force=1&v=1"))?.0 {
        // It may be on its way out already.
        204 | 404 | 409 => Ok(()),
        other => Err(io::Error::other(format!("it answered {other}"))),
    }
}

/// Deletes an image.
pub(super) fn remove_image(socket: &Path, image: &str) -> io::Result<()> {
    match ask(socket, "DELETE", &format!("/images/{image}?force=1"))?.0 {
        200 | 404 => Ok(()),
        other => Err(io::Error::other(format!("it answered {other}"))),
    }
}

/// The status of the answer to a GET.
fn status(socket: &Path, path: &str) -> io::Result<u16> {
    get(socket, path).map(|(status, _)| status)
}

/// The status and the body of the answer to a GET.
fn get(socket: &Path, path: &str) -> io::Result<(u16, String)> {
    ask(socket, "GET", path)
}

fn ask(socket: &Path, method: &str, path: &str) -> io::Result<(u16, String)> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: docker\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("it does not speak HTTP"))?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    Ok((status, body.unwrap_or_default()))
}
