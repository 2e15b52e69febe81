//! A server over HTTP in this process, and requests written by hand.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use mcp_server::{HttpConfig, Server, Token};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::tools::Tools;

/// Generous: machines that test are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

const TOKEN: &str = "0123456789abcdef-token";

/// A server; it ends with this.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) tools: Tools,
    stop: CancellationToken,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    pub(crate) fn start(config: HttpConfig) -> Self {
        let (tools, stop) = (Tools::new(), CancellationToken::new());
        let (sender, receiver) = std::sync::mpsc::channel();
        let (made, stopped) = (tools.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let server = Server::new(std::sync::Arc::new(made)).unwrap();
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                let token = Token::new(TOKEN).unwrap();
                Box::pin(server.serve_http(listener, config, token, stopped)).await.unwrap();
            });
        });
        Self { address: receiver.recv().unwrap(), tools, stop, thread: Some(thread) }
    }

    /// Sends a request, and leaves the reply to be read.
    pub(crate) fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nConnection: close\r\nHost: {}\r\nContent-Length: {}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Authorization: Bearer {TOKEN}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        stream
    }

    pub(crate) fn post(&self, session: Option<&str>, message: &Value) -> Reply {
        let headers: Vec<_> =
            session.map(|session| ("Mcp-Session-Id", session)).into_iter().collect();
        Reply::read(self.send("POST", &headers, message.to_string().as_bytes()))
    }

    /// A new session's id, or the reply that refuses one.
    pub(crate) fn session(&self) -> Result<String, Reply> {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let reply = self.post(None, &begin);
        let Some(session) = reply.header("mcp-session-id") else { return Err(reply) };
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(Some(&session), &done).status(), 202);
        Ok(session)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
        self.tools.waiting.close();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap();
        }
    }
}

/// A call of a tool.
pub(crate) fn call(name: &str, token: Option<&str>) -> Value {
    let mut params = json!({"name": name, "arguments": {"text": "said"}});
    if let Some(token) = token {
        params["_meta"] = json!({"progressToken": token});
    }
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        Self { text: String::from_utf8_lossy(&reply).into_owned() }
    }

    pub(crate) fn status(&self) -> u16 {
        let status = self.text.split(' ').nth(1).unwrap_or_default();
        status.parse().unwrap_or_else(|_| panic!("no status: {:?}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let head = self.text.split("\r\n\r\n").next()?;
        let line =
            head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    /// The messages, plain or as events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let lines = self.text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect()
    }

    /// The text of a call's result.
    pub(crate) fn said(&self) -> String {
        let messages = self.messages();
        let answer = messages.iter().find(|message| message.get("result").is_some());
        let answer = answer.unwrap_or_else(|| panic!("{}", self.text));
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }
}
