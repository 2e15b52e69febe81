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
    let text = |kib: u64| format!("{:.2} MiB", kib as f64 / 1024.0);
    let (members, bare) = peers::beside_idle_python(|bare| (members(), pss(bare)));
    let parts: Vec<_> =
        members.iter().map(|(name, kib)| format!("{name} {}", text(*kib))).collect();
    let session = members.iter().map(|(_, kib)| kib).sum();
    let work = format!("one idle Python session after `1+1` ({})", parts.join(", "));
    let ratio = session as f64 / bare as f64;
    line(&work, &text(session), "a bare `python3` that waits", &text(bare), ratio, Some(1.2));
    direct.end();
}

/// The processes of the one session that there is, with their sizes: the interpreter, and the first
/// process of its tree.
fn members() -> Vec<(&'static str, u64)> {
    let launched = children(std::process::id()).into_iter().flat_map(children);
    let with_interpreter = |first: u32| {
        let below = children(first).into_iter().find(|&pid| name(pid).contains("python"));
        below.map(|interpreter| vec![("init", pss(first)), ("python", pss(interpreter))])
    };
    launched.into_iter().find_map(with_interpreter).unwrap()
}

fn name(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(words.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
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
