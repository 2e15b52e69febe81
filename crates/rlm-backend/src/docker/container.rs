//! One container of one session: made, attached, started, met, and removed.
//!
//! Between its making and its end it has a label that says whose it is; dropping it has the engine
//! remove it, and so does the end of this program, since the container ends with its stream.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use bollard::{
    Docker,
    container::AttachContainerResults,
    errors::Error,
    query_parameters::{AttachContainerOptionsBuilder, CreateContainerOptionsBuilder},
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    connect::Engine,
    core::Core,
    diagnosis,
    frames::Frame,
    image::{Image, told},
    meeting::{INSIDE, Meeting, Shared},
    reap, report,
    settings::{self, Plan},
    wire::{Hello, Loss, Wire},
};
use crate::BackendError;

/// How long the engine may take for one request.
const ANSWER: Duration = Duration::from_secs(60);
/// How long a container may take from its start until its supervisor speaks.
const HELLO: Duration = Duration::from_secs(30);

/// What the command line has; the program itself comes over the stream.
const BOOTSTRAP: &str = include_str!("supervisor/bootstrap.py");
const SUPERVISOR: &str = concat!(
    include_str!("supervisor/start.py"),
    include_str!("supervisor/tree.py"),
    include_str!("supervisor/drivers.py"),
    include_str!("supervisor/files.py"),
    include_str!("supervisor/archive.py"),
    include_str!("supervisor/main.py"),
);

/// What is wanted of a container besides the configuration.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// Where its drivers work.
    pub(super) workdir: PathBuf,
    /// Who they are.
    pub(super) user: (u32, u32),
    /// Files of the host that they can read.
    pub(super) reading: Vec<PathBuf>,
    /// What of the working directory can only be read, and files in place of others.
    pub(super) mounts: Vec<(PathBuf, PathBuf, bool)>,
    /// How far what a host obeys is protected in it, as it is reported.
    pub(super) protection: Value,
}

/// A container that runs.
#[derive(Debug)]
pub(super) struct Container {
    core: Arc<Core>,
    docker: Docker,
    id: String,
    session: String,
    pub(super) wire: Arc<Wire>,
    pub(super) shared: Option<Arc<Shared>>,
    pub(super) confinement: Value,
    removed: OnceLock<()>,
}

impl Container {
    /// Makes one, and waits until its supervisor is there.
    pub(super) async fn begin(core: Arc<Core>, wanted: Wanted) -> Result<Self, BackendError> {
        let engine = core.engine().await?;
        match Making::new(&core, &engine, &wanted)?.run().await {
            // The next one finds whatever engine and image are there then.
            Err(error) => {
                core.forget_engine().await;
                core.images.forget();
                Err(error)
            }
            made => made,
        }
    }

    /// Has the engine remove it; says why it could not.
    pub(super) async fn remove(&self) -> Result<(), String> {
        if self.removed.set(()).is_err() {
            return Ok(());
        }
        let removed = timeout(ANSWER, reap::remove(&self.docker, &self.id)).await;
        Core::live().remove(&self.session);
        match removed {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(told(&error)),
            Err(_) => Err("the engine did not answer in time".to_owned()),
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.removed.set(()).is_err() {
            return;
        }
        Core::live().remove(&self.session);
        let (docker, id) = (self.docker.clone(), std::mem::take(&mut self.id));
        self.core.worker.handle().spawn(async move {
            // Whoever looks for what was left behind finds it otherwise.
            let _ = timeout(ANSWER, reap::remove(&docker, &id)).await;
        });
    }
}

/// A container on its way.
struct Making<'a> {
    core: &'a Arc<Core>,
    engine: &'a Engine,
    wanted: &'a Wanted,
    session: String,
}

impl<'a> Making<'a> {
    fn new(
        core: &'a Arc<Core>,
        engine: &'a Engine,
        wanted: &'a Wanted,
    ) -> Result<Self, BackendError> {
        let session = new_name()?;
        Core::live().insert(session.clone());
        Ok(Self { core, engine, wanted, session })
    }

    async fn run(self) -> Result<Container, BackendError> {
        let image = self.core.image(self.engine, None).await?;
        let (id, meeting) = self.create(&image).await?;
        let docker = &self.engine.docker;
        let begun = self.start(&image, id.clone(), meeting).await;
        if begun.is_err() {
            // What can't be removed now is found later.
            let _ = timeout(ANSWER, reap::remove(docker, &id)).await;
            Core::live().remove(&self.session);
        }
        begun
    }

    /// Creates it; with a place to meet, where the engine can mount one.
    async fn create(&self, image: &Image) -> Result<(String, Option<Meeting>), BackendError> {
        if self.core.shares(self.engine) {
            let meeting = Meeting::new().map_err(|error| {
                BackendError::new(format!("no directory can be made for a session: {error}"))
            })?;
            match self.create_with(image, Some(meeting.shared())).await {
                Ok(id) => return Ok((id, Some(meeting))),
                // An engine that sees other files than we do.
                Err(error) if is_unknown_source(&error, meeting.shared()) => {
                    self.core.shares_nothing();
                }
                Err(error) => return Err(self.refused(&error)),
            }
        }
        let id = self.create_with(image, None).await.map_err(|error| self.refused(&error))?;
        Ok((id, None))
    }

    async fn create_with(&self, image: &Image, shared: Option<&Path>) -> Result<String, Error> {
        let Wanted { user, reading, mounts, .. } = self.wanted;
        let shared = shared.map(|path| (path.to_owned(), PathBuf::from(INSIDE), true));
        let mounts: Vec<_> = mounts.iter().cloned().chain(shared).collect();
        let settings = settings::container(&Plan {
            config: &self.core.config,
            image: &image.id,
            image_environment: &image.environment,
            image_volumes: &image.volumes,
            labels: self.core.owner.labels(&self.session),
            command: command(),
            user: *user,
            gives_owners: !self.engine.is_podman(),
            reading,
            mounts: &mounts,
        });
        let name = format!("remit-{}", self.session);
        let options = CreateContainerOptionsBuilder::default().name(&name).build();
        let created = self.engine.docker.create_container(Some(options), settings);
        let created = timeout(ANSWER, created).await.map_err(|_| Error::RequestTimeoutError)??;
        for warning in &created.warnings {
            tracing::warn!("the container engine warns: {warning}");
        }
        Ok(created.id)
    }

    async fn start(
        &self,
        image: &Image,
        id: String,
        meeting: Option<Meeting>,
    ) -> Result<Container, BackendError> {
        let docker = &self.engine.docker;
        let options = AttachContainerOptionsBuilder::default();
        let options = options.stream(true).stdin(true).stdout(true).stderr(true).build();
        let attached = timeout(ANSWER, docker.attach_container(&id, Some(options))).await;
        let attached = self.answered(attached)?;
        let started = timeout(ANSWER, docker.start_container(&id, None)).await;
        if let Err(error) = self.answered(started) {
            return Err(diagnosis::not_started(docker, self.core, image, error).await);
        }
        let info = self.core.info(self.engine).await?;
        let meeting_it = self.meet(&id, attached, meeting.is_some());
        let telling = timeout(ANSWER, report::of(self.engine, &id, info));
        let ((wire, hello), confinement) = tokio::join!(meeting_it, telling);
        let Some(hello) = hello else {
            return Err(diagnosis::silent(docker, self.core, image, &wire).await);
        };
        diagnosis::check(&self.core.config, &hello)?;
        let shared = meeting.filter(|_| hello.shared).and_then(|meeting| {
            let shared = meeting.take();
            shared
                .inspect_err(|error| tracing::debug!("pipes are not shared: {error}"))
                .ok()
                .map(Arc::new)
        });
        if hello.shared && shared.is_none() {
            return Err(BackendError::new("the session's container did not give its directory"));
        }
        let mut confinement = confinement.unwrap_or_default();
        confinement["protected_names"] = self.wanted.protection.clone();
        confinement["shares_pipes"] = shared.is_some().into();
        Ok(Container {
            core: Arc::clone(self.core),
            docker: docker.clone(),
            id,
            session: self.session.clone(),
            wire,
            shared,
            confinement,
            removed: OnceLock::new(),
        })
    }

    /// Sends the supervisor its program, and waits for its first word.
    async fn meet(
        &self,
        id: &str,
        attached: AttachContainerResults,
        may_share: bool,
    ) -> (Arc<Wire>, Option<Hello>) {
        let (docker, id) = (self.engine.docker.clone(), id.to_owned());
        let place = self.engine.place.clone();
        let why = move |ended: String| why(docker, id, place, ended);
        let handle = self.core.worker.handle().clone();
        let (wire, greeted) = Wire::begin(attached, handle, why);
        let socket = may_share.then(Meeting::socket);
        let first = json!({"workdir": self.wanted.workdir, "socket": socket}).to_string();
        wire.send(Frame::raw(SUPERVISOR.as_bytes())).await;
        wire.send(Frame::new(b'O', 0, first.as_bytes())).await;
        let hello = timeout(HELLO, greeted).await.ok().and_then(Result::ok);
        (wire, hello)
    }

    fn answered<T>(
        &self,
        answer: Result<Result<T, Error>, tokio::time::error::Elapsed>,
    ) -> Result<T, BackendError> {
        answer.unwrap_or(Err(Error::RequestTimeoutError)).map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &Error) -> BackendError {
        Core::live().remove(&self.session);
        let (place, told) = (&self.engine.place, told(error));
        BackendError::new(format!("the container engine at {place} can't start a session: {told}"))
    }
}

/// A name that no other container has.
fn new_name() -> Result<String, BackendError> {
    let mut bytes = [0_u8; 12];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).map_err(
        |error| BackendError::new(format!("the kernel gives no random numbers: {error}")),
    )?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a container runs.
fn command() -> Vec<String> {
    let bootstrap = BOOTSTRAP.replace("SIZE", &SUPERVISOR.len().to_string());
    ["python3", "-I", "-S", "-c", &bootstrap].map(str::to_owned).to_vec()
}

/// Whether an engine does not see a file that is there.
fn is_unknown_source(error: &Error, path: &Path) -> bool {
    matches!(error, Error::DockerResponseServerError { message, .. }
        if message.contains(&*path.to_string_lossy()))
}

/// Why a container's stream ended.
async fn why(docker: Docker, id: String, place: String, ended: String) -> Loss {
    let inspected = timeout(ANSWER, docker.inspect_container(&id, None)).await;
    let (why, limit) = match inspected {
        Ok(Ok(found)) => {
            let state = found.state.unwrap_or_default();
            match (state.oom_killed, state.running) {
                (Some(true), _) => {
                    ("the session's container ran out of memory".to_owned(), Some("memory"))
                }
                (_, Some(true)) => (
                    format!("the connection to the container engine at {place} ended: {ended}"),
                    None,
                ),
                _ => ("the session's container has ended".to_owned(), None),
            }
        }
        Ok(Err(Error::DockerResponseServerError { .. })) => {
            ("the session's container has ended".to_owned(), None)
        }
        Ok(Err(error)) => {
            (format!("the container engine at {place} is gone: {}", told(&error)), None)
        }
        Err(_) => (format!("the container engine at {place} does not answer"), None),
    };
    Loss { why, limit }
}
