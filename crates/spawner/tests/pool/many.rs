//! Many agents at once: every byte is accounted for, and nothing is left.

use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spawner::{AgentRequest, AgentState, OutputStream};

use crate::support::{ended, pool, until, written};

const AGENTS: usize = 200;
const LINES: usize = 300;

/// As many descriptors as may be had: an agent that lives has about seven.
fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).unwrap();
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Children of this process that have ended and that nobody has waited for.
fn zombies() -> usize {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let facts = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_ours = |stat: &String| {
        let behind = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
        behind.is_some_and(|mut words| words.next() == Some("Z") && words.next() == Some(&own))
    };
    facts.filter(is_ours).count()
}

#[tokio::test]
async fn two_hundred_side_by_side_leave_nothing_and_lose_nothing() {
    raise_descriptors();
    let section = format!(
        "max_live = {AGENTS}\nmax_total = 1000\ntotal_output_bytes = 1099511627776\ntotal_time_secs = 10000000"
    );
    let pool = pool(&section, &format!("args = [\"talk\", \"{LINES}\"]"));
    let warm = pool.spawn(AgentRequest::new("x")).await.unwrap();
    ended(&pool, warm).await;
    let (open, memory, began) = (descriptors(), resident_kib(), Instant::now());
    let spawns = (0..AGENTS).map(|_| pool.spawn(AgentRequest::new("x")));
    let ids = futures_util::future::join_all(spawns).await;
    let expected = |stream: &str| (0..LINES).map(|n| format!("{stream} {n}\n")).collect::<String>();
    let (out, err) = (expected("out").into_bytes(), expected("err").into_bytes());
    for id in ids {
        let id = id.unwrap();
        assert_eq!(ended(&pool, id).await.state, AgentState::Exited);
        assert!(written(&pool, id, OutputStream::Stdout).await == out);
        assert!(written(&pool, id, OutputStream::Stderr).await == err);
    }
    let grown = resident_kib().saturating_sub(memory);
    println!("{AGENTS} agents: {:?}, {grown} KiB more", began.elapsed());
    assert!(grown < 64 * 1024, "{grown} KiB");
    assert_eq!(pool.live(), 0);
    until("no descriptor is left", || descriptors() <= open + 2).await;
    until("no zombie is left", || zombies() == 0).await;
    assert!(began.elapsed() < Duration::from_secs(120));
}
