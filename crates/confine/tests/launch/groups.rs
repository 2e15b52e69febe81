//! Ceilings on all processes together, where this machine lets control groups be made.

use std::fs;
use std::path::Path;

use confine::{Confinement, Limit, Limits, Mechanism, MemoryHolder, Outcome};

use crate::support::{run, workdir};

/// Allocates in several processes, each below the ceiling.
const ALLOCATE: &str =
    "for i in 1 2 3 4; do head -c 40000000 /dev/zero > /dev/shm/$i; done; echo all";

#[test]
fn memory_is_limited_and_told_apart() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.memory = Some(32 << 20);
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    if !prepared.report().is_enforced(Mechanism::MemoryGroup) {
        println!("skipped: {:?}", prepared.report().status(Mechanism::MemoryGroup));
        return;
    }
    let ran = run(&prepared, ALLOCATE);
    assert_eq!(ran.outcome, Outcome::LimitExceeded(Limit::Memory), "{}", ran.stdout);
    let crashed = run(&prepared, "kill -KILL $$");
    assert_eq!(crashed.outcome, Outcome::Signal(9));
}

#[test]
fn a_fork_bomb_stays_small() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.processes = Some(20);
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    if !prepared.report().is_enforced(Mechanism::ProcessGroup) {
        println!("skipped: {:?}", prepared.report().status(Mechanism::ProcessGroup));
        return;
    }
    let few = run(&prepared, "for i in 1 2 3 4 5 6 7 8; do sleep 5 & done; echo all");
    assert_eq!(few.stdout, "all\n", "{}", few.stderr);
    let many = run(&prepared, "for i in $(seq 100); do sleep 5 & done; echo all");
    assert_eq!(many.stdout, "", "100 processes where 20 may be");
    assert!(many.stderr.to_lowercase().contains("fork"), "{}", many.stderr);
}

#[test]
fn processor_time_is_shared_out_to_all_processes_together() {
    let directory = workdir();
    let mut limits = Limits::default();
    limits.cpu_share = Some(20);
    let prepared = Confinement::builder(directory.path()).limits(limits).prepare().unwrap();
    if !prepared.report().is_enforced(Mechanism::CpuGroup) {
        println!("skipped: {:?}", prepared.report().status(Mechanism::CpuGroup));
        return;
    }
    let spin = "for i in 1 2; do timeout 2 sh -c 'while :; do :; done' & done; wait; times";
    let ran = run(&prepared, spin);
    let used = seconds_of_children(&ran.stdout);
    // Two seconds at a fifth of a processor, with room for the processes' start.
    assert!(used > 0.1 && used < 0.8, "{used} s in {}", ran.stdout);
}

/// The processor time that `times` prints for the children of a shell, in seconds.
fn seconds_of_children(said: &str) -> f64 {
    let line = said.lines().nth(1).unwrap();
    let seconds = line.split_whitespace().map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    seconds.sum()
}

#[test]
fn the_report_says_what_holds_memory() {
    let directory = workdir();
    let with = Confinement::builder(directory.path());
    let without = with.clone().without(Mechanism::MemoryGroup).prepare().unwrap();
    assert_eq!(without.report().memory_held_by(), Some(MemoryHolder::ResourceLimit));
    let with = with.prepare().unwrap();
    let by_group = with.report().is_enforced(Mechanism::MemoryGroup);
    let holder = with.report().memory_held_by().unwrap();
    assert_eq!(holder != MemoryHolder::ResourceLimit, by_group, "{holder:?}");
    let json = serde_json::to_value(with.report()).unwrap();
    assert!(json["memory_held_by"].is_string() && json["seccomp"].is_object(), "{json}");
    let mut unlimited = Limits::default();
    unlimited.memory = None;
    let unlimited = Confinement::builder(directory.path()).limits(unlimited).prepare().unwrap();
    assert_eq!(unlimited.report().memory_held_by(), None);
}

#[test]
fn groups_are_gone_after_the_end() {
    let directory = workdir();
    let prepared = Confinement::builder(directory.path()).prepare().unwrap();
    if !prepared.report().is_enforced(Mechanism::MemoryGroup) {
        println!("skipped: {:?}", prepared.report().status(Mechanism::MemoryGroup));
        return;
    }
    run(&prepared, "true");
    drop(crate::support::start(&prepared, "sleep 100"));
    run(&prepared, "true");
    let mine = format!("confine-{}-", std::process::id());
    let left: Vec<_> = find(Path::new("/sys/fs/cgroup"), &mine, 5);
    assert!(!left.is_empty(), "a child waits for its order, in groups of its own");
    drop(prepared);
    // Other tests of this process run meanwhile; theirs go too.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let still: Vec<_> = left.iter().filter(|path| path.exists()).collect();
    assert!(still.is_empty(), "{still:?}");
}

/// Directories whose name begins so, not deeper than `depth`.
fn find(directory: &Path, prefix: &str, depth: u32) -> Vec<std::path::PathBuf> {
    if depth == 0 {
        return Vec::new();
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    directories
        .flat_map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with(prefix) { vec![path] } else { find(&path, prefix, depth - 1) }
        })
        .collect()
}
