//! What an idle session keeps of memory: the proportional sizes of its processes.

use std::{fs, time::Duration};

use rlm_backend::Language;

use crate::{peers, subject::Direct, table::line};

/// A Python session with its init, beside a bare interpreter that waits for input.
pub(crate) async fn idle() {
    // The measured ones share pages with each other and with nothing that only the bench starts.
    let mut direct = Direct::start(Language::Python).await;
    direct.run("1+1").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (session, bare) = peers::beside_idle_python(|bare| (of_session(), pss(bare)));
    let text = |kib: u64| format!("{:.2} MiB", kib as f64 / 1024.0);
    for (pid, name) in members() {
        println!("<!-- {name}: {} -->", text(pss(pid)));
    }
    let ratio = session as f64 / bare as f64;
    let bar = Some(1.2);
    line("one idle Python session", &text(session), "a bare `python3`", &text(bare), ratio, bar);
    direct.end();
}

fn of_session() -> u64 {
    members().into_iter().map(|(pid, _)| pss(pid)).sum()
}

/// The processes of the one session that there is: descendants of this process but for the
/// launcher itself and bare interpreters.
fn members() -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut open = children(std::process::id());
    while let Some(pid) = open.pop() {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let first = words.split(|&byte| byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(first).into_owned();
        let below = children(pid);
        let parent_is_bench = children(std::process::id()).contains(&pid);
        if !parent_is_bench {
            found.push((pid, name));
        }
        open.extend(below);
    }
    found
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .flat_map(|task| {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// The proportional size of a process, in KiB.
fn pss(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
