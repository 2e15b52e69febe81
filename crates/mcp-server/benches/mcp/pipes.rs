//! A server as a child on two pipes, and a client that has begun a session with it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Asked, used};

/// A server of the Python SDK with the same tool.
const PYTHON: &str = "
from mcp.server import MCPServer
server = MCPServer('bench')
@server.tool()
def echo0(key: str) -> str:
    return key
server.run()
";

/// What a pipe holds, in bytes: a long answer is read in as few pieces as it comes in.
const PIPE: usize = 64 * 1024;

pub(crate) struct Pipes {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// From the start to the answer to `initialize`.
    pub(crate) started: Duration,
    line: String,
}

impl Pipes {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
    pub(crate) fn start(kind: &str, tools: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--serve", kind, &tools.to_string()]);
        Self::of(command)
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
    pub(crate) fn python(interpreter: &str) -> Self {
        let mut command = Command::new(interpreter);
        command.args(["-c", PYTHON]);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let begun = Instant::now();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::with_capacity(PIPE, child.stdout.take().unwrap());
        let mut server =
            Self { child, stdin, stdout, started: Duration::ZERO, line: String::new() };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        server.ask("initialize", &params);
        server.started = begun.elapsed();
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.ask_unread(method, params);
        serde_json::from_str(&self.line).unwrap()
    }

    /// Asks, and waits for the whole answer.
    pub(crate) fn ask_unread(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        self.line.clear();
        self.stdout.read_line(&mut self.line).unwrap();
    }

    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Asked for Pipes {
    fn call(&mut self) -> Duration {
        let params = json!({"name": "echo0", "arguments": {"key": "hello"}});
        let started = Instant::now();
        self.ask_unread("tools/call", &params);
        let took = started.elapsed();
        let answer: Value = serde_json::from_str(&self.line).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
        took
    }

    fn used(&self) -> Duration {
        used(self.child.id())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
