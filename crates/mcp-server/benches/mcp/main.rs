//! The whole way of an MCP call, beside a bare echo server of the same library, on standard streams and
//! over HTTP.
//!
//! `cargo xtask bench mcp` starts the servers as children and asks them in turn, so that what else the
//! machine does is the same for all; who is asked first changes with every round. It prints the median
//! round trip, the processor time of a call, the memory that is held, the time from the start to the
//! first answer, and what listing 1,000 tools takes beside serialising the same list.
//!
//! `cargo xtask bench mcp -- --python PYTHON` has a server of the Python SDK among them, where that
//! interpreter has the package `mcp`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panicking")]
#![allow(clippy::print_stdout, reason = "its numbers are its output")]

mod http;
mod pipes;
mod servers;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::{http::Http, pipes::Pipes};

const ROUNDS: usize = 3_000;
const WARM: usize = 300;

/// A server that is asked over and over.
trait Asked {
    fn call(&mut self) -> Duration;
    /// Its processor time until now.
    fn used(&self) -> Duration;
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--serve") {
        servers::serve(&arguments[at + 1], &arguments[at + 2]);
        return;
    }
    let python = arguments.iter().position(|argument| argument == "--python");
    let python = python.map(|at| arguments[at + 1].as_str());
    streams(python);
    let starts = |kind| median((0..20).map(|_| Pipes::start(kind, 1).started).collect());
    println!("start to first answer: {:?}, bare rmcp {:?}", starts("remit"), starts("bare"));
    listing();
    compare(
        "HTTP",
        &mut [
            ("remit", &mut Http::start("remit-http")),
            ("bare rmcp", &mut Http::start("bare-http")),
        ],
    );
}

fn streams(python: Option<&str>) {
    let (mut ours, mut bare) = (Pipes::start("remit", 1), Pipes::start("bare", 1));
    let mut sdk = python.map(Pipes::python);
    let mut all: Vec<(&str, &mut dyn Asked)> = vec![("remit", &mut ours), ("bare rmcp", &mut bare)];
    if let Some(sdk) = &mut sdk {
        all.push(("Python SDK", sdk));
    }
    compare("streams", &mut all);
    println!("resident: {} KiB, bare rmcp {} KiB", ours.resident_kib(), bare.resident_kib());
}

/// Asks all of them in turn, and compares the first one with the others.
fn compare(what: &str, servers: &mut [(&str, &mut dyn Asked)]) {
    let mut times = vec![Vec::new(); servers.len()];
    let mut before = vec![Duration::ZERO; servers.len()];
    for round in 0..WARM + ROUNDS {
        for turn in 0..servers.len() {
            let at = (turn + round) % servers.len();
            if round == WARM {
                before[at] = servers[at].1.used();
            }
            let took = servers[at].1.call();
            if round >= WARM {
                times[at].push(took);
            }
        }
    }
    let medians: Vec<_> = times.into_iter().map(median).collect();
    for (at, (name, server)) in servers.iter().enumerate() {
        let used = (server.used() - before[at]) / u32::try_from(ROUNDS).unwrap();
        println!(
            "{what}, {name}: round trip {:?}, processor {used:?}; remit is {:.2} x",
            medians[at],
            ratio(medians[0], medians[at])
        );
    }
}

/// What the server takes to list, beside what serialising the same list takes. The pages are read, and
/// not looked at.
fn listing() {
    let mut server = Pipes::start("remit", 1000);
    let mut cursors = vec![json!({})];
    let mut tools: Vec<Value> = Vec::new();
    loop {
        let page = server.ask("tools/list", cursors.last().unwrap());
        tools.extend(page["result"]["tools"].as_array().unwrap().iter().cloned());
        let Some(next) = page["result"].get("nextCursor") else { break };
        cursors.push(json!({ "cursor": next }));
    }
    assert_eq!(tools.len(), 1000);
    let tools: Vec<rmcp::model::Tool> =
        tools.into_iter().map(|tool| serde_json::from_value(tool).unwrap()).collect();
    let (mut list, mut written) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        let started = Instant::now();
        for cursor in &cursors {
            server.ask_unread("tools/list", cursor);
        }
        list.push(started.elapsed());
        let started = Instant::now();
        std::hint::black_box(serde_json::to_vec(&tools).unwrap());
        written.push(started.elapsed());
    }
    let (list, written) = (median(list), median(written));
    println!("1,000 tools: {list:?}, serialising alone {written:?}: {:.2} x", ratio(list, written));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// The processor time of a process, in nanoseconds of its schedule.
fn used(pid: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let one = |task: std::io::Result<std::fs::DirEntry>| -> u64 {
        let text = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
        text.split(' ').next().unwrap().parse().unwrap()
    };
    Duration::from_nanos(threads.map(one).sum())
}
