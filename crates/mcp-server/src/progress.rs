//! From the sandbox's progress to the calls that a client watches.
//!
//! A client that gave a token hears of its call at most a few times a second; what a program writes
//! meanwhile is counted, and its last line is the message. Nothing is kept for calls nobody watches.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;
use tool_core::{CallId, Progress, ProgressSink, clip};

/// How much of a line is shown, in bytes.
const MAX_LINE: usize = 200;

/// The calls that somebody watches.
#[derive(Debug, Default)]
pub(crate) struct ProgressHub {
    watched: Mutex<HashMap<CallId, Arc<Watched>>>,
}

/// What a watched call did since it was looked at.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    line: Mutex<Option<String>>,
    news: Notify,
}

/// A call that is watched until this is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    hub: Arc<ProgressHub>,
    call: CallId,
    watched: Arc<Watched>,
}

impl ProgressHub {
    /// Watches a call.
    pub(crate) fn watch(self: &Arc<Self>, call: CallId) -> Watch {
        let watched = Arc::<Watched>::default();
        let mut all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(call.clone(), Arc::clone(&watched));
        Watch { hub: Arc::clone(self), call, watched }
    }
}

impl Watch {
    /// Waits until the call wrote something, and gives its last line.
    pub(crate) async fn next(&self) -> String {
        loop {
            let news = self.watched.news.notified();
            if let Some(line) = self.rest() {
                return line;
            }
            news.await;
        }
    }

    /// The last line, where it was not given yet.
    pub(crate) fn rest(&self) -> Option<String> {
        self.watched.line.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.hub.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call);
    }
}

impl ProgressSink for ProgressHub {
    fn progress(&self, call: &CallId, progress: Progress<'_>) {
        let Progress::Output { text, .. } = progress else { return };
        let all = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(watched) = all.get(call) else { return };
        let line = text.lines().rfind(|line| !line.trim().is_empty());
        if let Some(line) = line {
            let line = clip(line.trim_end(), MAX_LINE).to_owned();
            *watched.line.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
            watched.news.notify_one();
        }
    }
}
