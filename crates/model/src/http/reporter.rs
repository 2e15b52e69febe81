//! The one place where errors of a provider are made, so that none of them holds its key.

use std::time::Duration;

use super::Fault;
use crate::{ApiKey, ModelError};

/// The most bytes of a message that are looked at.
const MAX_READ: usize = 64 * 1024;

/// The most bytes of a message that are shown.
const MAX_MESSAGE: usize = 2 * 1024;

/// Makes errors in the name of one provider.
#[derive(Debug)]
pub(super) struct Reporter {
    pub(super) provider: String,
    pub(super) key: Option<ApiKey>,
}

impl Reporter {
    /// The error that a fault becomes.
    pub(super) fn error_of(&self, fault: Fault) -> ModelError {
        match fault {
            Fault::Nonsense(message) => self.nonsense(&message),
            Fault::Reported { status, message } => self.status_error(status, &message, None),
        }
    }

    /// A status other than 2xx.
    pub(super) fn status_error(
        &self,
        status: u16,
        message: &str,
        retry_after: Option<Duration>,
    ) -> ModelError {
        let (provider, message) = (self.provider.clone(), self.clean(message));
        ModelError::Status { provider, status, message, retry_after }
    }

    /// An answer that makes no sense.
    pub(super) fn nonsense(&self, message: &str) -> ModelError {
        ModelError::Protocol { provider: self.provider.clone(), message: self.clean(message) }
    }

    /// No answer in time.
    pub(super) fn timed_out(&self, after: Duration) -> ModelError {
        ModelError::TimedOut { provider: self.provider.clone(), after }
    }

    /// No connection, or a broken one. It tells the whole chain of causes, but not the address, whose
    /// query may hold a secret.
    pub(super) fn transport(&self, error: reqwest::Error) -> ModelError {
        let error = error.without_url();
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(next) = cause {
            message = format!("{message}: {next}");
            cause = next.source();
        }
        ModelError::Transport { provider: self.provider.clone(), message: self.clean(&message) }
    }

    /// `message` without the key, bounded.
    fn clean(&self, message: &str) -> String {
        // Looking for the key costs time, and more than this is never shown.
        let message = tool_core::clip(message, MAX_READ);
        let clean = match &self.key {
            Some(key) => key.redact(message),
            None => message.to_owned(),
        };
        tool_core::clip(&clean, MAX_MESSAGE).to_owned()
    }
}
