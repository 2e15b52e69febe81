//! A working tree for each agent.

use std::{path::Path, process::Command, sync::Arc, time::Duration};

use spawner::{AgentPool, AgentRecord, AgentRequest, NoHost, OutputStream};

use crate::support::{config, ended, until, written};

#[expect(clippy::disallowed_methods, reason = "a test prepares a repository")]
fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "safe.directory=*"])
        .args(arguments)
        .current_dir(repository)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn repository() -> Option<tempfile::TempDir> {
    if !Path::new("/usr/bin/git").exists() {
        #[expect(clippy::disallowed_methods, reason = "whether a skipped check is a failure")]
        let may_skip = std::env::var_os("REMIT_TEST_NO_SKIP").is_none();
        assert!(may_skip, "this machine has no git");
        println!("SKIPPED: this machine has no git");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    std::fs::write(folder.path().join("file.txt"), "one\n").unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    Some(folder)
}

async fn run(repository: &Path, script: &str) -> (AgentRecord, String) {
    run_while(repository, script, || ()).await
}

/// Runs a script in a tree of its own, and does something while it runs.
async fn run_while(
    repository: &Path,
    script: &str,
    meanwhile: impl FnOnce(),
) -> (AgentRecord, String) {
    let provider =
        format!("program = \"sh\"\nargs = [\"-c\", \"{script}\"]\nisolate = \"worktree\"");
    let mut config = config("", &provider);
    config.workdir = Some(repository.to_owned());
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    let id = pool.spawn(AgentRequest::new("x")).await.unwrap();
    meanwhile();
    let record = ended(&pool, id).await;
    let diff = written(&pool, id, OutputStream::Diff).await;
    (record, String::from_utf8(diff).unwrap())
}

#[tokio::test]
async fn a_tree_in_which_nothing_was_done_is_removed() {
    let Some(repository) = repository() else { return };
    let (record, diff) = run(repository.path(), "test -f file.txt").await;
    assert_eq!((record.exit, diff.as_str()), (Some(tool_core::ExitStatus::Code(0)), ""));
    assert_eq!(record.worktree, None);
    assert!(!Path::new(&record.workdir).exists());
    assert_eq!(git(repository.path(), &["branch", "--format=%(refname:short)"]), "main\n");
    assert_eq!(git(repository.path(), &["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn changes_are_kept_and_shown_and_the_directory_itself_is_untouched() {
    let Some(repository) = repository() else { return };
    let (record, diff) = run(repository.path(), "echo two >> file.txt; echo new > new.txt").await;
    assert!(diff.contains("+two") && diff.contains("new.txt") && diff.contains("+new"), "{diff}");
    let kept = record.worktree.unwrap();
    assert!(kept.starts_with("remit/") && kept.contains(&record.workdir), "{kept}");
    assert_eq!(std::fs::read_to_string(repository.path().join("file.txt")).unwrap(), "one\n");
    assert!(!repository.path().join("new.txt").exists());
    assert!(Path::new(&record.workdir).join("new.txt").exists());
    std::fs::remove_dir_all(Path::new(&record.workdir).parent().unwrap()).unwrap();
}

#[tokio::test]
async fn a_directory_that_is_no_repository_is_told() {
    if repository().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut config = config("", "args = [\"echo\"]\nisolate = \"worktree\"");
    config.workdir = Some(folder.path().to_owned());
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    let error = pool.spawn(AgentRequest::new("x")).await.unwrap_err().to_string();
    assert!(error.contains("no git worktree"), "{error}");
}

#[tokio::test]
async fn a_spawn_that_is_given_up_leaves_no_tree() {
    let Some(repository) = repository() else { return };
    let mut config = config("", "program = \"sleep\"\nargs = [\"60\"]\nisolate = \"worktree\"");
    config.workdir = Some(repository.path().to_owned());
    let pool = AgentPool::new(config, Arc::new(NoHost)).unwrap();
    let mut was_given_up = false;
    for ms in [0, 20, 60, 120] {
        let spawn = pool.spawn(AgentRequest::new("x"));
        if let Ok(id) = tokio::time::timeout(Duration::from_millis(ms), spawn).await {
            pool.terminate(id.unwrap()).await.unwrap();
        } else {
            was_given_up = true;
        }
    }
    assert!(was_given_up);
    // Git's own work may still begin when the last spawn was given up.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let is_clean = || {
        git(repository.path(), &["worktree", "list"]).lines().count() == 1
            && git(repository.path(), &["branch", "--format=%(refname:short)"]) == "main\n"
    };
    until("no tree and no branch is left", is_clean).await;
    assert_eq!(pool.live(), 0);
}

#[tokio::test]
async fn a_tree_that_can_not_be_judged_is_kept() {
    let Some(repository) = repository() else { return };
    // The repository goes away while the agent works.
    let (here, gone) = (repository.path().join(".git"), repository.path().join("gone"));
    let meanwhile = || std::fs::rename(here, gone).unwrap();
    let (record, diff) =
        run_while(repository.path(), "sleep 1; echo two >> file.txt", meanwhile).await;
    assert!(diff.contains("the changes can't be shown"), "{diff}");
    assert!(record.worktree.unwrap().contains(&record.workdir));
    let kept = std::fs::read_to_string(Path::new(&record.workdir).join("file.txt")).unwrap();
    assert_eq!(kept, "one\ntwo\n");
    std::fs::remove_dir_all(Path::new(&record.workdir).parent().unwrap()).unwrap();
}
