//! Declared commands, from a configuration to what they did: confined, bounded, ended in time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod changes;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tool_core::{Content, ErrorKind, ToolCall, ToolResult};
use toolset::{Config, ConfigBuilder, ToolsetError, create_default_registry};

const COMMANDS: &str = r#"
[tools.command.count]
description = "Counts the bytes of a file."
argv = ["wc", "-c", "--", "{path}"]
parameters = { type = "object", properties = { path = { type = "string" } }, required = ["path"] }

[tools.command.show]
argv = ["cat", "{path}"]
parameters = { type = "object", properties = { path = { type = "string" } } }

[tools.command.touch]
argv = ["touch", "{path}"]
parameters = { type = "object", properties = { path = { type = "string" } } }

[tools.command.make]
argv = ["touch", "{path}"]
parameters = { type = "object", properties = { path = { type = "string" } } }
workdir = "read_write"

[tools.command.environment]
argv = ["env"]
env = { GREETING = "hello" }

[tools.command.hang]
argv = ["sh", "-c", "echo so far; setsid sleep 4713 & sleep 4713"]
timeout_ms = 3000

[tools.command.flood]
argv = ["head", "-c", "300000000", "/dev/zero"]
timeout_ms = 60000

[tools.command.fail]
argv = ["sh", "-c", "echo told; echo complained >&2; exit 3"]

[tools.command.missing]
argv = ["no-such-program-here"]

[tools.command.interfaces]
argv = ["cat", "/proc/net/dev"]

[tools.command.impossible]
argv = ["touch", "made"]
workdir = "read_write"
require = ["seccomp", "guarded_paths"]

[tools.command.half]
argv = ["sh", "-c", "echo $$ > /dev/null; echo ran"]
cpu_percent = 50
require = ["no_new_privileges"]
"#;

fn config(text: &str, workdir: &Path) -> Config {
    let mut builder = ConfigBuilder::new();
    builder.file("remit.toml", text).unwrap();
    builder.set("tools.workdir", workdir.to_str().unwrap().into(), "--exec-workdir");
    builder.build().unwrap().config().clone()
}

fn sandbox(workdir: &Path) -> ToolSandbox {
    sandbox_of(&config(COMMANDS, workdir))
}

/// A sandbox in which every command may be called.
fn sandbox_of(config: &Config) -> ToolSandbox {
    let registry = Arc::new(create_default_registry(config).unwrap());
    let scope = registry.scope(config.tools.command.keys()).unwrap();
    ToolSandbox::new(registry, scope, config.limits.limits().unwrap())
}

async fn call(sandbox: &ToolSandbox, name: &str, arguments: Value) -> ToolResult {
    sandbox.execute(ToolCall::from_json("c1", name, arguments)).await.unwrap()
}

/// The streams of a call that succeeded.
async fn streams(sandbox: &ToolSandbox, name: &str, arguments: Value) -> Value {
    let result = call(sandbox, name, arguments).await;
    let text = result.for_model();
    assert!(result.is_ok(), "{name}: {text}");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_command_runs_and_says_what_was_enforced() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a file"), "four").unwrap();
    let sandbox = sandbox(folder.path());
    let result = call(&sandbox, "count", json!({"path": "a file"})).await;
    let output = result.outcome.unwrap();
    let confinement = output.confinement.unwrap();
    assert_eq!(confinement["seccomp"]["status"], "enforced", "{confinement}");
    assert_eq!(confinement["no_new_privileges"]["status"], "enforced", "{confinement}");
    let said = streams(&sandbox, "count", json!({"path": "a file"})).await;
    assert_eq!(said, json!({"stdout": "4 a file\n", "stderr": ""}));
}

#[tokio::test]
async fn a_command_sees_its_directory_and_not_the_rest_of_the_host() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "canary-71c2").unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("link")).unwrap();
    let sandbox = sandbox(folder.path());
    for path in [secret.to_str().unwrap(), "link", "../secret", "/etc/shadow", "/root/.bashrc"] {
        let result = call(&sandbox, "show", json!({"path": path})).await;
        assert_eq!(result.error_kind(), Some(ErrorKind::ExecutionFailed), "{path}");
        assert!(!result.for_model().contains("canary"), "{path}");
    }
    let interfaces = streams(&sandbox, "interfaces", json!({})).await["stdout"].to_string();
    let others = interfaces.matches(':').count() - interfaces.matches("lo:").count();
    assert_eq!(others, 0, "only loopback: {interfaces}");
}

#[tokio::test]
async fn the_directory_is_read_only_unless_the_operator_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox(folder.path());
    let refused = call(&sandbox, "touch", json!({"path": "new"})).await;
    assert_eq!(refused.error_kind(), Some(ErrorKind::ExecutionFailed));
    assert!(!folder.path().join("new").exists());
    streams(&sandbox, "make", json!({"path": "new"})).await;
    assert!(folder.path().join("new").exists());
}

#[tokio::test]
async fn a_command_has_only_the_environment_that_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = streams(&sandbox(folder.path()), "environment", json!({})).await;
    let text = said["stdout"].as_str().unwrap();
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["GREETING", "HOME", "LANG", "PATH", "TMPDIR", "TZ"]);
}

#[tokio::test]
async fn a_command_ends_at_its_deadline_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let result = call(&sandbox(folder.path()), "hang", json!({})).await;
    assert_eq!(result.error_kind(), Some(ErrorKind::TimedOut));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let text = result.for_model();
    assert!(text.contains("within 3000 ms") && text.contains("so far"), "{text}");
    let end = Instant::now() + Duration::from_secs(5);
    while is_running("sleep\u{0}4713") {
        assert!(Instant::now() < end, "something of the command lives on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether any process of this machine has such a command line.
fn is_running(command_line: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(command_line))
    })
}

#[tokio::test]
async fn a_flood_is_bounded_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox(folder.path());
    let result = call(&sandbox, "flood", json!({})).await;
    let output = result.outcome.unwrap();
    assert!(output.len_bytes() <= sandbox.limits().max_output());
    let [Content::Json { json }] = output.content.as_slice() else { panic!("{output:?}") };
    let stdout = &json["stdout"];
    let kept = |part: &str| stdout[part].as_str().unwrap().len();
    let omitted = stdout["omitted_bytes"].as_u64().unwrap();
    assert_eq!(kept("head") as u64 + omitted + kept("tail") as u64, 300_000_000);
    assert!(kept("head") > 1000 && kept("tail") > 1000, "{}", kept("head"));
}

#[tokio::test]
async fn a_failure_is_told_with_its_exit_code_and_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox(folder.path());
    let error = call(&sandbox, "fail", json!({})).await.outcome.unwrap_err();
    assert_eq!(error.details.unwrap()["exit_code"], 3);
    assert!(error.message.contains("complained") && error.message.contains("told"));
    let missing = call(&sandbox, "missing", json!({})).await;
    assert_eq!(missing.error_kind(), Some(ErrorKind::BackendUnavailable));
    let option = call(&sandbox, "show", json!({"path": "--help"})).await;
    assert!(option.for_model().contains("begins with"), "{}", option.for_model());
}

#[tokio::test]
async fn what_a_command_requires_and_can_not_have_is_refused_before_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox(folder.path());
    let result = call(&sandbox, "impossible", json!({})).await;
    assert_eq!(result.error_kind(), Some(ErrorKind::BackendUnavailable));
    let text = result.for_model();
    assert!(text.contains("guarded paths can't be enforced here"), "{text}");
    assert!(!folder.path().join("made").exists());
    let ran = call(&sandbox, "half", json!({})).await.outcome.unwrap();
    let status = ran.confinement.unwrap()["cpu_group"]["status"].clone();
    assert!(status == "enforced" || status == "unavailable", "it was asked for: {status}");
}

#[tokio::test]
async fn a_command_reads_what_of_the_machine_is_named() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(data.path().join("table"), "1,2\n").unwrap();
    let text = |more: &str| {
        let (table, argv) = (data.path().join("table"), "argv = [\"cat\", \"{path}\"]");
        let schema = "parameters = { properties = { path = { type = \"string\" } } }";
        (table, format!("[tools.command.show]\n{argv}\n{schema}\n{more}"))
    };
    let (table, closed) = text("");
    let path = json!({"path": table});
    let refused = call(&sandbox_of(&config(&closed, folder.path())), "show", path.clone()).await;
    assert_eq!(refused.error_kind(), Some(ErrorKind::ExecutionFailed));
    let (_, open) = text(&format!("readable = [{:?}]", data.path()));
    let said = streams(&sandbox_of(&config(&open, folder.path())), "show", path).await;
    assert_eq!(said["stdout"], "1,2\n");
}

#[test]
fn a_command_that_can_not_be_a_tool_is_an_operators_error() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str, key: &str, message: &str| {
        let error = create_default_registry(&config(text, folder.path())).unwrap_err();
        let mut told = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(next) = cause {
            told.push_str(&format!(": {next}"));
            cause = next.source();
        }
        assert_eq!(error.key(), key, "{told}");
        assert!(told.contains(message), "{told}");
    };
    check("[tools.command.x]\n", "tools.command.x", "argv is empty");
    check("[tools.command.x]\nargv = [\"{a}\"]", "tools.command.x", "no property");
    check(
        "[tools.command.x]\nargv = [\"a\"]\ntimeout_ms = 0",
        "tools.command.x",
        "timeout_ms is 0",
    );
    check(
        "[tools.command.x]\nargv = [\"a\"]\ncpu_percent = 0",
        "tools.command.x",
        "cpu_percent is 0",
    );
    check("[tools.command.\"a b\"]\nargv = [\"a\"]", "tools.command.a b", "is not a name");
    check(
        "[tools.command.read_file_in_workdir]\nargv = [\"a\"]",
        "tools.command.read_file_in_workdir",
        "built-in tool",
    );
    let mut builder = ConfigBuilder::new();
    builder.file("remit.toml", "[tools.command.x]\nargv = [\"a\"]").unwrap();
    let error = create_default_registry(builder.build().unwrap().config()).unwrap_err();
    assert!(matches!(error, ToolsetError::NoWorkdir { .. }), "{error}");
}
