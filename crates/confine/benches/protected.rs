//! What protection and change reports cost, by the number of files in a writable directory.
//!
//! `cargo bench -p confine --bench protected [-- ROUNDS]` prints medians of interleaved rounds: a walk,
//! a launch of a program that does nothing with and without protection, and a report after it.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "nothing is confined elsewhere"))]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use confine::{Bounds, Command, Confinement, Inventory, Prepared, Protection};

/// How many rounds there are if the command line does not say.
const ROUNDS: usize = 40;

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(ROUNDS);
    println!("| files | walk | launch without | launch with | report |");
    println!("| --- | --- | --- | --- | --- |");
    for files in [0, 100, 1000, 10_000, 50_000] {
        row(files, rounds);
    }
}

/// Measures with so many files, in a hundred directories with a repository beside them.
fn row(files: usize, rounds: usize) {
    let top = tempfile::tempdir().unwrap();
    fill(top.path(), files);
    let open = prepared(top.path(), Protection::none());
    let guarded = prepared(top.path(), Protection::standard());
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..rounds {
        let begun = Instant::now();
        drop(Inventory::take(top.path(), &Bounds::default()).unwrap());
        times[0].push(begun.elapsed());
        times[1].push(launch(&open).0);
        let (launched, reported) = launch(&guarded);
        times[2].push(launched);
        times[3].push(reported);
    }
    let [walk, without, with, report] = times.map(|mut all| {
        all.sort();
        format!("{:.2} ms", all[all.len() / 2].as_secs_f64() * 1e3)
    });
    println!("| {files} | {walk} | {without} | {with} | {report} |");
}

fn fill(top: &Path, files: usize) {
    if files == 0 {
        return;
    }
    for part in ["hooks", "info", "objects", "refs"] {
        fs::create_dir_all(top.join(".git").join(part)).unwrap();
    }
    fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(top.join(".git/config"), "[core]\n").unwrap();
    for file in 0..files {
        let directory = top.join(format!("d{}", file % 100));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("f{file}")), "x").unwrap();
    }
}

fn prepared(top: &Path, protection: Protection) -> Prepared {
    Confinement::builder(top).protection(protection).prepare().unwrap()
}

/// The pause before each launch, so that what the one before it left to be done is not counted.
const PAUSE: Duration = Duration::from_millis(10);

/// The time of a launch to its end, and of the report after it.
fn launch(prepared: &Prepared) -> (Duration, Duration) {
    std::thread::sleep(PAUSE);
    let begun = Instant::now();
    let mut child = prepared.spawn(Command::new("/bin/true")).unwrap();
    child.wait().unwrap();
    let launched = begun.elapsed();
    let begun = Instant::now();
    drop(child.changes());
    (launched, begun.elapsed())
}
