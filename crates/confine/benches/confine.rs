//! What a launch costs: plain, confined, and by `bwrap` where that is installed.
//!
//! `cargo bench -p confine --bench confine [ROUNDS]` prints medians of interleaved runs, from the
//! launch of `/bin/true` to its end. The second table holds 1 GiB resident in this process.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use confine::{Command, Confinement, Limits, Mechanism, Outcome, Prepared, Stream};

/// What is started.
const PROGRAM: &str = "/bin/true";

/// How many rounds there are if the command line does not say.
const ROUNDS: usize = 200;

/// One row of the table.
struct Row<'a> {
    name: &'static str,
    launch: Box<dyn Fn() + 'a>,
    times: Vec<Duration>,
}

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(ROUNDS);
    let directory = tempfile::tempdir().unwrap();
    let full = Confinement::builder(directory.path()).prepare().unwrap();
    let ungrouped = Confinement::builder(directory.path())
        .without(Mechanism::MemoryGroup)
        .without(Mechanism::ProcessGroup)
        .prepare()
        .unwrap();
    let landlock = Confinement::builder(directory.path())
        .without(Mechanism::Namespaces)
        .without(Mechanism::MemoryGroup)
        .without(Mechanism::ProcessGroup)
        .limits(Limits::default())
        .prepare()
        .unwrap();
    let measure = |title: &str| {
        println!("{title}, medians of {rounds} interleaved rounds");
        table(rounds, rows(directory.path(), &full, &ungrouped, &landlock));
    };
    measure("small host");
    let ballast = vec![1_u8; 1 << 30];
    measure("host with 1 GiB resident");
    drop(std::hint::black_box(ballast));
}

/// What is compared.
fn rows<'a>(
    directory: &'a Path,
    full: &'a Prepared,
    ungrouped: &'a Prepared,
    landlock: &'a Prepared,
) -> Vec<Row<'a>> {
    let row = |name, launch: Box<dyn Fn() + 'a>| Row { name, launch, times: Vec::new() };
    let mut rows = vec![
        row("plain posix_spawn", Box::new(|| plain(PROGRAM, &[]))),
        row("confined, full", Box::new(|| confined(full))),
        row("confined, no control groups", Box::new(|| confined(ungrouped))),
        row("confined, Landlock level", Box::new(|| confined(landlock))),
    ];
    if Path::new("/usr/bin/bwrap").exists() {
        rows.push(row("bwrap --unshare-all", Box::new(|| bwrap(directory))));
    }
    rows
}

/// Runs every row in every round, and prints the medians.
fn table(rounds: usize, mut rows: Vec<Row<'_>>) {
    for _ in 0..rounds {
        for row in &mut rows {
            let started = Instant::now();
            (row.launch)();
            row.times.push(started.elapsed());
        }
    }
    let medians: Vec<_> = rows.iter_mut().map(|row| (row.name, median(&mut row.times))).collect();
    let plain = medians[0].1;
    for (name, time) in medians {
        let added = time.saturating_sub(plain);
        println!("  {name:30} {time:>10.3?}   adds {added:>10.3?}");
    }
}

/// The middle one.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Starts it under this crate and waits.
fn confined(prepared: &Prepared) {
    let command = Command::new(PROGRAM).stdout(Stream::Null).stderr(Stream::Null);
    let mut child = prepared.spawn(command).unwrap();
    assert_eq!(child.wait().unwrap().outcome, Outcome::Code(0));
}

/// Starts it under bubblewrap, with the same things visible.
fn bwrap(directory: &Path) {
    let directory = directory.to_str().unwrap();
    let arguments = [
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/usr",
        "/usr",
        "--symlink",
        "usr/bin",
        "/bin",
        "--symlink",
        "usr/lib",
        "/lib",
        "--symlink",
        "usr/lib64",
        "/lib64",
        "--ro-bind",
        "/etc/ssl/certs",
        "/etc/ssl/certs",
        "--ro-bind",
        "/etc/alternatives",
        "/etc/alternatives",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/tmp",
        "--bind",
        directory,
        directory,
        "--",
        PROGRAM,
    ];
    plain("/usr/bin/bwrap", &arguments);
}

/// Starts a program as the standard library does, and waits.
#[expect(clippy::disallowed_methods, reason = "what the launches are compared with")]
fn plain(program: &str, arguments: &[&str]) {
    let status = std::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
