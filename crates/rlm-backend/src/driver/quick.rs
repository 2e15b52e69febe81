//! A short wait that does not go through the event loop.
//!
//! Most calls of a session end within microseconds. Handing such a call to the event loop, and being
//! woken by it, takes as long as the call: the thread waits for the answer itself. Other tasks of the
//! thread are held up by that for at most [`MOMENT`], once a session: a call that takes longer goes to
//! the event loop, and so do the calls after it, until one of them was short.

use std::{os::fd::BorrowedFd, time::Duration};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::time::Instant;

use super::{DriverLink, call::Call};
use crate::protocol::Done;

/// How long a thread waits itself. Less would cost more: a timer that is due before the kernel's own
/// next one is programmed into the hardware, and taken out again, for every call.
const MOMENT: Duration = Duration::from_millis(5);
/// Below this a call is short.
const SHORT: Duration = Duration::from_millis(1);

/// Whether the calls of a session are short ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// The last one was, or there was none.
    Short,
    /// The last one was not.
    Long,
}

impl Pace {
    /// What a call says of the next one.
    pub(super) fn after(took: Duration) -> Self {
        if took < SHORT { Self::Short } else { Self::Long }
    }
}

impl DriverLink {
    /// Waits a moment for the end of a call; gives the report, if it came. All output that was written
    /// before it is taken in then.
    pub(super) fn quick_end(&mut self, call: &mut Call) -> Option<Box<Done>> {
        if self.pace == Pace::Long {
            return None;
        }
        let until = (Instant::now() + MOMENT).min(call.next);
        while !self.control.has_unsent() {
            let left = until.saturating_duration_since(Instant::now());
            // In this order: output that was there before the driver spoke is seen with its word.
            let sources = [self.control.source(), self.stdout.source(), self.stderr.source()];
            let [spoke, out, err] = ready(sources, left);
            let done = if spoke { self.heard(call) } else { None };
            if out {
                self.stdout.drain();
            }
            if err {
                self.stderr.drain();
            }
            if spoke || !(out || err) || left.is_zero() {
                return done;
            }
        }
        None
    }
}

/// Which of these have something to read, or have ended, by the time given; none where the kernel
/// can't be asked.
pub(super) fn ready<const COUNT: usize>(
    sources: [BorrowedFd<'_>; COUNT],
    wait: Duration,
) -> [bool; COUNT] {
    let mut asked = sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN));
    // A wait is far below a second.
    let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
    match poll(&mut asked, Some(&wait)) {
        Ok(_) => asked.map(|source| !source.revents().is_empty()),
        Err(_) => [false; COUNT],
    }
}
