//! The output of code that runs, and the steps of a query, passed on to whoever watches the call; at most
//! as much as a result may have.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use tool_core::{ExecContext, OutputKind, Progress, clip};

use super::steps::Steps;
use crate::{OutputSource, OutputWatcher, QueryObserver, QueryRecord};

const NO_MORE: &str = "\n[more is not shown while it runs]\n";

/// Passes output on.
#[derive(Debug)]
pub(super) struct Live {
    ctx: ExecContext,
    /// How many bytes may still be shown.
    room: AtomicUsize,
}

impl Live {
    pub(super) fn new(ctx: ExecContext) -> Self {
        let room = AtomicUsize::new(ctx.limits().max_output().as_usize());
        Self { ctx, room }
    }
}

impl OutputWatcher for Live {
    fn output(&self, source: OutputSource, text: &str) {
        // One task follows a call, so nobody else takes of the room meanwhile.
        let room = self.room.load(Ordering::Relaxed);
        if room == 0 {
            return;
        }
        let kind = match source {
            OutputSource::Stdout => OutputKind::Stdout,
            OutputSource::Stderr => OutputKind::Stderr,
        };
        let shown = clip(text, room);
        self.ctx.progress(Progress::Output { kind, text: shown });
        if shown.len() < text.len() {
            self.room.store(0, Ordering::Relaxed);
            self.ctx.progress(Progress::Output { kind, text: NO_MORE });
        } else {
            self.room.store(room - shown.len(), Ordering::Relaxed);
        }
    }
}

/// Passes the steps of a query on, a line for each that is worth one.
#[derive(Debug)]
pub(super) struct LiveQuery {
    /// One at a time: queries of a tree run side by side.
    inner: Mutex<(Live, Steps)>,
}

impl LiveQuery {
    pub(super) fn new(ctx: ExecContext) -> Self {
        Self { inner: Mutex::new((Live::new(ctx), Steps::default())) }
    }
}

impl QueryObserver for LiveQuery {
    fn observe(&self, record: &QueryRecord) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (live, steps) = &mut *inner;
        if let Some(line) = steps.line(&record.event) {
            live.output(OutputSource::Stderr, &line);
        }
    }
}
