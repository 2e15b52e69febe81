//! Starts a driver unconfined, as these tests may, and gives it to a link.
#![allow(dead_code, reason = "each program of this folder uses a part of it")]

use std::{
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use rlm_backend::{
    CallError, CallOutcome, Channels, DriverLink, DriverProcess, HostCalls, Language, LinkConfig,
    NoHostCalls, StateAfter,
};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{sync::watch, time::Instant};
use tool_core::{BoxFuture, ExitStatus};

/// More than any test needs; a test that gets here has failed.
pub(crate) const PLENTY: Duration = Duration::from_secs(30);

/// Whether a check that cannot run here is a failure.
#[expect(
    clippy::disallowed_methods,
    reason = "CI says by this variable that nothing may be skipped"
)]
pub(crate) fn no_skip() -> bool {
    std::env::var_os("REMIT_TEST_NO_SKIP").is_some()
}

/// A driver process in its own process group.
struct Unconfined {
    group: Pid,
    ended: watch::Receiver<Option<ExitStatus>>,
}

impl Unconfined {
    fn watch(mut child: Child) -> Self {
        let group = Pid::from_child(&child);
        let (tell, ended) = watch::channel(None);
        std::thread::spawn(move || {
            let status = child.wait().unwrap();
            let code = status.code().map(ExitStatus::Code);
            let signal = status.signal().map(ExitStatus::Signal);
            tell.send(code.or(signal)).ok();
        });
        Self { group, ended }
    }
}

impl DriverProcess for Unconfined {
    fn interrupt(&mut self) {
        kill_process_group(self.group, Signal::INT).ok();
    }

    fn kill(&mut self) {
        kill_process_group(self.group, Signal::KILL).ok();
    }

    fn ended(&mut self) -> BoxFuture<'_, ExitStatus> {
        Box::pin(async {
            let status = *self.ended.wait_for(Option::is_some).await.unwrap();
            status.unwrap()
        })
    }
}

impl Drop for Unconfined {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A session as a test uses it.
pub(crate) struct Session {
    pub(crate) link: DriverLink,
}

impl Session {
    pub(crate) async fn start(language: Language) -> Self {
        Self::with(language, LinkConfig::default(), Arc::new(NoHostCalls)).await
    }

    pub(crate) async fn with(
        language: Language,
        config: LinkConfig,
        host_calls: Arc<dyn HostCalls>,
    ) -> Self {
        let started = spawn(language, language.program(), Path::new("."));
        Self::over(language, started, config, host_calls).await
    }

    /// A session of an interpreter that is named, in a folder.
    pub(crate) async fn of(program: &str, language: Language, folder: &Path) -> Self {
        let (config, calls) = (LinkConfig::default(), Arc::new(NoHostCalls));
        Self::over(language, spawn(language, program, folder), config, calls).await
    }

    async fn over(
        language: Language,
        (child, channels): (Child, Channels),
        config: LinkConfig,
        host_calls: Arc<dyn HostCalls>,
    ) -> Self {
        let process = Box::new(Unconfined::watch(child));
        let deadline = Instant::now() + PLENTY;
        let link = DriverLink::start(language, channels, process, host_calls, config, deadline);
        Self { link: link.await.expect("the driver comes up") }
    }

    /// Runs code that must end by itself.
    pub(crate) async fn run(&mut self, code: &str) -> CallOutcome {
        let outcome = self.run_within(code, PLENTY).await;
        assert!(!outcome.ending.timed_out, "timed out: {code}\n{outcome:?}");
        outcome
    }

    pub(crate) async fn run_within(&mut self, code: &str, limit: Duration) -> CallOutcome {
        self.try_run(code, limit).await.expect("the session takes the call")
    }

    pub(crate) async fn try_run(
        &mut self,
        code: &str,
        limit: Duration,
    ) -> Result<CallOutcome, CallError> {
        self.link.run(code, Instant::now() + limit, std::future::pending()).await
    }

    /// What code prints, where it keeps the session and ends well.
    pub(crate) async fn prints(&mut self, code: &str) -> String {
        let outcome = self.run(code).await;
        assert_eq!(outcome.ending.exit_code, Some(0), "{code}\n{outcome:?}");
        assert_eq!(outcome.state, StateAfter::Kept, "{code}\n{outcome:?}");
        outcome.stdout.text().to_string()
    }
}

fn spawn(language: Language, program: &str, folder: &Path) -> (Child, Channels) {
    let (driver_in, control_in) = rustix::pipe::pipe().unwrap();
    let (control_out, driver_out) = rustix::pipe::pipe().unwrap();
    let (stdout, stdout_of_driver) = cloexec_pipe();
    let (stderr, stderr_of_driver) = cloexec_pipe();
    for fd in [&control_in, &control_out] {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC).unwrap();
    }
    let arguments = language.arguments(driver_in.as_raw_fd(), driver_out.as_raw_fd());
    #[expect(clippy::disallowed_methods, reason = "the drivers are tested without confinement")]
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(stdout_of_driver)
        .stderr(stderr_of_driver)
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("{program} must be there: {error}"));
    (child, Channels { control_in, control_out, stdout, stderr })
}

fn cloexec_pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap()
}
