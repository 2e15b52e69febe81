//! Hosts that are killed, and what is left of them.

use std::{
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use rlm_backend::{
    DockerBackend, DockerConfig, Language, PullPolicy, Run, SandboxConfig, SessionId,
    SessionManager, StateAfter,
};
use testkit::docker::{IMAGE, TestEngine};

/// How many hosts are killed if the command line does not say.
pub(crate) const KILLS: u64 = 10;
/// The argument that makes this program a host.
pub(crate) const AS_HOST: &str = "--as-host";
/// A host lives no longer than this: some containers come and go in it.
const LONGEST_LIFE_MS: u64 = 4000;
/// How soon the next start has removed everything, also where the engine is busy.
const GRACE: Duration = Duration::from_secs(60);

fn config(host: &str) -> SandboxConfig {
    SandboxConfig {
        backend: "docker".to_owned(),
        warm_sessions: 1,
        docker: DockerConfig {
            host: Some(host.to_owned()),
            image: IMAGE.to_owned(),
            pull: PullPolicy::Never,
            ..DockerConfig::default()
        },
        ..SandboxConfig::default()
    }
}

fn manager(host: &str) -> SessionManager {
    let config = config(host);
    SessionManager::new(Arc::new(DockerBackend::new(config.clone())), config)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Makes, uses and destroys sessions until somebody kills this process.
pub(crate) fn be_one(host: &str) {
    let manager = manager(host);
    runtime().block_on(async {
        tokio::join!(use_sessions(&manager), use_sessions(&manager));
    });
}

async fn use_sessions(manager: &SessionManager) {
    loop {
        let id = manager.create().await.unwrap();
        let kept = manager.create().await.unwrap();
        shown(manager, id, "open('f', 'w').write('x')").await;
        shown(manager, kept, "import time; time.sleep(0.2)").await;
        manager.destroy(id).await.unwrap();
        manager.destroy(kept).await.unwrap();
    }
}

/// What a line of code shows in a session.
async fn shown(manager: &SessionManager, id: SessionId, code: &str) -> String {
    let run = Run {
        language: Language::Python,
        code: code.to_owned(),
        deadline: tokio::time::Instant::now() + Duration::from_secs(60),
        grace: Duration::from_secs(2),
        watcher: None,
    };
    let (_, ran) = manager.run(Some(id), run).await.unwrap();
    assert_eq!(ran.outcome.state, StateAfter::Kept, "{:?}", ran.outcome);
    format!("{:?}", ran.outcome.shown)
}

/// Kills one host after another, and looks at what is left after the next start.
pub(crate) fn kill_many(engine: &TestEngine, kills: u64) {
    let mut random = Random(seed());
    println!("seed {}", random.0);
    let runtime = runtime();
    let ours = manager(&engine.host());
    let session = runtime.block_on(ours.create()).unwrap();
    runtime.block_on(shown(&ours, session, "x = 41"));
    let (mut killed, mut at_death, mut slowest) = (Vec::new(), 0, Duration::ZERO);
    for _ in 0..kills {
        let life = Duration::from_millis(random.below(LONGEST_LIFE_MS));
        let mut host = start(&engine.host());
        thread::sleep(life);
        at_death += of(engine, &[host.id()]);
        host.kill().unwrap();
        host.wait().unwrap();
        killed.push(host.id());
        slowest = slowest.max(await_nothing(engine, host.id(), life));
        let shown = runtime.block_on(shown(&ours, session, "x"));
        assert!(shown.contains("41"), "a session of another host was touched: {shown}");
    }
    thread::sleep(Duration::from_secs(1));
    assert_eq!(of(engine, &killed), 0, "something came to life later");
    println!(
        "{kills} hosts with {at_death} containers killed, nothing left; the slowest end took {slowest:.1?}"
    );
    assert!(at_death > 0, "no host lived long enough to make a container");
}

#[expect(clippy::disallowed_methods, reason = "the host is to be killed, not confined")]
fn start(host: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([AS_HOST, host])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Starts again and again what removes containers, until none is left of a host. Says how long that took.
fn await_nothing(engine: &TestEngine, host: u32, life: Duration) -> Duration {
    let begun = Instant::now();
    loop {
        // What a request of the host's last moment still makes is found by the one after it.
        DockerBackend::new(config(&engine.host())).reap().unwrap();
        let left = of(engine, &[host]);
        if left == 0 {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < GRACE, "{left} containers of a host killed after {life:?}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// How many containers are of these hosts, by the label of their owner.
fn of(engine: &TestEngine, hosts: &[u32]) -> usize {
    let containers = engine.labelled();
    let owner = |label: &str| {
        let owner: serde_json::Value = serde_json::from_str(label).ok()?;
        u32::try_from(owner["pid"].as_u64()?).ok()
    };
    let owners = containers.iter().filter_map(|it| owner(it.labels.get("remit.owner")?));
    owners.filter(|pid| hosts.contains(pid)).count()
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
