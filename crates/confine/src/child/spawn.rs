//! Starting a child: descriptors made, the job handed to the launcher, the first word awaited.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, pipe};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

use super::launching::{Launched, Launching, NotLaunched, Origin};
use super::{Child, ahead};
use crate::Step;
use crate::plan::{Plan, Program, Request};
use crate::prepare::Sealed;
use crate::{Command, Prepared, SpawnError, Stream};

/// How long a rehearsal may take.
const REHEARSAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts a program.
pub(crate) fn spawn(prepared: &Prepared, command: Command) -> Result<Child, SpawnError> {
    let program = program(prepared, &command)?;
    let streams = Streams::make(command)?;
    let launch = prepared.launch()?;
    let is_alone = launch.plan.plan.namespaces.as_ref().is_some_and(|spaces| spaces.network);
    if program.listener.is_some() && !is_alone {
        return Err(SpawnError::SharedNetwork);
    }
    let order =
        Order { prepared, plan: &launch.plan, program: &program, inherited: &streams.theirs };
    let answer = order.launch();
    ahead::refill(prepared, &launch.plan);
    let Launched { status, pidfd, groups, listener, end } =
        answer.map_err(|error| spawn_error(error, &program))?;
    let child = Child {
        status,
        pidfd,
        is_own_namespace: launch.plan.plan.namespaces.is_some(),
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
        listener: listener.map(TcpListener::from),
        report: launch.report,
        watch: launch.watch,
        groups: Some(groups),
        heard: end,
        end: None,
    };
    if launch.plan.plan.wall_clock.is_some() {
        child.ask(Request::StartClock);
    }
    Ok(child)
}

/// What is to be started.
struct Order<'a> {
    prepared: &'a Prepared,
    plan: &'a Arc<Sealed>,
    program: &'a Program,
    inherited: &'a [OwnedFd],
}

impl Order<'_> {
    /// Has it carried out, by the shortest way that works.
    fn launch(&self) -> Result<Launched, NotLaunched> {
        if let Some(waiting) = ahead::take(self.prepared, self.plan) {
            match self.give(waiting) {
                // It ended with its launcher before anything was started.
                Err(NotLaunched::Vanished | NotLaunched::Host(_)) => {}
                answer => return answer,
            }
        }
        match self.start(Origin::Spare) {
            // The launcher ended with the request in its hands; there is another one now.
            Err(NotLaunched::Vanished) => self.start(Origin::Scratch),
            // A process that waited may not know of what was mounted meanwhile.
            Err(NotLaunched::Step(Step::OpenTrees, _)) => self.start(Origin::Scratch),
            answer => answer,
        }
    }

    /// Has a child made for it.
    fn start(&self, origin: Origin) -> Result<Launched, NotLaunched> {
        self.give(Launching::begin(self.prepared, self.plan, origin)?)
    }

    /// Gives it to a child, and waits until the program runs.
    fn give(&self, child: Launching) -> Result<Launched, NotLaunched> {
        child.order(self.program, self.inherited)?;
        child.started()
    }
}

/// Goes through a plan without a program; the inner answer is the step that was refused.
pub(crate) fn rehearse(plan: &Plan) -> io::Result<Result<(), String>> {
    match Launching::rehearse(plan)?.ready(REHEARSAL_TIMEOUT) {
        Ok(_) => Ok(Ok(())),
        Err(NotLaunched::Host(error)) => Err(error),
        Err(NotLaunched::Vanished) => Ok(Err("a rehearsal ended without an answer".to_owned())),
        Err(NotLaunched::Step(step, errno)) => {
            Ok(Err(format!("{step} failed: {}", io::Error::from_raw_os_error(errno))))
        }
    }
}

/// The error for a launch that failed.
fn spawn_error(error: NotLaunched, program: &Program) -> SpawnError {
    match error {
        NotLaunched::Host(error) => SpawnError::Host(error),
        NotLaunched::Vanished => io::Error::from(io::ErrorKind::UnexpectedEof).into(),
        NotLaunched::Step(step, errno) => {
            let source = io::Error::from_raw_os_error(errno);
            match (step, program.arguments.first()) {
                (Step::Execute, Some(name)) => {
                    SpawnError::Program { program: name.to_string_lossy().into_owned(), source }
                }
                _ => SpawnError::Step { step, source },
            }
        }
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
        listener: command.listener,
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
