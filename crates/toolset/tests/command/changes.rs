//! What a command does to the working directory where it may write it: protected, and told.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{call, config, sandbox_of};

/// A shell line as a tool, with what protection is given.
fn shell(workdir: &Path, protection: &str) -> sandbox::ToolSandbox {
    let text = format!(
        "[tools.command.shell]\nargv = [\"sh\", \"-c\", \"{{line}}\"]\nworkdir = \"read_write\"\n\
         parameters = {{ type = \"object\", properties = {{ line = {{ type = \"string\" }} }} }}\n\
         [tools.command.shell.protection]\n{protection}\n"
    );
    sandbox_of(&config(&text, workdir))
}

/// The changes that a result tells of.
async fn changes(sandbox: &sandbox::ToolSandbox, line: &str) -> Value {
    let result = call(sandbox, "shell", json!({"line": line})).await;
    result.outcome.unwrap().confinement.unwrap()["changes"].clone()
}

#[tokio::test]
async fn a_result_says_what_became_of_the_directory() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), "x").unwrap();
    let sandbox = shell(folder.path(), "");
    assert_eq!(changes(&sandbox, "cat old").await, Value::Null, "nothing to tell");
    let told = changes(&sandbox, "echo four > new; echo > .envrc; rm old").await;
    assert_eq!(
        told,
        json!({
            "created": [{"path": ".envrc", "size": 1}, {"path": "new", "size": 5}],
            "deleted": [{"path": "old", "size": 1}],
            "executable_configuration": [{
                "path": ".envrc",
                "why": "protected name: a shell reads it when it enters the directory"
            }],
            "complete": true,
        })
    );
}

#[tokio::test]
async fn what_the_host_runs_later_is_read_only_and_an_error_tells_what_was_made() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    let sandbox = shell(folder.path(), "");
    let line = json!({"line": "echo x > Makefile; echo x > .git/hooks/pre-commit"});
    let error = call(&sandbox, "shell", line).await.outcome.unwrap_err();
    assert!(error.message.contains("Read-only file system"), "{}", error.message);
    assert!(error.message.contains("run later: \"Makefile\""), "{}", error.message);
    assert_eq!(fs::read_dir(folder.path().join(".git/hooks")).unwrap().count(), 0);
}

#[tokio::test]
async fn an_operator_adds_names_and_takes_them_out() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["deploy", ".envrc"] {
        fs::write(folder.path().join(name), "old").unwrap();
    }
    let lists = "protect = [\"deploy\"]\nunprotect = [\".envrc\"]\nreport = [\"notes.md\"]";
    let sandbox = shell(folder.path(), lists);
    let told = changes(&sandbox, "echo > notes.md; echo > .envrc; echo > deploy || true").await;
    let found = told["executable_configuration"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{told}");
    assert_eq!(found[0]["path"], "notes.md");
    assert_eq!(fs::read_to_string(folder.path().join("deploy")).unwrap(), "old");
}

#[test]
fn a_name_that_can_not_be_matched_is_an_operators_error() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[tools.command.x]\nargv = [\"a\"]\nprotection = { protect = [\"*.sh\"] }";
    let error = toolset::create_default_registry(&config(text, folder.path())).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(error.key(), "tools.command.x");
    assert!(cause.contains("*.sh") && cause.contains("wildcards"), "{cause}");
}
