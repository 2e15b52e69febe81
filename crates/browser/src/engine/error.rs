//! Why something was not done in a browser.

use std::io;
use std::time::Duration;

use super::cdp::CdpError;
use super::{FindError, LaunchError, Notices};
use crate::policy::Refusal;

/// Why an operation in a browser has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no browser on this machine.
    #[error(transparent)]
    Missing(#[from] FindError),
    /// It can't be started here.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It was started and did not work.
    #[error("the browser did not start: {said}")]
    Start {
        /// The last lines that it wrote, or what it did not do.
        said: String,
    },
    /// It ended: it was killed, or its memory was used up.
    #[error("the browser has ended, and the page with it; open the URL again")]
    Ended,
    /// The page's process died.
    #[error("the page has crashed; open a URL in it again")]
    Crashed,
    /// The page opens dialogs without end.
    #[error("the page opens dialogs without end and was given up; open a URL in it again")]
    Stuck,
    /// It took too long. The page lives on.
    #[error("{what} was not done within {} ms; the page may be busy", after.as_millis())]
    TimedOut {
        /// What.
        what: &'static str,
        /// How long it had.
        after: Duration,
    },
    /// The policy refuses a URL.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A page was not loaded.
    #[error("the page was not loaded: {problem}")]
    NotLoaded {
        /// Why, as Chromium says it, or in words.
        problem: String,
        /// What was refused or denied meanwhile.
        notices: Box<Notices>,
    },
    /// An element can't be used.
    #[error("{element}: {problem}")]
    Element {
        /// As it was named.
        element: String,
        /// What is wrong, and what to do about it.
        problem: String,
    },
    /// An argument that is none of those that are accepted.
    #[error("{problem}")]
    Argument {
        /// Which.
        name: &'static str,
        /// What is wrong, and what would be accepted.
        problem: String,
    },
    /// The browser refuses what we asked.
    #[error("the browser can't do that: {0}")]
    Browser(String),
    /// No such page.
    #[error(
        "no page is named {id:?}: it was never there, was closed, or was not used for too long"
    )]
    NoSuchPage {
        /// As it was named.
        id: String,
    },
    /// As many pages as there may be.
    #[error("{max} pages are open, which is the most; close one")]
    TooManyPages {
        /// The most.
        max: usize,
    },
    /// The machine has no random bytes, or no further thread.
    #[error("the machine can't: {0}")]
    Machine(#[from] io::Error),
}

impl From<CdpError> for EngineError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Closed => Self::Ended,
            CdpError::TimedOut { method } => {
                Self::TimedOut { what: in_words(method), after: Duration::ZERO }
            }
            CdpError::Refused { .. } => Self::Browser(error.to_string()),
        }
    }
}

impl EngineError {
    /// Fills in how long it had, where that is what went wrong.
    pub(super) fn after(self, after: Duration) -> Self {
        match self {
            Self::TimedOut { what, .. } => Self::TimedOut { what, after },
            other => other,
        }
    }
}

/// What a method of the protocol is for.
fn in_words(method: &'static str) -> &'static str {
    match method {
        "Page.navigate" => "the answer of the server",
        "Page.captureScreenshot" => "the screenshot",
        "Accessibility.getFullAXTree" => "the snapshot",
        "Input.dispatchMouseEvent" => "the click",
        "Input.dispatchKeyEvent" | "Input.insertText" => "the typing",
        _ => "the operation",
    }
}
