//! An engine on another machine, over `ssh`: `docker system dial-stdio` there carries a connection.
//!
//! Every connection is an `ssh` of its own, whose standard input and output are one socket. It asks
//! nobody anything: keys come from the user's files or agent, and a host that is not known is refused.
//! It runs confined, with the network, and of the user's files sees `~/.ssh` alone, to read. The end of
//! the connection ends it.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use confine::{Capture, Child, Command, Confinement, Network, Prepared, Protection, Stream};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::UnixStream,
};

use super::{
    endpoint::SshTarget,
    environment::{EngineEnvironment, set},
};

/// A directory that every machine has, to start in.
const START: &str = "/usr";
/// How much of what `ssh` complains of is kept.
const MAX_SAID: usize = 2048;
/// How long an `ssh` whose connection broke may take to say why.
const PATIENCE: Duration = Duration::from_secs(2);

/// The way to one machine.
#[derive(Debug)]
pub(super) struct Ssh {
    target: SshTarget,
    home: Option<PathBuf>,
    agent: Option<PathBuf>,
    path: Option<String>,
    /// Made for the first connection.
    prepared: OnceLock<Prepared>,
}

impl Ssh {
    pub(super) fn new(target: SshTarget, environment: &EngineEnvironment) -> Self {
        let agent = set(&environment.ssh_auth_sock).map(PathBuf::from);
        Self {
            target,
            home: set(&environment.home).map(PathBuf::from),
            agent: agent.filter(|agent| agent.exists()),
            path: set(&environment.path).map(str::to_owned),
            prepared: OnceLock::new(),
        }
    }

    /// Starts one. Blocks.
    pub(super) fn start(&self) -> io::Result<(StdUnixStream, SshProcess)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let (input, output) = (OwnedFd::from(theirs.try_clone()?), OwnedFd::from(theirs));
        let program = self.program()?;
        let command = Command::new(&program)
            .args(arguments(&self.target))
            .stdin(Stream::Descriptor(input))
            .stdout(Stream::Descriptor(output));
        let mut child = self.prepared(&program)?.spawn(command).map_err(io::Error::other)?;
        let said =
            child.take_stderr().map(|stderr| Capture::start(stderr, MAX_SAID)).transpose()?;
        Ok((ours, SshProcess { running: Mutex::new(Some((child, said))) }))
    }

    /// Where `ssh` is.
    fn program(&self) -> io::Result<PathBuf> {
        let folders = self.path.as_deref().unwrap_or("/usr/bin").split(':').map(Path::new);
        let mut programs = folders.filter(|it| it.is_absolute()).map(|folder| folder.join("ssh"));
        programs.find(|program| program.is_file()).ok_or_else(|| {
            let missing = "ssh is not installed on this machine (Debian's package openssh-client)";
            io::Error::other(missing)
        })
    }

    fn prepared(&self, program: &Path) -> io::Result<&Prepared> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let prepared = self.confinement(program).prepare().map_err(io::Error::other)?;
        Ok(self.prepared.get_or_init(|| prepared))
    }

    fn confinement(&self, program: &Path) -> Confinement {
        let mut confinement = Confinement::builder(START)
            .read_only_workdir()
            .protection(Protection::none())
            .network(Network::Host)
            .readable(program.parent().unwrap_or(program));
        if let Some(path) = &self.path {
            confinement = confinement.env("PATH", path);
        }
        if let Some(home) = &self.home {
            let settings = home.join(".ssh");
            confinement = confinement.env("HOME", home);
            if settings.is_dir() {
                confinement = confinement.readable(settings);
            }
        }
        if let Some(agent) = &self.agent {
            confinement = confinement.readable(agent).env("SSH_AUTH_SOCK", agent);
        }
        confinement
    }
}

fn arguments(target: &SshTarget) -> Vec<String> {
    let mut arguments: Vec<_> = ["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
        .into_iter()
        .map(str::to_owned)
        .collect();
    if let Some(user) = &target.user {
        arguments.extend(["-l".to_owned(), user.clone()]);
    }
    if let Some(port) = target.port {
        arguments.extend(["-p".to_owned(), port.to_string()]);
    }
    arguments.extend(["--".to_owned(), target.host.clone(), "docker".to_owned()]);
    if let Some(socket) = &target.socket {
        arguments.extend(["--host".to_owned(), format!("unix://{socket}")]);
    }
    arguments.extend(["system".to_owned(), "dial-stdio".to_owned()]);
    arguments
}

/// A running `ssh`; dropping it ends it.
#[derive(Debug)]
pub(super) struct SshProcess {
    running: Mutex<Option<(Child, Option<Capture>)>>,
}

impl SshProcess {
    /// What it complained of, once its connection broke. Blocks, for [`PATIENCE`] at most.
    pub(super) fn why(&self) -> Option<String> {
        let (mut child, said) =
            self.running.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let has_ended = matches!(child.wait_for(PATIENCE), Ok(Some(_)));
        // What it wrote ends with it.
        drop(child);
        let said = said?.finish().ok()?.text().to_string();
        let lines: Vec<_> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.is_empty() {
            false => Some(lines.join("; ")),
            true => has_ended.then(|| "it ended without a word".to_owned()),
        }
    }
}

impl Drop for SshProcess {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else { return };
        // Its end is waited for, which the thread of a runtime can't afford. Where there is no other
        // thread, the closure is dropped here, and the process with it.
        let thread = std::thread::Builder::new().name("ssh-end".to_owned());
        let _ = thread.spawn(move || drop(running));
    }
}

/// A connection that an `ssh` carries.
#[derive(Debug)]
pub(super) struct SshStream {
    stream: UnixStream,
    _process: Arc<SshProcess>,
}

impl SshStream {
    pub(super) fn new(stream: StdUnixStream, process: Arc<SshProcess>) -> io::Result<Self> {
        Ok(Self { stream: UnixStream::from_std(stream)?, _process: process })
    }
}

impl AsyncRead for SshStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for SshStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::connect::endpoint::Endpoint;

    #[test]
    fn the_host_is_behind_the_options_and_nothing_is_asked() {
        let check = |address: &str, expected: &str| {
            let Ok(Endpoint::Ssh(target)) = Endpoint::parse(address, None) else { panic!() };
            let arguments = arguments(&target).join(" ");
            let common = "-T -o BatchMode=yes -o ConnectTimeout=10 ";
            assert_eq!(arguments.strip_prefix(common), Some(expected));
        };
        check("ssh://there", "-- there docker system dial-stdio");
        check(
            "ssh://me@there:2222/run/d.sock",
            "-l me -p 2222 -- there docker --host unix:///run/d.sock system dial-stdio",
        );
    }

    #[test]
    fn where_there_is_no_ssh_its_package_is_named() {
        let Ok(Endpoint::Ssh(target)) = Endpoint::parse("ssh://there", None) else { panic!() };
        let folder = tempfile::tempdir().unwrap();
        let path = Some(folder.path().to_string_lossy().into_owned());
        let ssh = Ssh::new(target, &EngineEnvironment { path, ..EngineEnvironment::default() });
        assert!(ssh.start().unwrap_err().to_string().contains("openssh-client"));
    }
}
