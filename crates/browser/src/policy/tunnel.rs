//! `CONNECT` at an operator's proxy (RFC 9110, section 9.3.6).
//!
//! The proxy is asked for an address, not for a name, so that what was judged is what is dialled. It
//! has to allow the ports that the policy does.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The largest head of an answer.
const MAX_HEAD: usize = 8192;

/// Opens a tunnel to an address over a connection to a proxy.
pub(super) async fn open(mut stream: TcpStream, to: SocketAddr) -> Result<TcpStream, String> {
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut head = Vec::new();
    // Byte by byte, so that nothing of what the target says is taken for the proxy's answer.
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_HEAD {
            return Err("its answer is too long".to_owned());
        }
        let byte = stream.read_u8().await.map_err(|error| error.to_string())?;
        head.push(byte);
    }
    match status(&head) {
        Some(200..=299) => Ok(stream),
        Some(status) => Err(format!("it answered with {status}")),
        None => Err("it does not speak HTTP".to_owned()),
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let line = str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let mut words = line.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next().filter(|status| status.len() == 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_read_strictly() {
        assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(200));
        assert_eq!(status(b"HTTP/1.0 407 no\r\n\r\n"), Some(407));
        assert_eq!(status(b"HTTP/2 200\r\n\r\n"), None);
        assert_eq!(status(b"SSH-2.0-x\r\n\r\n"), None);
        assert_eq!(status(b"HTTP/1.1 2000 x\r\n\r\n"), None);
    }
}
