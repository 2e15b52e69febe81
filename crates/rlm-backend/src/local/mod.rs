//! Sessions on this machine: drivers in confined processes.
//!
//! Every driver has a confinement of its own over the working directory of its session: no network,
//! none of the host's files but system directories, none of its environment. Opening a place looks at
//! the machine and makes the directory; the first code starts the first process.

mod beneath;
mod changes;
mod files;
mod folder;
mod observed;
mod process;
mod snapshots;
mod tree;

use std::{
    collections::BTreeSet,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use confine::{
    ChangeReport, Child, Command, Confinement, Limits, Mechanism, Network, Prepared, Protection,
    SpawnError,
};

pub(crate) use self::{
    beneath::{ON_THE_WAY, Owner, PlainPath},
    changes::{Top, Watched},
    files::{LocalFiles, Reach},
    folder::Folder,
    observed::Observed,
};
use self::{process::Confined, snapshots::LocalSnapshots};
use crate::{
    Backend, BackendError, Channels, Files, Language, Place, SandboxConfig, SessionAccess,
    SessionNetwork, Snapshots, Started, config::LOCAL,
};

/// Settings that packages of the system's Python keep outside of their own directories, and without
/// which they do not work. They hold no secrets.
const LIBRARY_SETTINGS: [&str; 1] = ["/etc/matplotlibrc"];

/// The backend `local`.
#[derive(Debug)]
pub struct LocalBackend {
    config: SandboxConfig,
    switched_off: BTreeSet<Mechanism>,
}

impl LocalBackend {
    /// Sessions as the configuration says. Looks at nothing yet.
    #[must_use]
    pub fn new(config: SandboxConfig) -> Self {
        Self { config, switched_off: BTreeSet::new() }
    }

    /// Does not use a mechanism, as if this machine did not have it: how its degraded levels are
    /// tried out. What is required and can't be had then is refused.
    #[must_use]
    pub fn without(mut self, mechanism: Mechanism) -> Self {
        self.switched_off.insert(mechanism);
        self
    }

    fn confinement(&self, folder: &Folder) -> Result<Confinement, BackendError> {
        let mut limits = self.limits();
        if folder.is_private() {
            limits.file_size = Some(self.config.disk_bytes);
            // A directory that goes with its session holds nothing that the host would run.
            return Ok(self.unprotected(folder.path()).limits(limits));
        }
        let protection = self.config.protection.protection();
        let protection = protection.map_err(|error| BackendError::new(error.to_string()))?;
        let confinement = self.common(folder.path()).limits(limits).protection(protection);
        let confinement = self.config.require.of(confinement);
        Ok(match self.reach(folder) {
            Reach::ReadOnly => confinement.read_only_workdir(),
            _ => confinement,
        })
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.memory = Some(self.config.memory_bytes);
        limits.processes = Some(self.config.processes);
        limits.cpu_share =
            self.config.cpu_percent.map(|percent| u32::try_from(percent).unwrap_or(u32::MAX));
        limits
    }

    /// A confinement over a directory in which nothing is protected.
    fn unprotected(&self, directory: &Path) -> Confinement {
        let confinement = self.common(directory).protection(Protection::none());
        self.config.require.where_nothing_is_protected().of(confinement)
    }

    /// What all confinements of this backend have.
    fn common(&self, directory: &Path) -> Confinement {
        let mut confinement = Confinement::builder(directory);
        if self.config.network == SessionNetwork::Host {
            confinement = confinement.network(Network::Host);
        }
        let settings = LIBRARY_SETTINGS.iter().map(Path::new).filter(|path| path.exists());
        let readable = settings.chain(self.config.readable.iter().map(PathBuf::as_path));
        let confinement = readable.fold(confinement, Confinement::readable);
        self.switched_off.iter().copied().fold(confinement, Confinement::without)
    }

    fn reach(&self, folder: &Folder) -> Reach {
        match self.config.workdir_access {
            _ if folder.is_private() => Reach::Private,
            SessionAccess::ReadOnly => Reach::ReadOnly,
            SessionAccess::ReadWrite => Reach::Shared,
        }
    }
}

impl Backend for LocalBackend {
    fn name(&self) -> &str {
        LOCAL
    }

    /// Whether this machine can confine at all. A directory that can't be used is another matter.
    fn probe(&self) -> Result<(), BackendError> {
        let nothing = self.unprotected(&std::env::temp_dir()).limits(self.limits());
        let prepared = nothing.read_only_workdir().prepare();
        prepared.map(drop).map_err(|error| BackendError::new(error.to_string()))
    }

    fn open(&self) -> Result<Box<dyn Place>, BackendError> {
        self.open_reading(&[])
    }

    fn open_reading(&self, files: &[PathBuf]) -> Result<Box<dyn Place>, BackendError> {
        let folder = match &self.config.workdir {
            Some(path) => Ok(Folder::given(path.clone())),
            None => Folder::private(),
        };
        let failed = |error: io::Error| {
            BackendError::new(format!("no directory can be made for a session: {error}"))
        };
        let folder = folder.map_err(failed)?;
        let confinement = self.confinement(&folder)?;
        let prepared = files.iter().fold(confinement, Confinement::readable).prepare();
        let prepared = prepared.map_err(|error| BackendError::new(error.to_string()))?;
        let reach = self.reach(&folder);
        let observed = (reach == Reach::Shared).then(|| {
            let prepared = prepared.clone();
            Observed::new(move || prepared.watch())
        });
        let files = LocalFiles::new(folder.path(), reach, observed);
        let files = files.map_err(failed)?;
        let snapshots = (reach == Reach::Private)
            .then(|| LocalSnapshots::new(&folder, self.config.disk_bytes))
            .transpose()
            .map_err(failed)?;
        Ok(Box::new(LocalPlace { prepared, files, snapshots, folder: Mutex::new(Some(folder)) }))
    }
}

/// A working directory, and the confinement over it.
#[derive(Debug)]
struct LocalPlace {
    prepared: Prepared,
    files: LocalFiles,
    snapshots: Option<LocalSnapshots>,
    /// Taken when it is closed.
    folder: Mutex<Option<Folder>>,
}

impl Place for LocalPlace {
    fn start(&self, language: Language) -> Result<Started, BackendError> {
        let failed = |error: io::Error| {
            BackendError::new(format!("a session's process can't be given its pipes: {error}"))
        };
        let (driver_in, control_in) = io::pipe().map_err(failed)?;
        let (control_out, driver_out) = io::pipe().map_err(failed)?;
        let command = Command::new(language.program())
            .args(language.arguments(3, 4))
            .inherit(driver_in.into())
            .inherit(driver_out.into());
        let mut child =
            self.prepared.spawn(command).map_err(|error| not_started(language, &error))?;
        let (stdout, stderr) = streams(&mut child).map_err(failed)?;
        let control = (control_in.into(), control_out.into());
        let channels = Channels { control_in: control.0, control_out: control.1, stdout, stderr };
        let confinement = serde_json::to_value(child.report()).unwrap_or_default();
        let limit = Arc::new(OnceLock::new());
        let process = Confined::new(child, Arc::clone(&limit));
        Ok(Started { channels, process: Box::new(process), confinement, limit })
    }

    fn files(&self) -> Option<&dyn Files> {
        Some(&self.files)
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.snapshots.as_ref().map(|snapshots| snapshots as _)
    }

    fn changes(&self) -> Option<ChangeReport> {
        self.files.observed()?.since_first_call()
    }

    fn close(&self) -> io::Result<()> {
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner).take();
        let cleared = self.snapshots.as_ref().map_or(Ok(()), LocalSnapshots::clear);
        folder.map_or(Ok(()), Folder::remove).and(cleared)
    }
}

fn streams(child: &mut Child) -> io::Result<(OwnedFd, OwnedFd)> {
    let missing = || io::Error::other("a standard stream is no pipe");
    let stdout = child.take_stdout().ok_or_else(missing)?;
    let stderr = child.take_stderr().ok_or_else(missing)?;
    Ok((stdout.into(), stderr.into()))
}

fn not_started(language: Language, error: &SpawnError) -> BackendError {
    let program = language.program();
    BackendError::new(match error {
        SpawnError::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            format!("{program} is not installed on this machine; install it and call again")
        }
        error => format!("{program} can't be started: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_is_missing_is_named() {
        let source = io::ErrorKind::NotFound.into();
        let error = SpawnError::Program { program: "python3".to_owned(), source };
        let text = not_started(Language::Python, &error).to_string();
        assert_eq!(text, "python3 is not installed on this machine; install it and call again");
    }

    #[test]
    fn a_directory_that_is_not_there_is_told_with_its_path() {
        let workdir = Some("/no/such/place".into());
        let backend = LocalBackend::new(SandboxConfig { workdir, ..SandboxConfig::default() });
        let text = backend.open().unwrap_err().to_string();
        assert!(text.contains("/no/such/place"), "{text}");
    }
}
