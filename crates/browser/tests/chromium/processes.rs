//! Processes of this machine, by `/proc`.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Kills a process.
pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // One that is gone is what is wanted.
    let _ = kill_process(pid, Signal::KILL);
}

/// The processes that descend from one, itself included, whose command line holds this.
pub(crate) fn below(top: u32, text: &str) -> Vec<u32> {
    let mut all = vec![top];
    let parents = parents();
    let mut at = 0;
    while let Some(&parent) = all.get(at) {
        all.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    let holds = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(text))
    };
    all.retain(holds);
    all
}

/// Each process with its parent.
fn parents() -> Vec<(u32, u32)> {
    let pids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        Some((pid, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    pids.filter_map(parent).collect()
}

/// Waits until all of them have ended.
pub(crate) async fn are_gone(pids: &[u32]) {
    let is_there = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    };
    for _ in 0..100 {
        if !pids.iter().any(is_there) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let left: Vec<_> = pids.iter().filter(|pid| is_there(pid)).collect();
    panic!("these processes are left: {left:?}");
}
