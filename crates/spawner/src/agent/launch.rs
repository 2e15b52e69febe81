//! From a provider and a task to work that runs: everything decided, then started, perhaps again.
//!
//! A program or a directory that is missing is found before anything is started, and named. The task is
//! data: on standard input, in a file of its own that is read-only inside, or in one argument.

use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use confine::{
    Child, Command, Confinement, Limits, Network, PrepareError, Prepared, SpawnError, Stream,
};
use tempfile::{NamedTempFile, TempDir};
use tool_core::AuthorizationScope;

use super::{
    ProcessWork, Work, joined,
    prepared::LastPrepared,
    program::{self, Found},
};
use crate::{
    AgentHost, AgentId,
    config::{AgentNetwork, Isolation, Provider, TaskDelivery, WorkdirAccess},
    scope::{holds_some, shortest},
    template::{MAX_ARGUMENT, Values, fill_text},
    worktree::{Worktree, WorktreeError},
};

/// An agent that can't be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The program is not on this machine.
    #[error("the program {program:?} of provider {provider:?} is not installed on this machine")]
    NoProgram {
        /// The provider.
        provider: String,
        /// Its program.
        program: String,
    },
    /// The working directory is not there, or is none.
    #[error("the working directory {path:?} can't be used: {source}")]
    Workdir {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The task can't be delivered.
    #[error(
        "a task of {bytes} bytes does not fit into an argument ({max} at most); the provider can take it with task = \"stdin\""
    )]
    TaskTooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        max: usize,
    },
    /// A variable that the operator named is not set.
    #[error("the variable {name} that provider {provider:?} needs is not set")]
    NoCredential {
        /// The provider.
        provider: String,
        /// The variable's name.
        name: String,
    },
    /// The confinement can't be had.
    #[error(transparent)]
    Confinement(#[from] PrepareError),
    /// The kernel or the launcher refused.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// A working tree of its own can't be had.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// A file or pipe of the agent can't be made.
    #[error("the agent's files can't be made: {0}")]
    Files(#[from] std::io::Error),
    /// A chain of our own can't be made.
    #[error("the chain can't be made: {0}")]
    Chain(String),
}

/// What a launch is made of.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) id: AgentId,
    pub(crate) provider: Arc<Provider>,
    pub(crate) task: String,
    pub(crate) model: Option<String>,
    pub(crate) scope: AuthorizationScope,
    /// The directory; a private one where there is none.
    pub(crate) workdir: Option<PathBuf>,
}

/// A program that can be started, more than once.
#[derive(Debug)]
pub(crate) struct Launch {
    prepared: Prepared,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// What goes to standard input.
    input: Option<Vec<u8>>,
    pub(crate) place: Place,
    _task_file: Option<NamedTempFile>,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(super) child: Child,
    pub(super) pid: Option<u32>,
}

/// Where a program works.
#[derive(Debug)]
pub(crate) enum Place {
    Given(PathBuf),
    Private(TempDir),
    Worktree(Worktree),
}

impl Place {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Private(folder) => folder.path(),
            Self::Worktree(tree) => tree.path(),
        }
    }

    fn of(start: &Start) -> Result<Self, LaunchError> {
        let Some(path) = &start.workdir else {
            return Ok(Self::Private(TempDir::with_prefix("remit-agent-")?));
        };
        let wrong = |source| LaunchError::Workdir { path: path.clone(), source };
        let real = path.canonicalize().map_err(wrong)?;
        if !real.metadata().map_err(wrong)?.is_dir() {
            return Err(wrong(std::io::ErrorKind::NotADirectory.into()));
        }
        match start.provider.config.isolate {
            Isolation::None => Ok(Self::Given(real)),
            Isolation::Worktree => Ok(Self::Worktree(Worktree::make(&real, start.id)?)),
        }
    }
}

impl Launch {
    /// Decides everything. Blocks: it looks at the machine.
    pub(crate) fn prepare(
        start: &Start,
        host: &dyn AgentHost,
        last: &LastPrepared,
    ) -> Result<Self, LaunchError> {
        let provider = &start.provider;
        let found = find(provider, host)?;
        let place = Place::of(start)?;
        let task_file = match provider.delivery {
            TaskDelivery::File => Some(task_file(&start.task)?),
            _ => None,
        };
        let file = task_file.as_ref().map(|file| file.path().to_string_lossy().into_owned());
        let workdir = place.path().to_string_lossy().into_owned();
        let allow = flags(&start.scope);
        let values = Values {
            task: &start.task,
            task_file: file.as_deref().unwrap_or_default(),
            model: start.model.as_deref().or(provider.config.model.as_deref()),
            workdir: &workdir,
            allow: &allow,
        };
        if provider.delivery == TaskDelivery::Argument && start.task.len() > MAX_ARGUMENT / 2 {
            let (bytes, max) = (start.task.len(), MAX_ARGUMENT / 2);
            return Err(LaunchError::TaskTooLarge { bytes, max });
        }
        let mut confinement = confinement(start, &place, &found);
        if let Some(file) = &task_file {
            confinement = confinement.readable(file.path());
        }
        let confinement = environment(confinement, provider, &values, host)?;
        Ok(Self {
            prepared: last.prepare(&provider.name, &confinement)?,
            arguments: provider.template.fill(&values),
            program: found.path,
            input: (provider.delivery == TaskDelivery::Stdin)
                .then(|| start.task.clone().into_bytes()),
            place,
            _task_file: task_file,
        })
    }

    /// The agent that works there is somebody's from now on.
    pub(crate) fn begin(&mut self) {
        if let Place::Worktree(tree) = &mut self.place {
            tree.begin();
        }
    }

    /// Where the program worked, when it is not started again.
    pub(super) fn into_place(self) -> Place {
        self.place
    }

    /// Starts the program. Blocks: it waits for the launcher's answer.
    pub(crate) fn spawn(&self) -> Result<Started, LaunchError> {
        let stdin = if self.input.is_some() { Stream::Pipe } else { Stream::Null };
        let command = Command::new(&self.program).args(&self.arguments).stdin(stdin);
        let child = self.prepared.spawn(command)?;
        // Asked at once: of a program that has ended it is not known any more.
        let pid = child.pid();
        Ok(Started { child, pid })
    }

    /// A program at work. Must be called within the event loop.
    pub(crate) fn work(&self, started: Started) -> Result<Work, LaunchError> {
        Ok(Work::Process(Box::new(ProcessWork::new(started, self.input.clone())?)))
    }

    /// Starts the program again. Must be called within the event loop.
    pub(super) async fn start(self: &Arc<Self>) -> Result<Work, LaunchError> {
        let launch = Arc::clone(self);
        self.work(joined(tokio::task::spawn_blocking(move || launch.spawn()).await)??)
    }
}

/// The provider's program.
pub(crate) fn find(provider: &Provider, host: &dyn AgentHost) -> Result<Found, LaunchError> {
    let path = provider.env.get("PATH").map(OsString::from).or_else(|| host.variable("PATH"));
    program::find(&provider.program, path).ok_or_else(|| LaunchError::NoProgram {
        provider: provider.name.clone(),
        program: provider.program.clone(),
    })
}

/// A task in a file of its own.
fn task_file(task: &str) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("remit-task-").suffix(".md").tempfile()?;
    file.write_all(task.as_bytes())?;
    Ok(file)
}

/// The scope as flags of `remit agent`. What starts agents stays here: another process can't be held to
/// our depth.
fn flags(scope: &AuthorizationScope) -> Vec<String> {
    let names = scope.allowed().filter(|name| name.split('.').next() != Some(crate::tool::NAME));
    shortest(names.map(str::to_owned).collect())
}

fn confinement(start: &Start, place: &Place, found: &Found) -> Confinement {
    let config = &start.provider.config;
    let holds = |needs: &[String]| needs.iter().all(|name| holds_some(&start.scope, name));
    let mut confinement = Confinement::builder(place.path()).limits(limits(&start.provider));
    let is_own = !matches!(place, Place::Given(_));
    let may_write = config.workdir_access == WorkdirAccess::ReadWrite && holds(&config.write_needs);
    if !may_write && !is_own {
        confinement = confinement.read_only_workdir();
    }
    if config.network == AgentNetwork::Host && holds(&config.network_needs) {
        confinement = confinement.network(Network::Host);
    }
    if found.is_elsewhere {
        confinement = confinement.readable(&found.path);
    }
    if let Place::Worktree(tree) = place {
        confinement = confinement.readable(tree.repository());
    }
    let confinement = config.readable.iter().fold(confinement, |all, path| all.readable(path));
    config.writable.iter().fold(confinement, |all, path| all.writable(path))
}

fn limits(provider: &Provider) -> Limits {
    let (config, mut limits) = (&provider.config, Limits::default());
    limits.memory = config.memory_bytes.or(limits.memory);
    limits.processes = config.processes.or(limits.processes);
    limits.file_size = config.file_bytes.or(limits.file_size);
    limits.cpu_time = config.cpu_secs.map(std::time::Duration::from_secs);
    limits
}

/// Only what the operator named: written values, and credentials from our own environment.
fn environment(
    mut confinement: Confinement,
    provider: &Provider,
    values: &Values<'_>,
    host: &dyn AgentHost,
) -> Result<Confinement, LaunchError> {
    for (name, value) in &provider.env {
        if let Some(value) = fill_text(value, values) {
            confinement = confinement.env(name, value);
        }
    }
    for name in &provider.config.credentials {
        let value = host.variable(name).ok_or_else(|| LaunchError::NoCredential {
            provider: provider.name.clone(),
            name: name.clone(),
        })?;
        confinement = confinement.env(name, value);
    }
    Ok(confinement)
}
