//! A pool over the helper program, and ways to look at what it does.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, OnceLock},
    time::Duration,
};

use spawner::{
    AgentId, AgentPool, AgentRecord, AgentRequest, Collect, NoHost, OutputPiece, OutputStream,
    SubagentConfig,
};

/// No agent of a test takes this long.
pub(crate) const LONG: Duration = Duration::from_secs(40);

/// The helper program of `testkit`, built once.
pub(crate) fn helper() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "how an ordinary user is given the program")]
        if let Some(built) = std::env::var_os("REMIT_TEST_AGENT") {
            return built.into();
        }
        // target/PROFILE/deps/NAME: the program is built as this test was.
        let own = std::env::current_exe().unwrap();
        let folder = own.parent().and_then(Path::parent).unwrap();
        let release = folder.ends_with("release").then_some("--release");
        #[expect(clippy::disallowed_methods, reason = "a test builds the program that it starts")]
        let built = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--quiet", "--package", "testkit", "--bin", "agent"])
            .args(release)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(built.success());
        folder.join("agent")
    })
}

/// A pool whose provider `helper` behaves in the way that is its argument, with more in the section
/// and in the provider.
pub(crate) fn config(section: &str, provider: &str) -> SubagentConfig {
    let program = match provider.starts_with("program") {
        true => String::new(),
        false => format!("program = {:?}", helper().display().to_string()),
    };
    let text = format!("grace_ms = 400\n{section}\n[providers.helper]\n{program}\n{provider}\n");
    toml::from_str(&text).unwrap()
}

pub(crate) fn pool(section: &str, provider: &str) -> AgentPool {
    AgentPool::new(config(section, provider), Arc::new(NoHost)).unwrap()
}

/// A pool whose agents behave in one way.
pub(crate) fn way(way: &[&str]) -> AgentPool {
    pool("", &format!("args = {way:?}"))
}

pub(crate) async fn spawn(pool: &AgentPool, task: &str) -> AgentId {
    pool.spawn(AgentRequest::new(task)).await.unwrap()
}

/// Waits for an agent's end.
pub(crate) async fn ended(pool: &AgentPool, id: AgentId) -> AgentRecord {
    let mut since = 0;
    loop {
        let ask = Collect { since: Some(since), wait: Duration::from_secs(5), max: 1 << 24 };
        let collected = tokio::time::timeout(LONG, pool.collect(id, ask)).await.unwrap().unwrap();
        if collected.is_done {
            return collected.record;
        }
        since = collected.output.next;
    }
}

/// All that an agent has written on a stream.
pub(crate) async fn written(pool: &AgentPool, id: AgentId, wanted: OutputStream) -> Vec<u8> {
    let ask = Collect { since: Some(0), max: 1 << 30, ..Collect::default() };
    bytes(&pool.collect(id, ask).await.unwrap().output.pieces, wanted)
}

pub(crate) fn bytes(pieces: &[OutputPiece], wanted: OutputStream) -> Vec<u8> {
    let parts = pieces.iter().filter_map(|piece| match piece {
        OutputPiece::Bytes { stream, bytes } if *stream == wanted => Some(bytes.clone()),
        _ => None,
    });
    parts.collect::<Vec<_>>().concat()
}

/// How many processes there are whose command line holds a text.
pub(crate) fn processes(mark: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(mark.len()).any(|part| part == mark.as_bytes())).count()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(tokio::time::Instant::now() < deadline, "not so in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
