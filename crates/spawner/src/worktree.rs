//! A git worktree for one agent: made at its start, compared at its end, removed if nothing is in it.
//!
//! `git` itself runs confined, with the repository and the new folder alone. A tree that can't be judged
//! is kept, and so is a branch with commits of its own.

use std::{
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use confine::{Command, Confinement, Outcome, Protection};
use tempfile::TempDir;

use crate::AgentId;

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest diff that is kept.
const MAX_DIFF: u64 = 1 << 20;

/// A working tree that can't be had.
#[derive(Debug, thiserror::Error)]
#[error("no git worktree can be made of {repository:?}: {why}")]
pub struct WorktreeError {
    /// The directory that was given.
    pub repository: PathBuf,
    /// What git said.
    pub why: String,
}

/// A working tree of one agent.
#[derive(Debug)]
pub(crate) struct Worktree {
    repository: PathBuf,
    /// The tree, within a folder of its own so that git can remove it. Both stay where nobody closes
    /// the tree of an agent that was started: what it did is not thrown away because its host was ended.
    path: PathBuf,
    folder: PathBuf,
    branch: String,
    base: String,
    /// Whether nobody works in it yet: dropped like that, it is closed.
    is_idle: bool,
}

/// What an agent left in its working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing; the tree is gone.
    Nothing,
    /// Changes, on a branch and in a folder that were kept.
    Kept {
        /// What has changed, as text.
        diff: String,
        /// Where it is.
        place: String,
    },
}

impl Worktree {
    /// Makes a tree on a branch of its own at the repository's `HEAD`. Blocks.
    pub(crate) fn make(repository: &Path, id: AgentId) -> Result<Self, WorktreeError> {
        let failed = |why: String| WorktreeError { repository: repository.to_owned(), why };
        let folder =
            TempDir::with_prefix("remit-tree-").map_err(|error| failed(error.to_string()))?;
        let branch = format!("remit/{}", id.to_string().to_ascii_lowercase());
        let git = |arguments: &[&str]| git(repository, folder.path(), arguments);
        let top = git(&["rev-parse", "--show-toplevel"]).map_err(failed)?;
        let base = git(&["rev-parse", "HEAD"]).map_err(failed)?;
        let path = folder.path().join("tree");
        let at = path.to_string_lossy();
        git(&["worktree", "add", "-q", "-b", &branch, "--", &at]).map_err(failed)?;
        Ok(Self {
            repository: PathBuf::from(top.trim_end()),
            path,
            branch,
            base: base.trim_end().to_owned(),
            folder: folder.keep(),
            is_idle: true,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn repository(&self) -> &Path {
        &self.repository
    }

    /// What was changed against the start; new files too. Where the tree is clean it is removed. Blocks.
    pub(crate) fn close(mut self) -> Left {
        self.is_idle = false;
        self.leave()
    }

    /// An agent works in it from now on.
    pub(crate) fn begin(&mut self) {
        self.is_idle = false;
    }

    fn leave(&self) -> Left {
        let inside = |arguments: &[&str]| git(&self.path, &self.repository, arguments);
        let diff = inside(&["add", "-A", "-N"]).and_then(|_| {
            inside(&["diff", "--no-color", "--no-ext-diff", "--no-textconv", &self.base])
        });
        let is_ahead = inside(&["rev-list", "--count", &format!("{}..HEAD", self.base)]);
        let is_clean = matches!((&diff, &is_ahead), (Ok(diff), Ok(ahead))
            if diff.is_empty() && ahead.trim_end() == "0");
        if is_clean {
            let at = self.path.to_string_lossy();
            let outside = |arguments: &[&str]| git(&self.repository, &self.folder, arguments);
            let removed = outside(&["worktree", "remove", "--force", "--", &at]);
            if let Err(why) = &removed {
                tracing::warn!(%why, "the worktree of an agent can't be removed");
            }
            if removed.is_ok() {
                // A branch without commits of its own says nothing. Its section of the configuration,
                // which `git branch -d` would write, was never there.
                let reference = format!("refs/heads/{}", self.branch);
                let _ = outside(&["update-ref", "-d", &reference]);
                // It holds nothing any more.
                let _ = std::fs::remove_dir(&self.folder);
            }
            return Left::Nothing;
        }
        let place = format!("{} at {}", self.branch, self.path.display());
        let diff = diff.unwrap_or_else(|why| format!("the changes can't be shown: {why}\n"));
        Left::Kept { diff, place }
    }
}

impl Drop for Worktree {
    /// Of a start that was given up nothing is left. Git takes its time, which is nobody's here.
    fn drop(&mut self) {
        if !std::mem::take(&mut self.is_idle) {
            return;
        }
        let tree = Self {
            repository: std::mem::take(&mut self.repository),
            path: std::mem::take(&mut self.path),
            folder: std::mem::take(&mut self.folder),
            branch: std::mem::take(&mut self.branch),
            base: std::mem::take(&mut self.base),
            is_idle: false,
        };
        // Without a thread the tree stays, which loses nothing.
        let closing = std::thread::Builder::new().name("worktree".to_owned());
        let _ = closing.spawn(move || drop(tree.leave()));
    }
}

/// Runs git in a directory, with one more that it may write; gives what it printed, or what it
/// complained of.
fn git(directory: &Path, other: &Path, arguments: &[&str]) -> Result<String, String> {
    run(Confinement::builder(directory).writable(other), arguments)
}

/// No hook, filter or helper of the repository runs: what a repository configures is not ours to start.
fn run(confinement: Confinement, arguments: &[&str]) -> Result<String, String> {
    // Its own data is what git is here to write.
    let confinement = confinement
        .protection(Protection::none())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_CONFIG_COUNT", "3")
        .env("GIT_CONFIG_KEY_0", "core.hooksPath")
        .env("GIT_CONFIG_VALUE_0", "/dev/null")
        .env("GIT_CONFIG_KEY_1", "core.fsmonitor")
        .env("GIT_CONFIG_VALUE_1", "false")
        .env("GIT_CONFIG_KEY_2", "safe.directory")
        .env("GIT_CONFIG_VALUE_2", "*");
    let prepared = confinement.prepare().map_err(|error| error.to_string())?;
    let mut child =
        prepared.spawn(Command::new("git").args(arguments)).map_err(|error| error.to_string())?;
    let stderr = child.take_stderr().map(|stream| confine::Capture::start(stream, 4096));
    let mut said = String::new();
    if let Some(stdout) = child.take_stdout() {
        let mut bytes = Vec::new();
        stdout.take(MAX_DIFF).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        said = String::from_utf8_lossy(&bytes).into_owned();
    }
    let end = child.wait_for(PATIENCE).map_err(|error| error.to_string())?;
    match end.map(|end| end.outcome) {
        Some(Outcome::Code(0)) => Ok(said),
        None => Err("git took too long".to_owned()),
        Some(outcome) => {
            let complaint = stderr.and_then(Result::ok).and_then(|capture| capture.finish().ok());
            let complaint =
                complaint.map(|captured| captured.text().to_string()).unwrap_or_default();
            Err(format!("git {}: {outcome:?}: {}", arguments.join(" "), complaint.trim_end()))
        }
    }
}
