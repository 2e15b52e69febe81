//! The output of code that runs, passed on to whoever watches the call; at most as much as a result
//! may have.

use std::sync::atomic::{AtomicUsize, Ordering};

use tool_core::{ExecContext, OutputKind, Progress, clip};

use crate::{OutputSource, OutputWatcher};

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
