//! What only sessions on this machine have: a directory that the host can reach by its path, and a report
//! of each mechanism of the kernel.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::support::{Tool, soon};

#[tokio::test]
async fn names_that_are_swapped_meanwhile_lead_nowhere() {
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("f"), "secret").unwrap();
    let tool = Tool::new();
    let folder = directory(&tool).await;
    let (a, link) = (folder.join("a"), folder.join("b"));
    fs::create_dir(&a).unwrap();
    fs::write(a.join("f"), "ours").unwrap();
    symlink(secret.path(), &link).unwrap();
    let swap = move || {
        for _ in 0..4001 {
            renameat_with(CWD, &a, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
    };
    let swapping = std::thread::spawn(swap);
    let mut got = 0;
    while !swapping.is_finished() {
        let result = tool.call(json!({"op": "file_get", "path": "a/f"})).await;
        assert!(!result.for_model().contains("secret"));
        got += u32::from(result.is_ok());
        let put = json!({"op": "file_put", "path": "a/f", "content": "ours", "overwrite": true});
        tool.call(put).await;
    }
    swapping.join().unwrap();
    assert!(got > 0, "some got through");
    assert_eq!(fs::read_to_string(secret.path().join("f")).unwrap(), "secret");
    assert_eq!(fs::read_dir(secret.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_is_enforced_is_reported() {
    let result = Tool::new().call(json!({"op": "execute_code", "code": "1"})).await;
    let report = result.outcome.unwrap().confinement.unwrap();
    assert_eq!(report["no_new_privileges"]["status"], "enforced", "{report}");
    assert_eq!(report["seccomp"]["status"], "enforced", "{report}");
}

#[tokio::test]
async fn a_session_takes_its_snapshots_along() {
    let tool = Tool::new();
    let marker = format!("marker-{}", std::process::id());
    let made = tool.bash(&format!("echo > {marker}")).await;
    tool.answer(json!({"op": "snapshot_create", "session_id": made["session_id"]})).await;
    let kept = || {
        let entries = std::fs::read_dir(std::env::temp_dir()).unwrap();
        entries.flatten().filter(|entry| entry.path().join(&marker).exists()).count()
    };
    assert_eq!(kept(), 2, "the directory and its snapshot");
    drop(tool);
    soon("both are gone", || kept() == 0).await;
}

/// The private directory that a session works in.
pub(crate) async fn directory(tool: &Tool) -> PathBuf {
    let path = tool.prints("pwd").await;
    let path = Path::new(path.trim()).to_owned();
    assert!(path.is_dir(), "{path:?} is a directory of the host");
    path
}
