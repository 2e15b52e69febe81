//! Starting a child: descriptors made, the job handed to the launcher, the first word awaited.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use super::{Child, status};
use crate::Step;
use crate::cgroup::Group;
use crate::launcher::{self, LaunchError, Request};
use crate::plan::{Job, Namespaces, Plan, Program, Status};
use crate::{Command, Prepared, SpawnError, Stream};

/// How long a rehearsal may take.
const REHEARSAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts a program.
pub(crate) fn spawn(prepared: &Prepared, command: Command) -> Result<Child, SpawnError> {
    let program = program(prepared, &command)?;
    let streams = Streams::make(command)?;
    let launch = prepared.launch()?;
    let job = Job { plan: launch.plan, program: Some(program) };
    let groups = groups(prepared)?;
    let doors = groups.iter().map(Group::door).collect::<io::Result<Vec<_>>>()?;
    let descriptors: Vec<&OwnedFd> = doors.iter().chain(&streams.theirs).collect();
    let launched = match start(&job, &descriptors, true) {
        // A process that waited may not know of what was mounted meanwhile.
        Err(SpawnError::Step { step: Step::OpenTrees, .. }) => start(&job, &descriptors, false),
        answer => answer,
    }?;
    Ok(Child {
        status: launched.status,
        pidfd: launched.pidfd,
        is_own_namespace: job.plan.namespaces.is_some(),
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
        report: launch.report,
        watch: launch.watch,
        groups,
        end: None,
    })
}

/// Has a job carried out up to the start of its program.
fn start(job: &Job, descriptors: &[&OwnedFd], may_be_spare: bool) -> Result<Launched, SpawnError> {
    let launched = Launched::new(job, descriptors, may_be_spare)?;
    match status::next(&launched.status)? {
        Some(Status::Started) => Ok(launched),
        Some(Status::Failed { step, errno }) => Err(failed(job, step, errno)),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}

/// The control groups of a child. The first process is one of the processes that they count.
fn groups(prepared: &Prepared) -> io::Result<Vec<Group>> {
    let (memory, processes) = (prepared.limits.memory, prepared.limits.processes);
    let with_init = processes.map(|most| most.saturating_add(1));
    prepared.groups.iter().map(|place| Group::make(place, memory, with_init)).collect()
}

/// Goes through a job without a program; the inner answer is the step that was refused.
pub(crate) fn rehearse(job: &Job) -> io::Result<Result<(), String>> {
    let launched = match Launched::new(job, &[], false) {
        Ok(launched) => launched,
        Err(SpawnError::Host(error)) => return Err(error),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let over = status::is_ready(&launched.pidfd, REHEARSAL_TIMEOUT)?;
    Ok(match over.then(|| status::last(&launched.status)).flatten() {
        Some(Status::Exited(0)) => Ok(()),
        Some(Status::Failed { step, errno }) => Err(failed(job, step, errno).to_string()),
        _ => Err("a rehearsal ended without an answer".to_owned()),
    })
}

/// A process that is about to carry out its job.
struct Launched {
    status: OwnedFd,
    pidfd: OwnedFd,
}

impl Launched {
    /// Hands a job over.
    fn new(job: &Job, inherited: &[&OwnedFd], may_be_spare: bool) -> Result<Self, SpawnError> {
        let (status, theirs) = launcher::pair()?;
        let descriptors: Vec<BorrowedFd<'_>> =
            [&theirs].into_iter().chain(inherited.iter().copied()).map(AsFd::as_fd).collect();
        let request = Request { namespaces: clone_flags(&job.plan), may_be_spare };
        match launcher::launch(request, job, &descriptors) {
            Ok(pidfd) => Ok(Self { status, pidfd }),
            Err(LaunchError::Launcher(error)) => Err(SpawnError::Host(error)),
            Err(LaunchError::Clone(source)) => Err(SpawnError::Step { step: Step::Clone, source }),
        }
    }
}

/// The namespaces of a plan as `clone3` takes them.
fn clone_flags(plan: &Plan) -> u64 {
    const ALWAYS: libc::c_int = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    let flags = match &plan.namespaces {
        None => 0,
        Some(Namespaces { network: false, .. }) => ALWAYS,
        Some(Namespaces { network: true, .. }) => ALWAYS | libc::CLONE_NEWNET,
    };
    u64::from(flags.unsigned_abs())
}

/// The error for a step that failed.
fn failed(job: &Job, step: Step, errno: i32) -> SpawnError {
    let source = io::Error::from_raw_os_error(errno);
    let name = job.program.as_ref().and_then(|program| program.arguments.first());
    match (step, name) {
        (Step::Execute, Some(name)) => {
            SpawnError::Program { program: name.to_string_lossy().into_owned(), source }
        }
        _ => SpawnError::Step { step, source },
    }
}

/// The program of a command, in a confinement's environment.
fn program(prepared: &Prepared, command: &Command) -> Result<Program, SpawnError> {
    let name = c_string(&command.program, "the program")?;
    let arguments = command.arguments.iter().map(|one| c_string(one, "an argument"));
    Ok(Program {
        candidates: candidates(prepared, &name),
        arguments: std::iter::once(Ok(name)).chain(arguments).collect::<Result<_, _>>()?,
        environment: prepared.environment_block(),
        directory: match &command.directory {
            Some(directory) => c_string(directory, "the directory")?,
            None => prepared.directory.clone(),
        },
    })
}

/// Where a program may be: where its name says, or in the directories of `PATH`.
fn candidates(prepared: &Prepared, name: &CString) -> Vec<CString> {
    if name.as_bytes().contains(&b'/') {
        return vec![name.clone()];
    }
    let path = prepared.environment.iter().find(|(key, _)| key.as_bytes() == b"PATH");
    let directories = path.map(|(_, value)| value.as_bytes()).unwrap_or_default();
    directories
        .split(|byte| *byte == b':')
        .filter(|directory| directory.starts_with(b"/"))
        .filter_map(|directory| CString::new([directory, b"/", name.as_bytes()].concat()).ok())
        .collect()
}

/// Text as system calls take it.
fn c_string(text: impl AsRef<OsStr>, what: &'static str) -> Result<CString, SpawnError> {
    CString::new(text.as_ref().as_bytes()).map_err(|_| SpawnError::Nul { what })
}

/// Both sides of a child's streams.
struct Streams {
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    /// What the child inherits, 0 first.
    theirs: Vec<OwnedFd>,
}

impl Streams {
    /// Makes what is asked for.
    fn make(command: Command) -> io::Result<Self> {
        let (stdin, in_theirs) = match command.stdin {
            Stream::Null => (None, File::open("/dev/null")?.into()),
            Stream::Descriptor(descriptor) => (None, descriptor),
            Stream::Pipe => pipe().map(|(theirs, ours)| (Some(ours), theirs.into()))?,
        };
        let (stdout, out_theirs) = output(command.stdout)?;
        let (stderr, err_theirs) = output(command.stderr)?;
        let standard = [in_theirs, out_theirs, err_theirs];
        let theirs = standard.into_iter().chain(command.inherited).collect();
        Ok(Self { stdin, stdout, stderr, theirs })
    }
}

/// One output stream: our end, if there is one, and the child's.
fn output(stream: Stream) -> io::Result<(Option<PipeReader>, OwnedFd)> {
    match stream {
        Stream::Null => Ok((None, File::options().write(true).open("/dev/null")?.into())),
        Stream::Descriptor(descriptor) => Ok((None, descriptor)),
        Stream::Pipe => pipe().map(|(ours, theirs)| (Some(ours), theirs.into())),
    }
}
