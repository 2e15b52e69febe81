//! Sessions that are ready before they are asked for.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use rlm_backend::{Backend, Language, Run, SandboxConfig, SessionId, SessionManager};
use testkit::sessions::{MockBackend, Played};
use tokio::time::Instant;

use crate::support::soon;

fn local(config: SandboxConfig) -> SessionManager {
    crate::backend::manager(config)
}

/// The value of a line of Python, with the number of its interpreter.
async fn value(manager: &SessionManager, id: SessionId, code: &str) -> (String, u64) {
    let run = Run {
        language: Language::Python,
        code: code.to_owned(),
        deadline: Instant::now() + Duration::from_secs(20),
        grace: Duration::from_secs(2),
        watcher: None,
    };
    let outcome = manager.run(Some(id), run).await.unwrap().1.outcome;
    (format!("{:?}", outcome.shown), outcome.generation)
}

async fn ready(manager: &SessionManager, count: usize) {
    soon("the pool is full", || manager.warm_count() == count).await;
}

#[tokio::test]
async fn a_session_from_the_pool_has_its_interpreter_and_a_place_of_its_own() {
    crate::support::here!();
    let manager = local(SandboxConfig::default());
    assert_eq!(manager.warm_count(), 0);
    manager.create().await.unwrap();
    let mut places = BTreeSet::new();
    for _ in 0..3 {
        ready(&manager, 1).await;
        let id = manager.create().await.unwrap();
        let status = manager.status(id).await.unwrap();
        assert!(status.python.is_running && status.age < Duration::from_secs(1), "{status:?}");
        let (place, generation) = value(&manager, id, "import os; os.stat('.')[1:3]").await;
        assert_eq!(generation, 1);
        places.insert(place);
    }
    assert_eq!((places.len(), manager.count()), (3, 4));
}

#[tokio::test]
async fn one_that_died_in_the_pool_is_given_to_nobody_and_is_replaced() {
    crate::support::here!();
    let backend = MockBackend::new(|_| Played::value("here"));
    let shared: Arc<dyn Backend> = Arc::new(backend.clone());
    let manager = SessionManager::new(shared, SandboxConfig::default());
    manager.create().await.unwrap();
    for _ in 0..3 {
        ready(&manager, 1).await;
        backend.kill_drivers();
        ready(&manager, 0).await;
        let id = manager.create().await.unwrap();
        assert!(value(&manager, id, "1").await.0.contains("here"));
    }
    ready(&manager, 1).await;
}

#[tokio::test]
async fn the_pool_is_as_large_as_it_is_set_and_nothing_is_ahead_where_there_is_none() {
    crate::support::here!();
    for size in [0, 1, 3] {
        let backend = MockBackend::new(|_| Played::default());
        let shared: Arc<dyn Backend> = Arc::new(backend.clone());
        let config =
            SandboxConfig { warm_sessions: size, max_sessions: 2, ..SandboxConfig::default() };
        let manager = SessionManager::new(shared, config);
        let size = usize::try_from(size).unwrap();
        manager.create().await.unwrap();
        ready(&manager, size).await;
        manager.create().await.unwrap();
        ready(&manager, size).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!((backend.opened(), manager.warm_count()), (2 + size, size));
        // What is ready counts as no session, and gives none over the limit.
        assert_eq!(manager.count(), 2);
        assert!(manager.create().await.unwrap_err().to_string().contains("no more are allowed"));
    }
}

#[tokio::test]
async fn what_is_ready_ends_with_the_manager() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let manager = local(SandboxConfig {
        workdir: Some(folder.path().to_owned()),
        ..SandboxConfig::default()
    });
    manager.create().await.unwrap();
    ready(&manager, 1).await;
    assert!(working_in(&name) > 0, "an interpreter waits");
    drop(manager);
    soon("it is gone", || working_in(&name) == 0).await;
}

/// How many processes of this machine work in a directory of this name.
fn working_in(name: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap();
    let places =
        entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path().join("cwd")).ok());
    places.filter(|place| place.to_string_lossy().contains(name)).count()
}
