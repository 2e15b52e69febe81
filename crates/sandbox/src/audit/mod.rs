//! The audit trail: one JSON line for every decision, chained by hashes.
//!
//! A call that passes stages 1 to 4 gives two lines: `admitted` before anything runs, and `answered`
//! with its outcome; a refused call gives one `answered` line. Arguments and outputs never get in,
//! only their sizes and the SHA-256 of the arguments. A line is with the operating system before the
//! call goes on; when it can't be written, nothing runs any more (fail closed).
//!
//! Each line carries the SHA-256 of the line before it, so a changed, inserted or removed line is
//! found by [`verify`], which names the first one. What a chain alone can't show is that lines were
//! cut off at the end: keep the head that `verify` prints elsewhere to be able to tell.

mod log;
mod record;
mod verify;

pub use log::{AuditError, AuditLog};
pub(crate) use record::CallFacts;
pub use record::{AuditEvent, AuditRecord};
pub use verify::{AuditProblem, AuditSummary, verify};
