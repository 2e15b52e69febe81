//! Turnover: sessions made, used and ended one after the other leave nothing with their host.
//!
//! `cargo test -p rlm-backend --test turnover [-- --sessions N]` counts this process's descriptors,
//! its memory and the directories of sessions before and after. `cargo xtask soak sessions` has a
//! thousand of them.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and what was measured is printed"
)]

#[cfg(target_os = "linux")]
#[path = "../common/host.rs"]
mod host;

#[cfg(target_os = "linux")]
use std::{path::PathBuf, sync::Arc, time::Duration};

#[cfg(target_os = "linux")]
use rlm_backend::{
    Language, LocalBackend, Run, SandboxConfig, SessionError, SessionId, SessionManager, StateAfter,
};

/// How many sessions there are if the command line does not say.
const SESSIONS: u64 = 25;
/// The first ones warm this process up.
const FIRST: u64 = 5;
/// How much this process may grow.
const ROOM: u64 = 16 << 20;

#[cfg(target_os = "linux")]
fn main() {
    let sessions = host::number_after("--sessions").unwrap_or(SESSIONS).max(FIRST + 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(in_turn(sessions));
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
async fn in_turn(sessions: u64) {
    let config = SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() };
    let manager = SessionManager::new(Arc::new(LocalBackend::new(config.clone())), config);
    let mut before = None;
    let begun = std::time::Instant::now();
    for number in 0..sessions {
        if number == FIRST {
            before = Some((host::descriptors(), host::resident()));
        }
        let folder = one(&manager).await;
        assert!(!folder.exists(), "the directory of session {number} is left");
        assert_eq!(manager.count(), 0);
    }
    let (descriptors, resident) = before.expect("more than the first ones");
    let grown = host::resident().saturating_sub(resident);
    println!(
        "{sessions} sessions in turn in {:.1?}, memory grew by {} KiB",
        begun.elapsed(),
        grown >> 10
    );
    assert!(host::descriptors() <= descriptors, "descriptors are left");
    assert!(grown < ROOM, "memory grew by {grown} bytes");
}

/// One session, from its making to its end; gives the directory that it had.
#[cfg(target_os = "linux")]
async fn one(manager: &SessionManager) -> PathBuf {
    let id = manager.create().await.unwrap();
    let python = "import os\nopen('made', 'w').write('x' * 10_000)\nprint(os.getcwd())";
    let folder = call(manager, id, Language::Python, python).await.unwrap();
    let printed = call(manager, id, Language::Bash, "(sleep 100 &); cat made | wc -c").await;
    assert_eq!(printed.unwrap().trim(), "10000");
    manager.destroy(id).await.unwrap();
    assert!(matches!(
        call(manager, id, Language::Python, "1").await,
        Err(SessionError::Destroyed(_))
    ));
    PathBuf::from(folder.trim())
}

/// What a call prints.
#[cfg(target_os = "linux")]
async fn call(
    manager: &SessionManager,
    id: SessionId,
    language: Language,
    code: &str,
) -> Result<String, SessionError> {
    let run = Run {
        language,
        code: code.to_owned(),
        deadline: tokio::time::Instant::now() + Duration::from_secs(60),
        grace: Duration::from_secs(2),
        watcher: None,
    };
    let (_, ran) = manager.run(Some(id), run).await?;
    assert_eq!(ran.outcome.state, StateAfter::Kept, "{:?}", ran.outcome);
    Ok(ran.outcome.stdout.text().to_string())
}
