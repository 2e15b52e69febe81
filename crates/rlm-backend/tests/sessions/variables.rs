//! Context variables: set and read by the host, seen and changed by code.

use std::time::Duration;

use rlm_backend::{Language, Ran, Run, SandboxConfig, SessionId, SessionManager};
use serde_json::json;
use tokio::time::Instant;

async fn run(manager: &SessionManager, id: SessionId, code: &str) -> Ran {
    let run = Run {
        language: Language::Python,
        code: code.to_owned(),
        deadline: Instant::now() + Duration::from_secs(20),
        grace: Duration::from_secs(2),
        watcher: None,
    };
    manager.run(Some(id), run).await.unwrap().1
}

#[tokio::test]
async fn the_host_sets_variables_and_reads_what_code_made_of_them() {
    crate::support::here!();
    let config = SandboxConfig::default();
    let manager = crate::backend::manager(config);
    let id = manager.create().await.unwrap();
    let given = json!({"text": "a\nb", "list": [1, 2.5, null, true]});
    manager.set_variable(id, "context", given.clone()).await.unwrap();
    run(&manager, id, "size = len(context['list']); context['new'] = 1").await;
    assert_eq!(manager.variable(id, "size").await.unwrap(), json!(4));
    // It outlives its interpreter, as it was given; what code made does not.
    run(&manager, id, "import os; os._exit(1)").await;
    let next = run(&manager, id, "context['list'][0]").await;
    assert!(next.is_fresh);
    assert_eq!(manager.variable(id, "context").await.unwrap(), given);
    assert!(manager.variable(id, "size").await.is_err());
    assert!(manager.set_variable(id, "not a name", json!(1)).await.is_err());
    manager.destroy(id).await.unwrap();
    assert!(manager.variable(id, "context").await.unwrap_err().to_string().contains("destroyed"));
    assert_eq!(manager.count(), 0);
}
