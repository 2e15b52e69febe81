//! Names of images, and what engines answer about them, in words.

use bollard::errors::Error;

/// Whether an engine's answer is that there is no such thing.
pub(in super::super) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code: 404, .. })
}

/// What an engine says, or how it can't be reached.
pub(in super::super) fn told(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        Error::DockerStreamError { error } => error.trim().to_owned(),
        error => error.to_string(),
    }
}

/// A name with its tag, where it has neither one nor a digest.
pub(super) fn tagged(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains(':') || name.contains('@') {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_without_tag_and_digest_gets_one() {
        for (name, whole) in [
            ("python", "python:latest"),
            ("python:3.12-slim", "python:3.12-slim"),
            ("registry:5000/python", "registry:5000/python:latest"),
            ("registry:5000/python:3", "registry:5000/python:3"),
            ("python@sha256:00", "python@sha256:00"),
        ] {
            assert_eq!(tagged(name), whole);
        }
    }
}
