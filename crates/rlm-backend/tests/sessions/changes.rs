//! What sessions make of a directory that outlives them.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, Mutex},
};

use rlm_backend::{ProtectionConfig, SandboxConfig, SessionAccess};
use serde_json::{Value, json};

use crate::support::{Tool, soon};
use tracing_subscriber::fmt::MakeWriter;

/// The tool over a directory that sessions may write.
fn in_directory(path: &Path) -> Tool {
    Tool::with(config(path))
}

fn config(path: &Path) -> SandboxConfig {
    crate::backend::hand_over(path);
    SandboxConfig {
        workdir: Some(path.to_owned()),
        workdir_access: SessionAccess::ReadWrite,
        ..SandboxConfig::default()
    }
}

async fn destroy(tool: &Tool, id: &Value) -> Value {
    tool.answer(json!({"op": "session_destroy", "session_id": id})).await
}

/// The paths of a list.
fn paths(list: &Value) -> Vec<&str> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(|one| one["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_the_host_runs_later_is_read_only_in_a_session() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    fs::write(folder.path().join(".git/config"), "[core]\n").unwrap();
    let tool = in_directory(folder.path());
    for command in ["echo x > .git/hooks/pre-commit", "echo x >> .git/config", "mv .git other"] {
        let ran = tool.bash(command).await;
        assert_eq!(ran["success"], false, "{command}: {ran}");
    }
    let ran = tool.python("open('.git/config', 'a')").await;
    assert_eq!(ran["error"]["type"], "OSError", "{ran}");
    assert_eq!(fs::read_dir(folder.path().join(".git/hooks")).unwrap().count(), 0);
    let status = &tool.call(json!({"op": "execute_code", "code": "1"})).await.outcome.unwrap();
    let confinement = status.confinement.as_ref().unwrap();
    assert_eq!(confinement["protected_names"]["status"], "partial", "{confinement}");
}

#[tokio::test]
async fn a_call_tells_what_the_host_would_run_and_the_end_tells_everything() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), "x").unwrap();
    let tool = in_directory(folder.path());
    let first = tool.bash("echo 1 > plain").await;
    assert_eq!(first.get("executable_configuration"), None, "{first}");
    let second = tool.python("open('.envrc', 'w').write('x'); open('Makefile', 'w').close()").await;
    assert_eq!(paths(&second["executable_configuration"]), [".envrc", "Makefile"], "{second}");
    let third = tool.bash("rm old").await;
    assert_eq!(third.get("executable_configuration"), None, "it was told already: {third}");

    let end = destroy(&tool, &first["session_id"]).await;
    let changes = &end["changes"];
    assert_eq!(paths(&changes["created"]), [".envrc", "Makefile", "plain"], "{end}");
    assert_eq!(paths(&changes["deleted"]), ["old"]);
    assert_eq!(paths(&changes["executable_configuration"]), [".envrc", "Makefile"]);
    assert_eq!(changes["complete"], true);
}

#[tokio::test]
async fn what_was_there_before_the_first_call_is_not_told() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    let tool = in_directory(folder.path());
    let id = tool.answer(json!({"op": "session_create"})).await["session_id"].clone();
    fs::write(folder.path().join(".envrc"), "the operator's").unwrap();
    let run = json!({"op": "execute_bash", "command": "true", "session_id": id});
    assert_eq!(tool.answer(run).await.get("executable_configuration"), None);
    assert_eq!(destroy(&tool, &id).await.get("changes"), None);
}

#[tokio::test]
async fn the_host_puts_nothing_that_it_would_run_later_either() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    for name in ["store/objects", "store/refs", "store/hooks", "scripts", ".git/hooks"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("store/HEAD"), "ref: refs/heads/main").unwrap();
    fs::write(folder.path().join("scripts/check"), "old").unwrap();
    let hook = folder.path().join(".git/hooks/pre-commit");
    std::os::unix::fs::symlink("../../scripts/check", hook).unwrap();
    let tool = in_directory(folder.path());
    let put = |path: &str| {
        json!({
            "op": "file_put", "path": path, "content": "x", "overwrite": true,
            "session_id": Value::Null,
        })
    };
    let id = tool.create().await;
    for (path, fits) in [
        ("mise.toml", false),
        ("store/hooks/post-update", false),
        ("store/config", false),
        ("scripts/check", false),
        ("web/.vscode/tasks.json", false),
        ("scripts/other", true),
        ("Makefile", true),
    ] {
        let mut call = put(path);
        call["session_id"] = json!(id);
        let answer = tool.call(call).await.outcome;
        assert_eq!(answer.is_ok(), fits, "{path}: {answer:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("scripts/check")).unwrap(), "old");
}

#[tokio::test]
async fn a_private_directory_has_neither() {
    crate::support::here!();
    let tool = Tool::new();
    let ran =
        tool.bash("mkdir -p .git/hooks && echo x > .git/config && echo x > .git/hooks/pre-commit && echo > .envrc").await;
    assert_eq!(ran["success"], true, "{ran}");
    assert_eq!(ran.get("executable_configuration"), None);
    let ran = tool.python("open('.git/config', 'a').write('x')").await;
    assert_eq!(ran["success"], true, "{ran}");
    assert_eq!(destroy(&tool, &ran["session_id"]).await.get("changes"), None);
}

#[tokio::test]
async fn an_operator_adds_names_and_takes_them_out() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    for name in ["deploy.sh", ".envrc"] {
        fs::write(folder.path().join(name), "old").unwrap();
    }
    let one = |name: &str| vec![name.to_owned()];
    let protection = ProtectionConfig {
        protect: one("deploy.sh"),
        unprotect: one(".envrc"),
        ..ProtectionConfig::default()
    };
    let tool = Tool::with(SandboxConfig { protection, ..config(folder.path()) });
    assert_eq!(tool.bash("echo x > deploy.sh").await["success"], false);
    let ran = tool.bash("echo x > .envrc").await;
    assert_eq!((&ran["success"], ran.get("executable_configuration")), (&json!(true), None));

    let protection = ProtectionConfig { protect: one("*.sh"), ..ProtectionConfig::default() };
    let error = SandboxConfig { protection, ..config(folder.path()) }.check().unwrap_err();
    assert_eq!(error.key(), "protection");
    assert!(error.to_string().contains("*.sh"), "{error}");
}

#[tokio::test]
async fn many_changes_fit_in_a_result() {
    crate::support::here!();
    let folder = tempfile::tempdir().unwrap();
    let tool = in_directory(folder.path());
    let command = "for i in $(seq 300); do mkdir d$i; echo > d$i/Makefile; done";
    let ran = tool.bash(command).await;
    let told = paths(&ran["executable_configuration"]).len();
    let left_out = ran["executable_configuration_left_out"].as_u64().unwrap();
    assert_eq!(told as u64 + left_out, 300, "{ran}");
    let end = destroy(&tool, &ran["session_id"]).await;
    let changes = &end["changes"];
    let told = paths(&changes["created"]).len() + paths(&changes["executable_configuration"]).len();
    assert_eq!(told as u64 + changes["left_out"].as_u64().unwrap(), 900, "{end}");
}

/// Keeps what is logged. Sessions end on threads of their own, so it is set for all of them.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn begin() -> Self {
        let log = Self::default();
        tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).try_init().unwrap();
        log
    }

    fn lines_with(&self, text: &str) -> Vec<String> {
        let all = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        all.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_session_that_expires_tells_the_log() {
    crate::support::here!();
    let log = Log::begin();
    let folder = tempfile::tempdir().unwrap();
    let config = SandboxConfig { session_lifetime_secs: 1, ..config(folder.path()) };
    let tool = Tool::with(config);
    let ran = tool.bash("mkdir expired-3f1; echo x > expired-3f1/.envrc").await;
    assert_eq!(ran["success"], true, "{ran}");
    soon("the session expires, and the log says so", || {
        !log.lines_with("expired-3f1/.envrc").is_empty()
    })
    .await;
    let lines = log.lines_with("expired-3f1/.envrc");
    assert!(lines[0].contains("WARN") && lines[0].contains("run later"), "{lines:?}");
}
