//! A place with a configuration, and clients of the program that runs there.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Generous: machines that test are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) const CONFIG: &str = "[sandbox]\nenabled = true\n[tools]\nexecute = true\nallow = \
    [\"sandbox.execute_code\", \"sandbox.execute_bash\", \"capitals\"]\n\
    [tools.lookup.capitals]\nFrance = \"Paris\"\n[tools.lookup.secrets]\nkey = \"hidden\"\n";

pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("remit.toml", CONFIG);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "these tests are about the built program")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_remit"));
        command.arg("mcp").args(args).current_dir(self.path());
        command.env_clear().envs([("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8")]);
        command.env("HOME", self.path()).env("TMPDIR", self.path());
        command
    }

    /// A client that has begun a session.
    pub(crate) fn client(&self) -> Client {
        let mut client = self.silent_client(&["--config", "remit.toml"]);
        client.initialize("2025-11-25");
        client
    }

    /// A client that has said nothing yet.
    pub(crate) fn silent_client(&self, args: &[&str]) -> Client {
        Client::started(self.command(args))
    }
}

pub(crate) struct Client {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What was read while an answer was waited for.
    pub(crate) aside: VecDeque<Value>,
    next_id: i64,
}

impl Client {
    /// A client of a program that is started here, and has said nothing yet.
    pub(crate) fn started(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, stdin, lines, aside: VecDeque::new(), next_id: 0 }
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(message.to_string().as_bytes());
    }

    /// Sends a request, and gives its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(message.to_string().as_bytes());
        id
    }

    /// The next message; every line is one.
    pub(crate) fn next_within(&mut self, time: Duration) -> Option<Value> {
        let line = match self.lines.recv_timeout(time) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// The next message that is no notification.
    pub(crate) fn next_answer(&mut self) -> Value {
        loop {
            let message = self.next_within(DEADLINE).unwrap();
            if message.get("method").is_none() {
                return message;
            }
            self.aside.push_back(message);
        }
    }

    pub(crate) fn answer_to(&mut self, id: i64) -> Value {
        loop {
            let answer = self.next_answer();
            if answer["id"] == id {
                return answer;
            }
            self.aside.push_back(answer);
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    /// The answer to a call of a tool.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments}))
    }

    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let answer = self.ask("tools/list", json!({}));
        answer["result"]["tools"].as_array().unwrap().clone()
    }

    pub(crate) fn names(&mut self) -> Vec<String> {
        self.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the program.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < DEADLINE, "the program still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process has this text in its command line.
pub(crate) fn is_running(marker: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let mut line = Vec::new();
        let file = std::fs::File::open(entry.path().join("cmdline"));
        let read = file.and_then(|mut file| file.read_to_end(&mut line));
        read.is_ok() && String::from_utf8_lossy(&line).contains(marker)
    })
}

/// A number of seconds to sleep that no other process sleeps.
pub(crate) fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("300.{}{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
