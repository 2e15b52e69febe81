//! What code in a session can't reach, each attempt looked at from inside.

use std::{
    fs,
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rlm_backend::{Backend, BackendError, Place, SandboxConfig, SandboxTool, SessionAccess};
use serde_json::json;

use crate::support::Tool;

#[tokio::test]
async fn the_network_is_off() {
    crate::support::here!();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let tool = Tool::new();
    let code = format!("import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)");
    let answer = tool.python(&code).await;
    assert_eq!(answer["success"], false, "{answer}");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody came");
}

#[tokio::test]
async fn the_files_of_the_host_are_not_there() {
    crate::support::here!();
    let outside = tempfile::tempdir().unwrap();
    let canary = outside.path().join("canary");
    fs::write(&canary, "secret").unwrap();
    let tool = Tool::new();
    let answer = tool.bash(&format!("cat {}; echo spoilt > {0}", canary.display())).await;
    assert_eq!(answer["success"], false, "{answer}");
    assert!(!answer.to_string().contains("secret"));
    assert_eq!(fs::read_to_string(&canary).unwrap(), "secret");
}

#[tokio::test]
async fn the_environment_of_the_host_is_not_there() {
    crate::support::here!();
    let tool = Tool::new();
    let seen = tool.prints("tr '\\0' '\\n' < /proc/$$/environ").await;
    let names: Vec<_> = seen.lines().filter_map(|line| line.split_once('=')).collect();
    assert!(!names.is_empty());
    for (name, _) in names {
        assert!(["PATH", "HOME", "TMPDIR", "LANG", "TZ"].contains(&name), "{name}");
    }
    // This variable is one that cargo gives to every test.
    #[expect(clippy::disallowed_methods, reason = "the test looks at its own environment")]
    let mut variables = std::env::vars_os();
    assert!(variables.any(|(name, _)| name == "CARGO_MANIFEST_DIR"));
    let answer = tool.python("import os; os.environ.get('CARGO_MANIFEST_DIR')").await;
    assert_eq!(answer.get("value"), None, "{answer}");
}

#[tokio::test]
async fn a_directory_of_the_operator_is_as_writable_as_it_says() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("given"), "text").unwrap();
    crate::backend::hand_over(folder.path());
    for (access, writes) in [(SessionAccess::ReadOnly, false), (SessionAccess::ReadWrite, true)] {
        let config = SandboxConfig {
            workdir: Some(folder.path().to_owned()),
            workdir_access: access,
            ..SandboxConfig::default()
        };
        let tool = Tool::with(config);
        assert_eq!(tool.prints("cat given").await, "text");
        assert_eq!(tool.bash("echo x > made").await["success"], writes);
        assert_eq!(folder.path().join("made").exists(), writes);
    }
    assert!(folder.path().join("given").exists(), "it outlives the sessions");
}

/// A backend that counts how often it is asked, and has nothing.
#[derive(Debug, Default)]
struct Counting {
    asked: AtomicUsize,
}

impl Backend for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn probe(&self) -> Result<(), BackendError> {
        Ok(())
    }

    fn open(&self) -> Result<Box<dyn Place>, BackendError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Err(BackendError::new("nothing is here; install something"))
    }
}

#[tokio::test]
async fn without_authorization_nothing_starts() {
    crate::support::here!();
    let calls = [
        json!({"op": "execute_code", "code": "1"}),
        json!({"op": "execute_bash", "command": "true"}),
        json!({"op": "session_create"}),
    ];
    let backend = Arc::new(Counting::default());
    let asked = || backend.asked.load(Ordering::SeqCst);
    let tool = |allowed: &[&str]| {
        let made = SandboxTool::with_backend(SandboxConfig::default(), Arc::clone(&backend) as _);
        Tool::over(made.unwrap(), allowed)
    };
    let closed = tool(&[]);
    for call in &calls {
        assert_eq!(closed.error(call.clone()).await.0, "unauthorized");
    }
    assert_eq!(asked(), 0);
    let open = tool(&["sandbox"]);
    for (count, call) in (1..).zip(&calls) {
        let (kind, text) = open.error(call.clone()).await;
        assert_eq!(kind, "backend_unavailable");
        assert!(text.contains("nothing is here; install something"), "{text}");
        assert_eq!(asked(), count);
    }
}

#[tokio::test]
async fn an_operation_is_allowed_alone() {
    crate::support::here!();
    let tool = Tool::allowing(SandboxConfig::default(), &["sandbox.execute_code"]);
    let refused = tool.error(json!({"op": "execute_bash", "command": "true"})).await;
    assert_eq!(refused.0, "unauthorized");
    assert_eq!(tool.python("1 + 1").await["value"], "2");
}
