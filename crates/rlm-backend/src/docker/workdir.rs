//! The directory that a session works in: one in its container's memory, or the operator's.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use confine::{Protection, Watch};
use serde_json::{Value, json};

use super::{container::Wanted, settings::WORKDIR};
use crate::{
    BackendError, SandboxConfig, SessionAccess,
    local::{LocalFiles, Observed, Owner, Reach},
};

/// Who sessions are where nobody else would do: a user that owns nothing.
const NOBODY: u32 = 65534;

/// What is known of it before a container is made.
#[derive(Debug)]
pub(super) struct Workdir {
    /// The operator's, with what can be seen of it from here.
    pub(super) given: Option<LocalFiles>,
    /// What a container needs to know.
    pub(super) wanted: Wanted,
    /// What of it can't be guarded.
    pub(super) unguarded: Vec<String>,
}

impl Workdir {
    /// The one that a configuration asks for. Makes nothing.
    pub(super) fn of(config: &SandboxConfig, reading: &[PathBuf]) -> Result<Self, BackendError> {
        let reading = reading.to_vec();
        let Some(given) = &config.workdir else {
            let (workdir, guarded) = (PathBuf::from(WORKDIR), Vec::new());
            let protection = json!({"status": "not_requested"});
            let wanted = Wanted { workdir, user: user(None), reading, guarded, protection };
            return Ok(Self { given: None, wanted, unguarded: Vec::new() });
        };
        let failed = |error: io::Error| {
            BackendError::new(format!("the directory {} can't be used: {error}", given.display()))
        };
        let workdir = given.canonicalize().map_err(failed)?;
        let about = fs::metadata(&workdir).map_err(failed)?;
        if !about.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let user = user(Some((about.uid(), about.gid())));
        let is_for_all = about.mode() & 0o002 != 0;
        if config.workdir_access == SessionAccess::ReadWrite && about.uid() == 0 && !is_for_all {
            return Err(BackendError::new(format!(
                "[sandbox] workdir_access is \"read_write\", and {} belongs to the superuser, who no \
                 session in a container is; give the directory to another user",
                workdir.display()
            )));
        }
        let (reach, guarded, unguarded) = match config.workdir_access {
            SessionAccess::ReadOnly => (Reach::ReadOnly, Vec::new(), Vec::new()),
            SessionAccess::ReadWrite => guard(config, &workdir)?,
        };
        let observed = (reach == Reach::Shared).then(|| observed(config, &workdir)).transpose()?;
        let files = LocalFiles::new(&workdir, reach, observed).map_err(failed)?;
        let files = if us() == user {
            files
        } else {
            files.owned_by(Owner { user: user.0, group: user.1 })
        };
        let protection = match reach {
            Reach::Shared => told(&unguarded),
            _ => json!({"status": "not_requested"}),
        };
        let wanted = Wanted { workdir, user, reading, guarded, protection };
        Ok(Self { given: Some(files), wanted, unguarded })
    }
}

type Guard = (Reach, Vec<(PathBuf, PathBuf, bool)>, Vec<String>);

/// What of a writable directory the container can only read, or not see at all.
fn guard(config: &SandboxConfig, workdir: &Path) -> Result<Guard, BackendError> {
    let found = Watch::over(workdir, protection(config)?).guarded();
    // What leads there is mounted too: it can't be moved away then.
    let guarded = found.read_only.iter().chain(&found.hidden);
    let above: BTreeSet<PathBuf> = guarded
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| path.starts_with(workdir) && *path != workdir)
        .map(Path::to_owned)
        .collect();
    let above = above.into_iter().map(|path| (path.clone(), path, false));
    let read_only = found.read_only.into_iter().map(|path| (path.clone(), path, true));
    let hidden = found.hidden.into_iter().map(|path| (PathBuf::from("/dev/null"), path, true));
    let mounts = above.chain(read_only).chain(hidden).collect();
    Ok((Reach::Shared, mounts, found.missing))
}

/// How far names are protected: what does not exist yet can't be.
fn told(unguarded: &[String]) -> Value {
    let always = "names that do not exist when the session begins can be made, and are told";
    let missing = unguarded.iter().map(String::as_str).chain([always]).collect::<Vec<_>>();
    json!({"status": "partial", "missing": missing.join("; ")})
}

fn observed(config: &SandboxConfig, workdir: &Path) -> Result<Observed, BackendError> {
    let (protection, workdir) = (protection(config)?, workdir.to_owned());
    Ok(Observed::new(move || Watch::over(&workdir, protection.clone())))
}

fn protection(config: &SandboxConfig) -> Result<Protection, BackendError> {
    let protection = config.protection.protection();
    protection.map_err(|error| BackendError::new(error.to_string()))
}

/// Who this program is.
fn us() -> (u32, u32) {
    use rustix::process::{getegid, geteuid};
    (geteuid().as_raw(), getegid().as_raw())
}

/// Who a session is: the owner of the operator's directory, or who this program is; never the
/// superuser.
fn user(owner: Option<(u32, u32)>) -> (u32, u32) {
    match owner.unwrap_or_else(us) {
        (0, _) => (NOBODY, NOBODY),
        (user, 0) => (user, NOBODY),
        other => other,
    }
}
