//! What a server sends.

use std::{io, time::Duration};

use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};

/// One part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// These bytes.
    Send(Vec<u8>),
    /// Nothing for so long.
    Wait(Duration),
    /// These bytes again and again, with a pause before each, until the client goes away.
    Forever(Vec<u8>, Duration),
    /// These bytes so many times.
    Times(Vec<u8>, usize),
    /// Nothing any more, and the connection stays open.
    Hold,
}

/// An answer to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    parts: Vec<Part>,
    keeps_open: bool,
}

impl Answer {
    /// A proper answer; the connection stays open for the next request.
    #[must_use]
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let mut head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let bytes = [head.as_bytes(), b"\r\n", body].concat();
        Self { parts: vec![Part::Send(bytes)], keeps_open: true }
    }

    /// A page of HTML.
    #[must_use]
    pub fn html(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[("Content-Type", "text/html; charset=utf-8")], body)
    }

    /// A body of some type.
    #[must_use]
    pub fn of_type(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[("Content-Type", content_type)], body)
    }

    /// A redirect.
    #[must_use]
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new(status, &[("Location", location)], "moved")
    }

    /// Exactly these parts; then the connection is closed.
    #[must_use]
    pub fn script(parts: impl IntoIterator<Item = Part>) -> Self {
        Self { parts: parts.into_iter().collect(), keeps_open: false }
    }

    /// Exactly these bytes; then the connection is closed.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::script([Part::Send(bytes.into())])
    }

    /// Exactly these bytes; the connection stays open for the next request.
    #[must_use]
    pub fn raw_open(bytes: impl Into<Vec<u8>>) -> Self {
        Self { parts: vec![Part::Send(bytes.into())], keeps_open: true }
    }

    /// The same after a pause.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.parts.insert(0, Part::Wait(pause));
        self
    }

    /// Sends it, and says whether the connection goes on.
    pub(super) async fn send(&self, stream: &mut TcpStream) -> io::Result<bool> {
        for part in &self.parts {
            match part {
                Part::Send(bytes) => stream.write_all(bytes).await?,
                Part::Wait(pause) => sleep(*pause).await,
                Part::Times(bytes, times) => {
                    for _ in 0..*times {
                        stream.write_all(bytes).await?;
                    }
                }
                Part::Forever(bytes, pause) => loop {
                    sleep(*pause).await;
                    stream.write_all(bytes).await?;
                },
                Part::Hold => std::future::pending().await,
            }
        }
        stream.flush().await?;
        Ok(self.keeps_open)
    }
}
