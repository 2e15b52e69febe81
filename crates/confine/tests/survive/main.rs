//! Nothing survives: a host is killed with SIGKILL at random moments, and everything is gone soon.
//!
//! The program runs itself as the host: it starts confined trees that ignore signals and leave
//! their session, ends some, and starts more, each of which has the next one built ahead, until it is
//! killed. Judged is the system: no process
//! of this executable is left (host, launcher, first processes of children), none of the trees'
//! programs, no control group, no mount, no file.
//!
//! `cargo test -p confine --test survive [-- --rounds N]` says how many hosts are killed on each level;
//! `cargo xtask soak survive` kills 200.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and the seed is printed to repeat it"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use confine::{Command, Confinement, Mechanism, NamespaceMaker, Outcome, Prepared};
use rustix::process::{Pid, Signal, kill_process};

/// How often a host is killed on each level if the command line does not say.
const ROUNDS: u64 = 15;

/// A host lives no longer than this.
const LONGEST_LIFE_MS: u64 = 200;

/// How soon everything has to be gone.
const GRACE: Duration = Duration::from_secs(3);

/// The argument that makes this program a host.
const HOST: &str = "--as-host";

/// A tree that wants to stay: it ignores signals and has a member in another session.
const TREE: &str = "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 0.1; \
                    done' MARK &); while :; do sleep 0.1; done";

fn main() {
    let words: Vec<_> = std::env::args().collect();
    match words.iter().position(|word| word == HOST).map(|at| &words[at + 1..]) {
        Some([level, mark, directory]) => be_a_host(level, mark, Path::new(directory)),
        _ => {
            // In this order: the second part gives this process a launcher of its own.
            kill_hosts(rounds_of(&words));
            kill_launchers();
            let_none_wait_in_vain();
        }
    }
}

/// How often a host is killed on each level.
fn rounds_of(words: &[String]) -> u64 {
    let at = words.iter().position(|word| word == "--rounds");
    at.map_or(ROUNDS, |at| words[at + 1].parse().unwrap())
}

/// Starts and ends trees until somebody kills this process.
fn be_a_host(level: &str, mark: &str, directory: &Path) {
    let prepared = prepare(level, directory);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| start_trees(&prepared, mark));
        }
    });
}

/// A confinement of one of the levels.
fn prepare(level: &str, directory: &Path) -> Prepared {
    let asked = Confinement::builder(directory);
    let asked = match level {
        "full" => asked,
        "bwrap" => asked.namespaces_by(NamespaceMaker::Bubblewrap),
        _ => asked.without(Mechanism::Namespaces),
    };
    asked.prepare().unwrap()
}

/// Starts trees, keeps one in two.
fn start_trees(prepared: &Prepared, mark: &str) {
    let mut kept = Vec::new();
    loop {
        let line = TREE.replace("MARK", mark);
        let child = prepared.spawn(Command::new("sh").args(["-c", &line, mark])).unwrap();
        if kept.len() % 2 == 0 {
            drop(prepared.spawn(Command::new("sh").args(["-c", &line, mark])).unwrap());
        }
        kept.push(child);
    }
}

/// Kills this process's own launcher: its children go with it or with their handle, and the next
/// launch starts another one.
fn kill_launchers() {
    for (level, ends_with_launcher) in [("full", true), ("bwrap", true), ("landlock", false)] {
        let directory = tempfile::tempdir().unwrap();
        let mark = format!("orphan-{}-{level}", process::id());
        let prepared = prepare(level, directory.path());
        let line = TREE.replace("MARK", &mark);
        let child = prepared.spawn(Command::new("sh").args(["-c", &line, &mark])).unwrap();
        await_condition("the tree runs", || trees(&mark) >= 2);
        // The second launch has a third child built, which waits and ends with the launcher too.
        assert_eq!(run_true(&prepared), Outcome::Code(0));
        let launcher = launcher_of(process::id());
        kill_process(launcher, Signal::KILL).unwrap();
        if ends_with_launcher {
            await_condition("the tree ends with its launcher", || trees(&mark) == 0);
        }
        assert_eq!(run_true(&prepared), Outcome::Code(0));
        drop(child);
        await_condition("the tree ends with its handle", || trees(&mark) == 0);
    }
    println!("3 launchers killed, nothing left");
}

/// Children that wait for an order are few, and end with their confinement.
fn let_none_wait_in_vain() {
    let directory = tempfile::tempdir().unwrap();
    let many: Vec<_> = (0..8).map(|_| prepare("full", directory.path())).collect();
    for prepared in &many {
        assert_eq!(run_true(prepared), Outcome::Code(0));
        assert_eq!(run_true(prepared), Outcome::Code(0));
    }
    let launcher = launcher_of(process::id());
    // Four of the confinements' and one in namespaces that are made already.
    await_condition("four wait, and one more", || children_of(launcher) == MOST_WAITING + 1);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(children_of(launcher), MOST_WAITING + 1);
    drop(many);
    await_condition("they end with their confinements", || children_of(launcher) <= 1);
    println!("nobody waits in vain");
}

/// How many children wait for an order, at most.
const MOST_WAITING: usize = 4;

/// Runs a program that does nothing.
fn run_true(prepared: &Prepared) -> Outcome {
    prepared.spawn(Command::new("true")).unwrap().wait().unwrap().outcome
}

/// How many children a process has.
fn children_of(parent: Pid) -> usize {
    let parent = parent.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    children.unwrap().split_whitespace().count()
}

/// Waits for something to become true, a little while.
fn await_condition(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < GRACE, "not so: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The launcher of a host.
fn launcher_of(host: u32) -> Pid {
    let children = fs::read_dir(format!("/proc/{host}/task")).unwrap().flatten();
    children
        .flat_map(|task| {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        })
        .find(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.starts_with(b"confine-launcher")
        })
        .and_then(|pid| Pid::from_raw(pid.parse().unwrap()))
        .unwrap()
}

/// Kills one host after another and looks at what is left.
fn kill_hosts(rounds: u64) {
    let mut random = Random(seed());
    println!("seed {}", random.0);
    let mut trees = 0;
    for level in ["full", "bwrap", "landlock"] {
        for round in 0..rounds {
            let life = Duration::from_millis(random.below(LONGEST_LIFE_MS));
            let mark = format!("survivor-{}-{level}-{round}", process::id());
            let directory = tempfile::tempdir().unwrap();
            let mounts = mount_count();
            let (host, running) = kill_one(level, &mark, directory.path(), life);
            trees += running;
            await_nothing(host, &mark, life);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "files are left");
            assert_eq!(mount_count(), mounts, "mounts are left");
        }
    }
    println!("{} hosts with {trees} processes of trees killed, nothing left", 3 * rounds);
    assert!(trees > 0, "no host lived long enough to start anything");
}

/// Runs a host for a while and kills it; answers its process number, and how many processes its
/// trees had shortly before.
#[expect(clippy::disallowed_methods, reason = "the host is to be killed, not confined")]
fn kill_one(level: &str, mark: &str, directory: &Path, life: Duration) -> (u32, usize) {
    let mut host = process::Command::new(std::env::current_exe().unwrap())
        .args([HOST, level, mark])
        .arg(directory)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(life);
    let running = trees(mark);
    host.kill().unwrap();
    host.wait().unwrap();
    (host.id(), running)
}

/// How many processes of trees there are.
fn trees(mark: &str) -> usize {
    processes(mark).iter().filter(|line| line.contains(": sh ")).count()
}

/// Waits until nothing is left of a host.
fn await_nothing(host: u32, mark: &str, life: Duration) {
    let started = Instant::now();
    loop {
        let left = (processes(mark), groups(Path::new("/sys/fs/cgroup"), host, 5));
        if left.0.is_empty() && left.1.is_empty() {
            return;
        }
        assert!(started.elapsed() < GRACE, "left of a host killed after {life:?}: {left:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Processes of this executable but for this one, and those with the mark in their arguments.
fn processes(mark: &str) -> Vec<String> {
    let ours = std::env::current_exe().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    entries
        .filter(|path| path.file_name().unwrap().to_string_lossy().parse::<u32>().is_ok())
        .filter(|path| !path.ends_with(process::id().to_string()))
        .filter_map(|path| {
            let words = fs::read(path.join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            let is_ours = fs::read_link(path.join("exe")).is_ok_and(|exe| exe == ours);
            (is_ours || words.contains(mark)).then(|| format!("{}: {words}", path.display()))
        })
        .collect()
}

/// Control groups of a host, not deeper than `depth`.
fn groups(directory: &Path, host: u32, depth: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.map(|entry| entry.path()).filter(|path| depth > 0 && path.is_dir());
    let prefix = format!("confine-{host}-");
    directories
        .flat_map(|path| match path.file_name().unwrap().to_string_lossy().starts_with(&prefix) {
            true => vec![path],
            false => groups(&path, host, depth - 1),
        })
        .collect()
}

/// How many mounts there are.
fn mount_count() -> usize {
    fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count()
}

/// A different start every time.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::from(now.subsec_nanos()) | 1
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    /// A number below a bound.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
