//! What the pool adds: to a launch, to a stream, to looking at agents, and to memory.
//!
//! `cargo xtask bench spawner [-- ROUNDS] [launch|look|stream]` prints medians of interleaved rounds, and
//! ratios. The ratio of streams is the median of each round's, because a machine's load changes with time.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use confine::{Command, Confinement};
use spawner::{AgentId, AgentPool, AgentRequest, Collect, NoHost, SubagentConfig};
use tokio::runtime::Runtime;

/// The bytes of the stream that is captured.
const STREAM: u64 = 1 << 30;

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(60);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let parts = ["launch", "look", "stream"];
    let asked: Vec<_> = std::env::args().filter(|word| parts.contains(&word.as_str())).collect();
    let is_asked = |part: &str| asked.is_empty() || asked.iter().any(|word| word == part);
    if is_asked("launch") {
        launch(&runtime, folder.path(), rounds);
    }
    if is_asked("look") {
        look(&runtime, folder.path(), rounds);
    }
    if is_asked("stream") {
        stream(&runtime, folder.path(), (rounds / 5).max(3));
    }
    for place in ["", "look", "stream"] {
        // What is left of the records goes with the rest.
        let _ = std::fs::remove_dir_all(state(&match place {
            "" => folder.path().to_owned(),
            place => folder.path().join(place),
        }));
    }
}

fn pool(folder: &Path, providers: &str) -> AgentPool {
    let text = format!(
        "max_live = 64\nmax_total = 100000\ntotal_time_secs = 100000000\nstate_dir = {:?}\n\
         max_output_bytes = 4294967296\ntotal_output_bytes = 1099511627776\n{providers}",
        state(folder).display().to_string()
    );
    let mut config: SubagentConfig = toml::from_str(&text).unwrap();
    config.workdir = Some(folder.to_owned());
    AgentPool::new(config, Arc::new(NoHost)).unwrap()
}

/// The state folder; in memory where that can be had, because a disk is not what is measured.
fn state(folder: &Path) -> PathBuf {
    let name = folder.to_string_lossy().replace('/', "-");
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.join(format!("bench{name}")) } else { folder.join("state") }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed(times: &mut Vec<Duration>, work: impl FnOnce()) {
    let began = Instant::now();
    work();
    times.push(began.elapsed());
}

/// From the start to the first byte of `/bin/echo`, by `confine` alone and by the pool.
fn launch(runtime: &Runtime, folder: &Path, rounds: usize) {
    let pool = pool(folder, "[providers.echo]\nprogram = \"/bin/echo\"\nargs = [\"x\"]");
    let confinement = Confinement::builder(folder).read_only_workdir();
    let prepared = confinement.prepare().unwrap();
    let (mut alone, mut whole, mut pooled) = (Vec::new(), Vec::new(), Vec::new());
    let first_byte = |prepared: &confine::Prepared| {
        let mut child = prepared.spawn(Command::new("/bin/echo").args(["x"])).unwrap();
        let mut byte = [0];
        child.take_stdout().unwrap().read_exact(&mut byte).unwrap();
        child.wait().unwrap();
    };
    for _ in 0..rounds {
        timed(&mut alone, || first_byte(&prepared));
        timed(&mut whole, || first_byte(&confinement.prepare().unwrap()));
        timed(&mut pooled, || runtime.block_on(first_output(&pool)));
    }
    let (alone, whole, pooled) = (median(alone), median(whole), median(pooled));
    println!(
        "start to first byte: confine {alone:?}, confine with its decisions {whole:?}, pool {pooled:?}"
    );
    println!("  pool / confine: {:.2}", pooled.as_secs_f64() / alone.as_secs_f64());
}

async fn first_output(pool: &AgentPool) {
    let id = pool.spawn(AgentRequest::new("x")).await.unwrap();
    let ask = Collect { since: Some(0), wait: Duration::from_secs(10), max: 1 };
    assert!(pool.collect(id, ask).await.unwrap().output.len_bytes() > 0);
    end(pool, id).await;
}

async fn end(pool: &AgentPool, id: AgentId) {
    if let Ok(handle) = pool.checkout(id) {
        handle.wait().await;
    }
}

/// `status` and `list` with few and with many agents, and what an ended one costs.
fn look(runtime: &Runtime, folder: &Path, rounds: usize) {
    let place = folder.join("look");
    std::fs::create_dir(&place).unwrap();
    let pool = pool(&place, "[providers.true]\nprogram = \"/bin/true\"\nargs = []");
    let spawn = |count: usize| {
        runtime.block_on(async {
            for _ in 0..count {
                let id = pool.spawn(AgentRequest::new("x")).await.unwrap();
                end(&pool, id).await;
            }
        });
    };
    let measure = |count: usize| {
        let ids: Vec<_> = pool.list().iter().map(|record| record.id).collect();
        assert_eq!(ids.len(), count);
        let (mut list, mut status) = (Vec::new(), Vec::new());
        for round in 0..rounds * 20 {
            timed(&mut list, || drop(std::hint::black_box(pool.list())));
            let id = ids[round % ids.len()];
            timed(&mut status, || drop(std::hint::black_box(pool.status(id).unwrap())));
        }
        (median(list), median(status))
    };
    spawn(10);
    let few = measure(10);
    let before = resident();
    spawn(990);
    let grown = resident().saturating_sub(before);
    let many = measure(1000);
    let each = |list: Duration, count: f64| list.as_secs_f64() / count;
    println!("list of 10 {:?}, of 1,000 {:?}; status {:?} and {:?}", few.0, many.0, few.1, many.1);
    println!("  list, each of 1,000 / each of 10: {:.2}", each(many.0, 1000.0) / each(few.0, 10.0));
    println!("  status, among 1,000 / among 10: {:.2}", many.1.as_secs_f64() / few.1.as_secs_f64());
    println!("memory of an ended agent: {} bytes", grown / 990);
}

/// The resident memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// 1 GiB by `cat`, read from its pipe and thrown away, and captured by the pool.
fn stream(runtime: &Runtime, folder: &Path, rounds: usize) {
    let place = folder.join("stream");
    std::fs::create_dir(&place).unwrap();
    for (kind, line) in [
        ("log lines", &b"2026-11-30 10:00:00 INFO a line of a log that says nothing\n"[..]),
        ("one line", b"0123456789"),
    ] {
        let file = place.join("data");
        let block = line.repeat((1 << 20) / line.len() + 1);
        let data = block[..1 << 20].repeat(usize::try_from(STREAM >> 20).unwrap());
        std::fs::write(&file, data).unwrap();
        let args = format!("args = [{:?}]", file.display().to_string());
        let pool = pool(&place, &format!("[providers.cat]\nprogram = \"/bin/cat\"\n{args}"));
        let prepared = Confinement::builder(&place).prepare().unwrap();
        let (mut plain, mut captured) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            timed(&mut plain, || {
                let mut child = prepared.spawn(Command::new("/bin/cat").arg(&file)).unwrap();
                let copied = drain(child.take_stdout().unwrap());
                assert_eq!(copied, STREAM);
                child.wait().unwrap();
            });
            timed(&mut captured, || {
                runtime.block_on(async {
                    let id = pool.spawn(AgentRequest::new("x")).await.unwrap();
                    end(&pool, id).await;
                    assert_eq!(pool.status(id).unwrap().stdout_bytes, STREAM);
                });
            });
            for entry in std::fs::read_dir(state(&place)).unwrap().flatten() {
                if entry.path().extension().is_some_and(|end| end == "out") {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
        }
        let ratios = plain.iter().zip(&captured).map(|(plain, captured)| {
            Duration::from_secs_f64(plain.as_secs_f64() / captured.as_secs_f64())
        });
        let ratio = median(ratios.collect()).as_secs_f64();
        let (plain, captured) = (median(plain), median(captured));
        println!("1 GiB of {kind}: cat into a pipe {plain:?}, captured {captured:?}");
        println!("  speed, captured / cat: {ratio:.2}");
        drop(pool);
    }
}

/// Reads a pipe to its end.
fn drain(mut pipe: impl Read) -> u64 {
    let (mut chunk, mut total) = (vec![0; 64 * 1024], 0);
    loop {
        match pipe.read(&mut chunk).unwrap() {
            0 => return total,
            length => total += u64::try_from(length).unwrap(),
        }
    }
}
