//! A server as a child over HTTP, and a client that has begun a session with it, on one connection.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Asked, servers::TOKEN, used};

pub(crate) struct Http {
    child: Child,
    stream: BufReader<TcpStream>,
    host: String,
    session: Option<String>,
}

impl Http {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
    pub(crate) fn start(kind: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child =
            command.args(["--serve", kind, "1"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut host = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut host).unwrap();
        let host = host.trim().to_owned();
        let stream = TcpStream::connect(&host).unwrap();
        stream.set_nodelay(true).unwrap();
        // An answer that never comes ends the benchmark.
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut server = Self { child, stream: BufReader::new(stream), host, session: None };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        server.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        assert!(server.session.is_some());
        server.ask(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// The body of the answer, with the marks of its pieces where it came in pieces.
    fn ask(&mut self, message: &Value) -> String {
        let body = message.to_string();
        let session = self.session.as_ref();
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {session}Content-Length: {}\r\n\r\n{body}",
            self.host,
            body.len(),
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        self.reply()
    }

    fn reply(&mut self) -> String {
        let (mut length, mut in_pieces) = (0, false);
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim();
            let Some((name, value)) = line.split_once(':') else {
                if line.is_empty() {
                    break;
                }
                assert!(line.starts_with("HTTP/1.1 20"), "{line}");
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "transfer-encoding" => in_pieces = true,
                "mcp-session-id" => self.session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = String::new();
        if in_pieces {
            while body != "0\r\n\r\n" && !body.ends_with("\r\n0\r\n\r\n") {
                self.stream.read_line(&mut body).unwrap();
            }
        } else {
            let mut bytes = vec![0; length];
            self.stream.read_exact(&mut bytes).unwrap();
            body = String::from_utf8(bytes).unwrap();
        }
        body
    }
}

impl Asked for Http {
    fn call(&mut self) -> Duration {
        let params = json!({"name": "echo0", "arguments": {"key": "hello"}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let started = Instant::now();
        let body = self.ask(&call);
        let took = started.elapsed();
        assert!(body.contains("\"text\":\"hello\""), "{body}");
        took
    }

    fn used(&self) -> Duration {
        used(self.child.id())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
