//! The whole way of an MCP call on standard streams, beside a bare echo server of the same library.
//!
//! `cargo xtask bench mcp` starts both servers as children and asks them in turn, so that what else
//! the machine does is the same for both. It prints the median round trip, the memory that is held,
//! the time from the start to the first answer, and what listing 1,000 tools takes beside writing the
//! same list.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panicking")]
#![allow(clippy::print_stdout, reason = "its numbers are its output")]

mod servers;

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

const ROUNDS: usize = 5_000;
const WARM: usize = 500;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--serve") {
        servers::serve(&arguments[at + 1], &arguments[at + 2]);
        return;
    }
    let mut ours = Server::start("remit", 1);
    let mut bare = Server::start("bare", 1);
    let (mut our_times, mut bare_times) = (Vec::new(), Vec::new());
    for round in 0..WARM + ROUNDS {
        let (our, bare) = (ours.call(), bare.call());
        if round >= WARM {
            our_times.push(our);
            bare_times.push(bare);
        }
    }
    let (our, theirs) = (median(our_times), median(bare_times));
    println!("round trip: {our:?}, bare rmcp {theirs:?}: {:.2} x", ratio(our, theirs));
    println!("resident: {} KiB, bare rmcp {} KiB", ours.resident_kib(), bare.resident_kib());
    let starts = |kind| median((0..20).map(|_| Server::start(kind, 1).started).collect());
    println!("start to first answer: {:?}, bare rmcp {:?}", starts("remit"), starts("bare"));
    listing();
}

fn listing() {
    let mut server = Server::start("remit", 1000);
    let mut list = Vec::new();
    let mut written = Vec::new();
    for _ in 0..50 {
        let (started, mut cursor, mut tools) = (Instant::now(), json!({}), Vec::new());
        loop {
            let page = server.ask("tools/list", &cursor);
            tools.push(page["result"]["tools"].clone());
            let Some(next) = page["result"].get("nextCursor") else { break };
            cursor = json!({ "cursor": next });
        }
        list.push(started.elapsed());
        let started = Instant::now();
        let text = serde_json::to_string(&tools).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        written.push(started.elapsed());
        assert_eq!(read.as_array().map(Vec::len), Some(4));
    }
    let (list, written) = (median(list), median(written));
    println!(
        "1,000 tools: {list:?}, writing and reading the list alone {written:?}: {:.2} x",
        ratio(list, written)
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// A server as a child, and a client that has begun a session with it.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// From the start to the answer to `initialize`.
    started: Duration,
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures")]
    fn start(kind: &str, tools: usize) -> Self {
        let begun = Instant::now();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--serve", kind, &tools.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, stdin, stdout, started: Duration::ZERO };
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

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self) -> Duration {
        let params = json!({"name": "echo0", "arguments": {"key": "hello"}});
        let started = Instant::now();
        let answer = self.ask("tools/call", &params);
        let took = started.elapsed();
        assert_eq!(answer["result"]["content"][0]["text"], "hello");
        took
    }

    fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
