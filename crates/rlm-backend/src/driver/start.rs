//! The first words of a link: the token goes out, the driver's version comes back.

use std::{io, sync::Arc};

use thiserror::Error;
use tokio::time::{Instant, timeout_at};
use tool_core::ExitStatus;

use super::{
    Channels, DriverLink, DriverProcess, HostCalls, LinkConfig,
    control::{Control, Line},
    link::Health,
    quick::Pace,
};
use crate::{
    language::Language,
    output::{OutputSource, OutputStream},
    protocol::{Event, Request, ShownLimits, parse},
};

/// Why a driver did not come up.
#[derive(Debug, Error)]
pub enum StartError {
    /// The descriptors cannot be used.
    #[error("the session's descriptors cannot be used")]
    Descriptors(#[from] io::Error),
    /// The process ended, or closed the channel, before it said that it is there.
    #[error("the session's process ended at its start ({}): {stderr}", describe(.status.as_ref()))]
    Ended {
        /// How it ended, where that is known.
        status: Option<ExitStatus>,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// It did not say that it is there in time.
    #[error("the session's process did not answer in time")]
    TimedOut,
    /// The interpreter is too old.
    #[error("{program} {version} is too old; {needed} or later is needed")]
    TooOld {
        /// The interpreter.
        program: &'static str,
        /// Its version.
        version: String,
        /// The oldest that will do.
        needed: &'static str,
    },
}

fn describe(status: Option<&ExitStatus>) -> String {
    match status {
        Some(ExitStatus::Code(code)) => format!("exit status {code}"),
        Some(ExitStatus::Signal(signal)) => format!("signal {signal}"),
        None => "channel closed".to_owned(),
    }
}

impl DriverLink {
    /// Meets a driver that was started with [`Language::arguments`].
    ///
    /// # Errors
    ///
    /// [`StartError`] where it does not come up by `deadline`; the process is killed then.
    pub async fn start(
        language: Language,
        channels: Channels,
        process: Box<dyn DriverProcess>,
        host_calls: Arc<dyn HostCalls>,
        config: LinkConfig,
        deadline: Instant,
    ) -> Result<Self, StartError> {
        let Channels { control_in, control_out, stdout, stderr } = channels;
        let token = token()?;
        let mut link = Self {
            language,
            process,
            control: Control::new(control_in, control_out, config.max_line_bytes, &token)?,
            stdout: OutputStream::new(stdout, config.max_output_bytes, OutputSource::Stdout)?,
            stderr: OutputStream::new(stderr, config.max_output_bytes, OutputSource::Stderr)?,
            host_calls,
            token,
            version: String::new(),
            generation: config.generation,
            last_id: 0,
            health: Health::Idle,
            watcher: None,
            pace: Pace::Short,
            config,
        };
        let met = timeout_at(deadline, link.meet()).await.unwrap_or(Err(StartError::TimedOut));
        link.control.rest();
        if let Err(error) = met {
            link.process.kill();
            return Err(error);
        }
        Ok(link)
    }

    async fn meet(&mut self) -> Result<(), StartError> {
        let token = self.token.clone();
        self.control.send(self.language.program_text().as_bytes());
        self.send(&Request::Hello { token: &token, limits: ShownLimits::default() });
        loop {
            let line = tokio::select! {
                line = self.control.next_line() => line,
                () = self.stdout.fill() => continue,
                () = self.stderr.fill() => continue,
            };
            let Line::Whole(line) = line else { return Err(self.failed().await) };
            if let Some(Event::Ready { version }) = parse(&line, &self.token) {
                self.version = version;
                return self.check_version();
            }
        }
    }

    async fn failed(&mut self) -> StartError {
        let wait = std::time::Duration::from_millis(200);
        let status = tokio::time::timeout(wait, self.process.ended()).await.ok();
        self.stderr.drain();
        StartError::Ended { status, stderr: self.stderr.take().text().to_string() }
    }

    fn check_version(&self) -> Result<(), StartError> {
        let (least, needed) = match self.language {
            Language::Python => ([3, 9], "3.9"),
            Language::Bash => ([5, 0], "5.0"),
        };
        if numbers(&self.version) >= least {
            return Ok(());
        }
        let program = self.language.program();
        Err(StartError::TooOld { program, version: self.version.clone(), needed })
    }
}

fn numbers(version: &str) -> [u32; 2] {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    [parts.next().unwrap_or(0), parts.next().unwrap_or(0)]
}

fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(numbers("3.11.2") >= [3, 9]);
        assert!(numbers("3.8.20") < [3, 9]);
        assert!(numbers("5.2.15(1)-release") >= [5, 0]);
        assert!(numbers("garbage") < [3, 9]);
    }
}
