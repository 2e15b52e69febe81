//! Why there is no engine, for whoever has to start one.

use std::{error::Error as _, fmt, io, time::Duration};

use bollard::errors::Error;

use super::{OLDEST_API, endpoint::Endpoint, find::Candidate};

/// No engine: what was tried, why it failed, and how to start one. Socket permission, no socket, and
/// an engine that does not answer are told apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ConnectError {
    message: String,
}

/// Why one engine was not had.
#[derive(Debug)]
pub(super) enum Failure {
    /// No connection.
    Dial(io::Error),
    /// A connection, and no answer in time.
    Silent(Duration),
    /// An answer that is none of an engine's.
    Answer(String),
    /// An engine that lacks what is asked of it.
    TooOld(String),
}

/// One engine that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) candidate: Candidate,
    pub(super) failure: Failure,
}

impl Failure {
    /// What went wrong with a request.
    pub(super) fn of(error: Error) -> Self {
        match error {
            Error::IOError { err } => Self::Dial(err),
            Error::DockerResponseServerError { status_code, message } => {
                let message = message.trim();
                Self::Answer(format!(
                    "it answered {status_code}: {}",
                    tool_core::clip(message, 300)
                ))
            }
            error => {
                Self::Answer(format!("it does not answer as an engine does: {}", whole(&error)))
            }
        }
    }

    fn is(&self, kind: io::ErrorKind) -> bool {
        matches!(self, Self::Dial(error) if error.kind() == kind)
    }
}

/// An error with its causes.
fn whole(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

impl Tried {
    fn why(&self) -> String {
        let is_socket = matches!(self.candidate.endpoint, Endpoint::Unix(_));
        match &self.failure {
            Failure::Dial(error) => match error.kind() {
                io::ErrorKind::NotFound if is_socket => "there is no such socket".to_owned(),
                io::ErrorKind::PermissionDenied if is_socket => {
                    "permission denied: this user may not use the socket".to_owned()
                }
                io::ErrorKind::ConnectionRefused => {
                    "nobody listens there: the engine is not running".to_owned()
                }
                io::ErrorKind::TimedOut => "no connection came about in time".to_owned(),
                _ => error.to_string(),
            },
            Failure::Silent(patience) => {
                format!("a connection, but no answer within {} s", patience.as_secs())
            }
            Failure::Answer(said) => said.clone(),
            Failure::TooOld(said) => {
                let (major, minor) = OLDEST_API;
                format!("its API is {said:?}, and {major}.{minor} is needed (Docker 19.03)")
            }
        }
    }

    fn is_named(&self) -> bool {
        self.candidate.named_by != "by default"
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.candidate.endpoint, self.candidate.named_by, self.why())
    }
}

impl ConnectError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    pub(super) fn of(tried: &[Tried]) -> Self {
        let each: Vec<_> = tried.iter().map(Tried::to_string).collect();
        let tried_in_words = each.join("; ");
        Self::new(format!(
            "no container engine answers. Tried: {tried_in_words}. {}",
            remedy(tried)
        ))
    }
}

/// What to do, for the gravest of what was found.
fn remedy(tried: &[Tried]) -> &'static str {
    let some = |test: fn(&Tried) -> bool| tried.iter().any(test);
    if some(|one| one.failure.is(io::ErrorKind::PermissionDenied)) {
        "To mend it: add this user to the group that owns the socket (sudo usermod -aG docker NAME) and log \
         in again, or start a rootless engine and name it with DOCKER_HOST"
    } else if some(|one| one.is_named() && !matches!(one.candidate.endpoint, Endpoint::Unix(_))) {
        "To mend it: check that the address is right and that the engine over there runs (docker -H ADDRESS \
         version), or name another with DOCKER_HOST or sandbox.docker.host"
    } else {
        "To start one: sudo systemctl start docker (Debian's package is docker.io), or, without the \
         superuser, systemctl --user start podman.socket; to name one that runs elsewhere: DOCKER_HOST or \
         sandbox.docker.host"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(address: &str, named_by: &str, failure: Failure) -> Tried {
        let endpoint = Endpoint::parse(address, None).unwrap();
        Tried { candidate: Candidate { endpoint, named_by: named_by.to_owned() }, failure }
    }

    fn dial(kind: io::ErrorKind) -> Failure {
        Failure::Dial(kind.into())
    }

    fn text(tried: &[Tried]) -> String {
        ConnectError::of(tried).to_string()
    }

    #[test]
    fn all_that_was_tried_is_told_with_how_to_start_one() {
        let found = text(&[
            tried("unix:///a", "by default", dial(io::ErrorKind::NotFound)),
            tried("unix:///b", "by default", dial(io::ErrorKind::ConnectionRefused)),
        ]);
        insta::assert_snapshot!(found);
    }

    #[test]
    fn a_closed_socket_is_told_with_how_to_be_let_in() {
        insta::assert_snapshot!(text(&[
            tried("unix:///a", "by default", dial(io::ErrorKind::PermissionDenied)),
            tried("unix:///b", "by default", dial(io::ErrorKind::NotFound)),
        ]));
    }

    #[test]
    fn a_named_engine_elsewhere_is_to_be_looked_at() {
        let silent = Failure::Silent(Duration::from_secs(20));
        insta::assert_snapshot!(text(&[tried("tcp://far:1", "DOCKER_HOST", silent)]));
        let old = Failure::TooOld("1.24".to_owned());
        let found = text(&[tried("ssh://far", "DOCKER_HOST", old)]);
        assert!(found.contains("its API is \"1.24\", and 1.40 is needed"), "{found}");
    }
}
