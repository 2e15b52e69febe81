//! A private place, and the program run in it.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// No run takes this long; one that does hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// A file of the repository.
pub(crate) fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// A folder that is home and working directory of what runs in it.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, and gives its name back.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        name.to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// A folder `work` with a file `note.txt`, and the flags that let it be read.
    pub(crate) fn workdir(&self) -> [&'static str; 5] {
        self.file("work/note.txt", "a note\n");
        ["--execute-tools", "--allow-tool", "read_file_in_workdir", "--exec-workdir", "work"]
    }

    pub(crate) fn remit<S: AsRef<str>>(&self, args: impl IntoIterator<Item = S>) -> Remit {
        self.program(env!("CARGO_BIN_EXE_remit"), args)
    }

    #[expect(clippy::disallowed_methods, reason = "these tests are about the built program")]
    pub(crate) fn program<S: AsRef<str>>(
        &self,
        program: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Remit {
        let mut command = Command::new(program);
        command.args(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        command.env_clear().envs([("TZ", "UTC"), ("LANG", "C.UTF-8"), ("PATH", "/usr/bin:/bin")]);
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TMPDIR"] {
            command.env(name, self.path());
        }
        command.current_dir(self.path()).stdin(Stdio::null());
        Remit { command, input: None }
    }
}

/// A program that is about to run.
pub(crate) struct Remit {
    command: Command,
    input: Option<Vec<u8>>,
}

impl Remit {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// One more argument, of any bytes.
    pub(crate) fn arg_os(mut self, arg: &[u8]) -> Self {
        use std::os::unix::ffi::OsStrExt;
        self.command.arg(std::ffi::OsStr::from_bytes(arg));
        self
    }

    /// What it reads on standard input, to its end.
    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.command.stdin(Stdio::piped());
        self.input = Some(input.into());
        self
    }

    /// A standard input that stays open.
    pub(crate) fn open_input(mut self) -> Self {
        self.command.stdin(Stdio::piped());
        self
    }

    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Output {
        self.command.stdout(Stdio::piped());
        self.start().finish()
    }

    /// Starts it with its standard output in a pipe.
    pub(crate) fn spawn(mut self) -> Running {
        self.command.stdout(Stdio::piped());
        self.start()
    }

    /// Starts it with the standard output that was set.
    pub(crate) fn start(mut self) -> Running {
        let mut child = self.command.stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (Captured::default(), Captured::default());
        if let Some(pipe) = child.stdout.take() {
            stdout.fill_from(pipe);
        }
        stderr.fill_from(child.stderr.take().unwrap());
        let mut stdin = child.stdin.take();
        if let Some(input) = self.input {
            let mut stdin = stdin.take().unwrap();
            // It may end before it has read everything.
            std::thread::spawn(move || drop(stdin.write_all(&input)));
        }
        Running { child, stdin, stdout, stderr, started: Instant::now() }
    }
}

/// What came out of a pipe so far.
#[derive(Clone, Default)]
struct Captured {
    bytes: Arc<Mutex<Vec<u8>>>,
    is_open: Arc<Mutex<bool>>,
}

impl Captured {
    fn fill_from(&self, mut pipe: impl Read + Send + 'static) {
        *self.is_open.lock().unwrap() = true;
        let captured = self.clone();
        std::thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                captured.bytes.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
            *captured.is_open.lock().unwrap() = false;
        });
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn is_open(&self) -> bool {
        *self.is_open.lock().unwrap()
    }
}

/// A program that runs. Dropping it ends it.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: Captured,
    stderr: Captured,
    started: Instant,
}

impl Running {
    pub(crate) fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    pub(crate) fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .unwrap();
    }

    /// Waits until it is so.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            self.check_deadline(what);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn check_deadline(&mut self, what: &str) {
        if self.started.elapsed() > DEADLINE {
            let _ = self.child.kill();
            let (stdout, stderr) = (self.stdout(), self.stderr());
            panic!("{what}: not in {DEADLINE:?}\nstdout: {stdout}\nstderr: {stderr}");
        }
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Output {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            self.check_deadline("the end");
            std::thread::sleep(Duration::from_millis(2));
        };
        self.until("the end of the output", |run| !run.stdout.is_open() && !run.stderr.is_open());
        Output { code: status.code(), stdout: self.stdout(), stderr: self.stderr() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// The same, where it ended with this code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "{}\n{}",
            self.stderr,
            tool_core::clip(&self.stdout, 2000)
        );
        self
    }

    /// Standard output as lines of JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<Value> {
        json_lines(&self.stdout)
    }
}

#[track_caller]
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The id of a result, and `ok` or the kind of its error.
pub(crate) fn answer(result: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = match &result["error"]["kind"] {
        Value::Null => &result["status"],
        kind => kind,
    };
    (text(&result["call_id"]), text(kind))
}

/// The ids and kinds of all results.
pub(crate) fn answers(results: &[Value]) -> Vec<(String, String)> {
    results.iter().map(answer).collect()
}

/// The same from literals.
pub(crate) fn expected(answers: &[(&str, &str)]) -> Vec<(String, String)> {
    answers.iter().map(|(id, kind)| ((*id).to_owned(), (*kind).to_owned())).collect()
}

/// The path of a file as an argument.
pub(crate) fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}
