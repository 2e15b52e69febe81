//! What is checked, with numbers from the command line.

use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spawner::{AgentRequest, AgentState, Collect, OutputPiece, OutputStream};

use crate::support::{ended, pool, spawn, until, written};

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

/// Agents side by side leave nothing and lose nothing.
pub(super) async fn side_by_side(agents: u64) {
    raise_descriptors();
    let section = format!(
        "max_live = {agents}\nmax_total = 10000\ntotal_output_bytes = 1099511627776\ntotal_time_secs = 10000000"
    );
    let pool = pool(&section, &format!("args = [\"talk\", \"{LINES}\"]"));
    let warm = pool.spawn(AgentRequest::new("x")).await.unwrap();
    ended(&pool, warm).await;
    let (open, memory, began) = (descriptors(), resident_kib(), Instant::now());
    let spawns = (0..agents).map(|_| pool.spawn(AgentRequest::new("x")));
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
    println!("{agents} agents: {:?}, {grown} KiB more", began.elapsed());
    assert!(grown < 32 * 1024 + agents * 192, "{grown} KiB");
    assert_eq!(pool.live(), 0);
    until("no descriptor is left", || descriptors() <= open + 2).await;
    until("no zombie is left", || zombies() == 0).await;
    assert!(began.elapsed() < Duration::from_secs(60 + agents / 2));
}

/// A huge line is cut in its middle and counted, in bounded memory.
pub(super) async fn one_huge_line(bytes: u64) {
    let pool = pool("max_output_bytes = 100000", &format!("args = [\"flood\", \"{bytes}\"]"));
    let (memory, began) = (resident_kib(), Instant::now());
    let id = spawn(&pool, "x").await;
    let record = ended(&pool, id).await;
    assert_eq!(record.stdout_bytes, bytes);
    let grown = resident_kib().saturating_sub(memory);
    println!("{bytes} bytes in one line: {:?}, {grown} KiB more", began.elapsed());
    assert!(grown < 32 * 1024, "{grown} KiB");
    let collected = pool.collect(id, Collect { max: 1 << 20, ..Collect::default() }).await.unwrap();
    let omitted: u64 = collected
        .output
        .pieces
        .iter()
        .map(|piece| match piece {
            OutputPiece::Omitted { bytes: omitted } => *omitted,
            _ => 0,
        })
        .sum();
    assert_eq!(collected.output.len_bytes() + omitted, bytes);
    assert!(collected.output.len_bytes() < 200_000);
    let size = std::fs::metadata(pool.state_folder().join(format!("{id}.out"))).unwrap().len();
    assert!(size < 200_000, "{size}");
}
