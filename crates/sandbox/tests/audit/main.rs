//! The trail: whole, chained, free of secrets, and fatal when it can't be written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    io::{self, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use sandbox::{
    AuditError, AuditLog, StaticLookup, ToolSandbox,
    audit::{AuditProblem, verify},
};
use serde_json::Value;
use tool_core::{Limits, ToolCall, ToolRegistry};

const SECRET: &str = "hunter2-very-secret";

fn sandbox(audit: AuditLog) -> ToolSandbox {
    let mut registry = ToolRegistry::new();
    let lookup = StaticLookup::new("lookup", [("a", "an answer with hunter2-very-secret")]);
    registry.register(Arc::new(lookup.unwrap())).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(["lookup"]).unwrap();
    ToolSandbox::new(registry, scope, Limits::default()).with_audit(audit)
}

async fn run_some(sandbox: &ToolSandbox) {
    let secret = format!(r#"{{"key": "{SECRET}"}}"#);
    for (id, name, arguments) in [
        ("1", "lookup", r#"{"key": "a"}"#),
        ("2", "lookup", secret.as_str()),
        ("3", "nope", "{}"),
        ("4", "lookup", r#""{\"key\": \"a\"}""#),
    ] {
        sandbox.execute(ToolCall::from_text(id, name, arguments)).await.unwrap();
    }
    sandbox.execute_text(b"{\"id\": \"5\", broken").await.unwrap();
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn check(text: &str) -> Result<u64, AuditProblem> {
    verify(text.as_bytes()).map(|summary| summary.lines)
}

#[tokio::test]
async fn every_decision_is_a_line_and_no_secret_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    run_some(&sandbox(AuditLog::open(&path).unwrap())).await;
    // A second run goes on in the same file.
    run_some(&sandbox(AuditLog::open(&path).unwrap())).await;

    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(check(&text).unwrap(), 16);
    let rows: Vec<Value> = lines(&path).iter().map(|l| serde_json::from_str(l).unwrap()).collect();
    let shown: Vec<_> = rows[..8]
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
            ["event", "call_id", "tool", "stage", "outcome", "reading"].map(text).join(" ")
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert_eq!(
        rows[0]["args_sha256"],
        "8d66adb40252060bf4559fee27a62693f107b53169365f324c00a50cf3f9a17e"
    );
    assert_eq!(rows[0]["args_bytes"], 12);
    assert_eq!(rows[0]["scope"], serde_json::json!(["lookup"]));
    assert_eq!(rows[1]["output_bytes"], 34);
    assert!(rows[1]["duration_ms"].is_f64());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn the_first_broken_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    run_some(&sandbox(AuditLog::open(&path).unwrap())).await;
    let whole = lines(&path);
    let broken_at = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = whole.clone();
        change(&mut lines);
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        check(&text).unwrap_err().line()
    };
    assert_eq!(broken_at(&|l| l[2] = l[2].replace("\"call_id\":\"2\"", "\"call_id\":\"9\"")), 4);
    assert_eq!(broken_at(&|l| drop(l.remove(2))), 3);
    assert_eq!(broken_at(&|l| l.swap(3, 4)), 4);
    assert_eq!(broken_at(&|l| l.insert(1, l[0].clone())), 2);
    assert_eq!(broken_at(&|l| drop(l.remove(0))), 1);
    assert_eq!(broken_at(&|l| l[4] = "{}".to_owned()), 5);
    let cut = whole.join("\n");
    assert!(matches!(check(&cut), Err(AuditProblem::Incomplete { line: 8 })));
    assert_eq!(check("").unwrap(), 0);
}

#[tokio::test]
async fn a_broken_or_busy_file_is_not_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::fs::write(&path, "something else\n").unwrap();
    assert!(matches!(AuditLog::open(&path), Err(AuditError::Broken { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "something else\n");

    let path = folder.path().join("busy.jsonl");
    let first = AuditLog::open(&path).unwrap();
    assert!(matches!(AuditLog::open(&path), Err(AuditError::InUse { .. })));
    drop(first);
    AuditLog::open(&path).unwrap();
    assert!(matches!(AuditLog::open(folder.path()), Err(AuditError::Open { .. })));
}

/// A tool that never answers.
#[derive(Debug)]
struct Forever(tool_core::ToolSpec);

impl tool_core::Tool for Forever {
    fn spec(&self) -> &tool_core::ToolSpec {
        &self.0
    }

    fn execute(
        &self,
        _: tool_core::ValidatedArgs,
        _: tool_core::ExecContext,
    ) -> tool_core::BoxFuture<'_, Result<tool_core::ToolOutput, tool_core::ToolError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_call_that_its_caller_gives_up_is_a_line_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let spec = tool_core::ToolSpec::new("forever", "", serde_json::json!({"type": "object"}));
    let mut registry = ToolRegistry::new();
    registry.register(Arc::new(Forever(spec.unwrap()))).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(["forever"]).unwrap();
    let audit = AuditLog::open(&path).unwrap();
    let sandbox = ToolSandbox::new(registry, scope, Limits::default()).with_audit(audit);
    let call = sandbox.execute(ToolCall::from_text("c", "forever", "{}"));
    let short = std::time::Duration::from_millis(10);
    assert!(tokio::time::timeout(short, call).await.is_err());
    let rows: Vec<Value> = lines(&path).iter().map(|l| serde_json::from_str(l).unwrap()).collect();
    let outcomes: Vec<_> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["admitted", "cancelled"]);
}

/// A disk that is full after some lines.
#[derive(Debug)]
struct FullAfter(usize);

impl Write for FullAfter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A tool that counts its executions.
#[derive(Debug)]
struct Counting(tool_core::ToolSpec, Arc<AtomicUsize>);

impl tool_core::Tool for Counting {
    fn spec(&self) -> &tool_core::ToolSpec {
        &self.0
    }

    fn execute(
        &self,
        _: tool_core::ValidatedArgs,
        _: tool_core::ExecContext,
    ) -> tool_core::BoxFuture<'_, Result<tool_core::ToolOutput, tool_core::ToolError>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(tool_core::ToolOutput::text("ran")) })
    }
}

#[tokio::test]
async fn nothing_runs_when_the_trail_cannot_be_written() {
    let ran = Arc::new(AtomicUsize::new(0));
    let spec = tool_core::ToolSpec::new("count", "", serde_json::json!({"type": "object"}));
    let mut registry = ToolRegistry::new();
    registry.register(Arc::new(Counting(spec.unwrap(), Arc::clone(&ran)))).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(["count"]).unwrap();
    // Two lines for the first call, and none for the second.
    let audit = AuditLog::to_writer(FullAfter(2));
    let sandbox = ToolSandbox::new(registry, scope, Limits::default()).with_audit(audit);
    let call = || ToolCall::from_text("c", "count", "{}");
    assert!(sandbox.execute(call()).await.unwrap().is_ok());
    assert!(matches!(sandbox.execute(call()).await, Err(AuditError::Write(_))));
    assert!(matches!(sandbox.execute(call()).await, Err(AuditError::Poisoned)));
    assert!(matches!(sandbox.execute_text(b"broken").await, Err(AuditError::Poisoned)));
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}
