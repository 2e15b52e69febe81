//! The world outside the sandbox, set up again for each attempt, and what an attempt did to it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use confine::ChangeReport;
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{Resource, Rlimit};
use serde_json::Value;
use tempfile::TempDir;

use crate::attempts::Attempt;
use crate::listeners::{Callers, Listeners};
use crate::snapshot::Snapshot;
use crate::stage::{SECRET, command};

/// What in the workdir the host would execute later; the workdir is protected there.
pub(crate) const PROTECTED: [&str; 8] =
    [".git", "vendor", ".claude", ".vscode", ".envrc", ".mcp.json", ".bashrc", ".env"];
/// Every canary begins like this.
const CANARY: &str = "canary-";
/// How much memory and disk an attempt may take where nothing stops it.
const CAP: usize = 400 << 20;
/// When a process that was left behind shows that it lives, and how long that is waited for.
const SURVIVE_MS: u64 = 300;
const SURVIVAL: Duration = Duration::from_millis(1500);

/// A temporary directory with everything in it, and the processes and sockets around it.
#[derive(Debug)]
pub(crate) struct World {
    probe: PathBuf,
    top: TempDir,
    listeners: Listeners,
    descriptors: Descriptors,
    victim: Victim,
    before: Snapshot,
}

impl World {
    /// Makes the world for a probe.
    pub(crate) fn new(probe: &Path) -> Self {
        let top = tempfile::Builder::new().prefix("remit-escape-").tempdir().expect("a directory");
        for name in ["home", "outside", "ro"] {
            fs::create_dir(top.path().join(name)).expect("a directory");
        }
        let outside = top.path().join("outside");
        fs::write(outside.join("canary"), "canary-outside\n").expect("a file");
        let listeners = Listeners::start(&outside, &top.path().join("ro")).expect("listeners");
        let mut world = Self {
            probe: probe.to_owned(),
            descriptors: Descriptors::open(&outside),
            victim: Victim::start(probe, &outside),
            before: Snapshot::default(),
            listeners,
            top,
        };
        world.reset();
        world
    }

    /// A path in the world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    /// Makes everything as if no attempt had been made.
    pub(crate) fn reset(&mut self) {
        self.write("home/.ssh/id_rsa", "canary-ssh-key\n");
        self.write("home/.aws/credentials", "canary-cloud-key\n");
        self.restore("outside", &[("canary", "canary-outside\n"), ("target", "as it was\n")]);
        self.restore("ro", &[("file", "as it was\n")]);
        let work = self.path("work");
        let _none = fs::remove_dir_all(&work);
        self.write("work/.env", "canary-hidden\n");
        for repository in ["work/.git", "work/vendor/sub/.git"] {
            self.write(&format!("{repository}/HEAD"), "ref: refs/heads/main\n");
            self.write(&format!("{repository}/config"), "[core]\n\tbare = false\n");
            self.write(&format!("{repository}/hooks/README"), "hooks\n");
            self.write(&format!("{repository}/objects/README"), "objects\n");
        }
        if !self.victim.is_alive() {
            self.victim = Victim::start(&self.probe, &self.path("outside"));
        }
        self.before = self.snapshot();
        self.listeners.visitors();
        self.descriptors.message();
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    /// Makes a directory hold these files and its sockets, nothing else.
    fn restore(&self, directory: &str, files: &[(&str, &str)]) {
        for entry in fs::read_dir(self.path(directory)).expect("a directory").flatten() {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                fs::remove_dir_all(entry.path()).expect("removed");
            } else if kind.is_file() || kind.is_symlink() {
                fs::remove_file(entry.path()).expect("removed");
            }
        }
        for (name, content) in files {
            self.write(&format!("{directory}/{name}"), content);
            let mode = fs::Permissions::from_mode(0o644);
            fs::set_permissions(self.path(directory).join(name), mode).expect("a mode");
        }
    }

    fn snapshot(&self) -> Snapshot {
        let places = ["home", "outside", "ro"].map(|name| self.path(name));
        let protected = PROTECTED.map(|name| self.path("work").join(name));
        Snapshot::of(places.into_iter().chain(protected))
    }

    /// What the probe is told.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = self.listeners.arguments.clone();
        for name in ["home", "outside", "ro", "work"] {
            arguments.push(format!("{name}={}", self.path(name).display()));
        }
        arguments.extend(self.descriptors.arguments());
        arguments.push(format!("victim={}", self.victim.child.id()));
        arguments.push(format!("address={}", self.victim.address));
        let here = std::env::current_dir().expect("a directory");
        arguments.push(format!("hostcwd={}", here.display()));
        arguments.push(format!("nameserver={}", name_server()));
        arguments.push(format!("secret={SECRET}"));
        arguments.push(format!("sentinel={}", self.sentinel()));
        arguments.push(format!("cap={CAP}"));
        arguments.push(format!("survive_ms={SURVIVE_MS}"));
        arguments
    }

    /// The name of a file that an attempt makes in a shared directory.
    fn sentinel(&self) -> String {
        let name = self.top.path().file_name().expect("a name").to_string_lossy();
        format!("{name}-seen")
    }

    /// Calls from the host into what listens, for as long as the guard lives.
    pub(crate) fn call_out(&self) -> Callers {
        self.listeners.call_out()
    }

    /// What the attempt did to the world, in words; empty where it did nothing. What a report of
    /// changes found in the workdir is left out.
    pub(crate) fn breaches(
        &mut self,
        attempt: &Attempt,
        stdout: &[u8],
        found: Option<&ChangeReport>,
    ) -> Vec<String> {
        let mut breaches = Vec::new();
        if attempt.leaves_processes() && self.waits_for_survivor() {
            breaches.push("a process lived on".to_owned());
        }
        let found = found.map(|report| self.found_in_workdir(report)).unwrap_or_default();
        let differences = self.before.differences(&self.snapshot());
        for path in differences.into_iter().filter(|path| !found.contains(path)) {
            breaches.push(format!("{path} changed"));
        }
        if String::from_utf8_lossy(stdout).contains(CANARY) {
            breaches.push("a canary was read".to_owned());
        }
        match self.listeners.visitors() {
            0 => {}
            count => breaches.push(format!("{count} came to the host's sockets")),
        }
        if self.descriptors.message() {
            breaches.push("an inherited connection was used".to_owned());
        }
        if self.waits_for_victim(attempt) {
            breaches.push("the victim was ended".to_owned());
        }
        for directory in ["/tmp", "/dev/shm"] {
            let path = Path::new(directory).join(self.sentinel());
            if fs::remove_file(&path).is_ok() {
                breaches.push(format!("{} was made", path.display()));
            }
        }
        breaches
    }

    /// The paths of a report, which is worth something if it lists what would be run.
    fn found_in_workdir(&self, report: &ChangeReport) -> BTreeSet<String> {
        let changes = &report.changes;
        let lists = [&changes.created, &changes.changed, &changes.deleted];
        let all =
            lists.into_iter().flatten().filter(|_| !report.executable_configuration.is_empty());
        all.map(|one| self.path("work").join(&one.path).display().to_string()).collect()
    }

    fn waits_for_survivor(&self) -> bool {
        let file = self.path("work/survived");
        comes_to_be(|| file.exists())
    }

    /// Whether the victim has ended. A signal that others are asked to send takes its time to arrive.
    fn waits_for_victim(&mut self, attempt: &Attempt) -> bool {
        let ended = !self.victim.is_alive();
        if attempt.signals_later() {
            ended || comes_to_be(|| !self.victim.is_alive())
        } else {
            ended
        }
    }
}

/// Whether something is so before long.
fn comes_to_be(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + SURVIVAL;
    while Instant::now() < end {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    is_so()
}

/// The machine's name server, or where one would be on the machine itself.
fn name_server() -> String {
    let config = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let server = config.lines().find_map(|line| line.strip_prefix("nameserver "));
    server.map_or("127.0.0.53", str::trim).to_owned()
}

/// Descriptors that every child inherits unless something closes them.
#[derive(Debug)]
struct Descriptors {
    directory: OwnedFd,
    file: OwnedFd,
    high: OwnedFd,
    socket: UnixStream,
    other_end: UnixStream,
}

impl Descriptors {
    fn open(outside: &Path) -> Self {
        let limit = Rlimit {
            current: Some(4096),
            maximum: rustix::process::getrlimit(Resource::Nofile).maximum,
        };
        rustix::process::setrlimit(Resource::Nofile, limit).expect("more descriptors");
        let directory = OwnedFd::from(fs::File::open(outside).expect("a directory"));
        let file = OwnedFd::from(fs::File::open(outside.join("canary")).expect("a file"));
        let high = fcntl_dupfd_cloexec(&file, 1500).expect("a high number");
        let (socket, other_end) = UnixStream::pair().expect("a pair");
        other_end.set_nonblocking(true).expect("a mode");
        for fd in [&directory, &file, &high] {
            fcntl_setfd(fd, FdFlags::empty()).expect("inheritable");
        }
        fcntl_setfd(&socket, FdFlags::empty()).expect("inheritable");
        Self { directory, file, high, socket, other_end }
    }

    fn arguments(&self) -> [String; 4] {
        [
            format!("dirfd={}", self.directory.as_raw_fd()),
            format!("filefd={}", self.file.as_raw_fd()),
            format!("highfd={}", self.high.as_raw_fd()),
            format!("sockfd={}", self.socket.as_raw_fd()),
        ]
    }

    /// Whether somebody wrote to the connection since the last time.
    fn message(&mut self) -> bool {
        self.other_end.read(&mut [0; 64]).is_ok_and(|read| read > 0)
    }
}

/// A process to attack. It ends when its input does.
#[derive(Debug)]
struct Victim {
    child: Child,
    address: u64,
}

impl Victim {
    fn start(probe: &Path, outside: &Path) -> Self {
        let mut child = command(probe)
            .arg("--victim")
            .current_dir(outside)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the victim starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        Self { child, address: told["address"].as_u64().expect("an address") }
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _reaped = self.child.wait();
    }
}
