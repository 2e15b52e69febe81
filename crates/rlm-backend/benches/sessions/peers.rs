//! What sessions are compared with: programs that do the same work without them.
#![expect(clippy::disallowed_methods, reason = "the peers are plain programs, not confined ones")]

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

/// The interpreter that sessions have too.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// Reads a line of JSON, evaluates its code, answers with a line of JSON.
const EVALUATES: &str = "\
import json, sys
space = {}
for line in sys.stdin:
    request = json.loads(line)
    value = eval(request['code'], space)
    reply = {'id': request['id'], 'value': repr(value)}
    sys.stdout.write(json.dumps(reply) + '\\n')
    sys.stdout.flush()
";

/// Says what it hears.
const ECHOES: &str = "\
import sys
for line in sys.stdin:
    sys.stdout.write(line)
    sys.stdout.flush()
";

/// Starts a kernel, and times one execution for each line that it reads.
const KERNEL: &str = "\
import sys, time
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name='python3')
print('ready', flush=True)
for line in sys.stdin:
    begun = time.perf_counter_ns()
    client.execute_interactive('1+1', output_hook=lambda message: None)
    print(time.perf_counter_ns() - begun, flush=True)
client.stop_channels()
manager.shutdown_kernel(now=True)
";

/// A program that answers lines with lines.
pub(crate) struct Talker {
    child: Child,
    says: ChildStdin,
    hears: BufReader<ChildStdout>,
}

impl Talker {
    fn start(python: &str, program: &str) -> Self {
        let mut child = Command::new(python)
            .args(["-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (says, hears) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, says, hears: BufReader::new(hears) }
    }

    /// The loop that evaluates.
    pub(crate) fn evaluating() -> Self {
        Self::start(PYTHON, EVALUATES)
    }

    /// The loop that echoes.
    pub(crate) fn echoing() -> Self {
        Self::start(PYTHON, ECHOES)
    }

    /// A kernel in that interpreter, where it has what is needed.
    pub(crate) fn kernel(python: &str) -> Option<Self> {
        let check = Command::new(python)
            .args(["-c", "import ipykernel, jupyter_client"])
            .stderr(Stdio::null())
            .status();
        if !check.is_ok_and(|status| status.success()) {
            return None;
        }
        let mut kernel = Self::start(python, KERNEL);
        (kernel.line() == "ready\n").then_some(kernel)
    }

    /// One round trip, from the first byte of the request to the last of the answer.
    pub(crate) fn round_trip(&mut self) -> Duration {
        let begun = Instant::now();
        self.says.write_all(b"{\"id\":1,\"code\":\"1+1\"}\n").unwrap();
        let line = self.line();
        let took = begun.elapsed();
        assert!(line.ends_with("}\n"), "{line}");
        took
    }

    /// What the kernel measured itself, without the way to the program that asks it.
    pub(crate) fn kernel_trip(&mut self) -> Duration {
        self.says.write_all(b"go\n").unwrap();
        Duration::from_nanos(self.line().trim().parse().unwrap())
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.hears.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        let _it_may_be_gone = self.child.kill();
        let _nobody_else_waits = self.child.wait();
    }
}

/// A kernel, in the interpreter named or in one that is found.
pub(crate) fn kernel(named: Option<&str>) -> Option<Talker> {
    match named {
        Some(python) => Talker::kernel(python),
        None => ["python3", PYTHON].into_iter().find_map(Talker::kernel),
    }
}

/// A program that runs to its end: how long that takes.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Duration {
    let begun = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    begun.elapsed()
}

/// A bare interpreter that waits for input, as long as the work takes.
pub(crate) fn beside_idle_python<T>(work: impl FnOnce(u32) -> T) -> T {
    assert!(Path::new(PYTHON).exists());
    let mut child = Command::new(PYTHON)
        .args(["-c", "import sys; sys.stdin.read()"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let result = work(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    result
}
