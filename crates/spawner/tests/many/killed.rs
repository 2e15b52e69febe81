//! Hosts are killed with SIGKILL at random moments: no process is left, and what was known is known.
//!
//! The program runs itself as the host, which starts agents that ignore SIGTERM and leave their session
//! until it is killed.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use spawner::{AgentLog, AgentPool, AgentRequest, AgentState, NoHost};

use crate::support::{config, processes};

/// The argument that makes this program a host.
pub(super) const HOST: &str = "--as-host";
/// A host lives no longer than this.
const LONGEST_LIFE_MS: u128 = 400;
/// How soon everything has to be gone.
const GRACE: Duration = Duration::from_secs(10);
/// An agent that wants to stay.
const SCRIPT: &str = "trap '' TERM; setsid sleep 41 & while :; do sleep 0.1; done";

/// Kills so many hosts, all with one state folder.
pub(super) fn kill_hosts(rounds: u64) {
    let state = tempfile::tempdir().unwrap();
    let mut known = 0;
    for round in 0..rounds {
        let mark = format!("killed-mark-{}-{round}", std::process::id());
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let life =
            Duration::from_millis(u64::try_from(clock.as_micros() % LONGEST_LIFE_MS).unwrap());
        #[expect(clippy::disallowed_methods, reason = "the program starts itself as the host")]
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args([HOST, &mark])
            .arg(state.path())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(life);
        host.kill().unwrap();
        host.wait().unwrap();
        let deadline = Instant::now() + GRACE;
        while processes(&mark) > 0 {
            assert!(Instant::now() < deadline, "round {round}, after {life:?}: an agent is left");
            thread::sleep(Duration::from_millis(10));
        }
        let list = AgentLog::new(state.path()).list().unwrap();
        assert!(list.iter().all(|record| record.state == AgentState::Lost), "{list:?}");
        assert!(list.len() >= known, "records were lost");
        known = list.len();
    }
    println!("{rounds} hosts killed, {known} agents lost with them");
    assert!(known > 0, "no host has lived long enough to start an agent");
}

/// Starts agents until somebody kills this process.
pub(super) async fn be_a_host(mark: &str, state: &Path) {
    let provider = format!("program = \"sh\"\nargs = [\"-c\", {SCRIPT:?}, {mark:?}]");
    let mut config =
        config("max_live = 64\nmax_total = 1000000\ntotal_time_secs = 100000000", &provider);
    config.state_dir = Some(state.to_owned());
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    for _ in 0..8 {
        // What is refused here is not what is looked at.
        let _ = pool.spawn(AgentRequest::new("x")).await;
    }
    tokio::time::sleep(GRACE * 6).await;
}
