//! What a session leaves behind in the operator's directory: told at its end, and logged where this
//! machine may run it later, since a session that expires has nobody to tell.

use confine::{ChangeReport, Prepared, Watch};
use serde_json::Value;

/// How many paths each list of a report has at most.
const MAX_LISTED: usize = 50;
/// How many a line of the log has.
const MAX_LOGGED: usize = 8;

/// The operator's directory as it was when the session began.
#[derive(Debug)]
pub(super) struct Outlasting {
    watch: Watch,
}

impl Outlasting {
    /// Looks at it.
    pub(super) fn begin(prepared: &Prepared) -> Self {
        Self { watch: prepared.watch() }
    }

    /// What became of it; nothing where it is what it was.
    pub(super) fn report(&self) -> Option<Value> {
        let report = self.watch.report();
        if report.is_empty() {
            return None;
        }
        log(&report);
        serde_json::to_value(report.summary(MAX_LISTED)).ok()
    }
}

fn log(report: &ChangeReport) {
    let findings = &report.executable_configuration;
    if findings.is_empty() {
        return;
    }
    let first = findings.iter().take(MAX_LOGGED).map(|one| format!("{:?}", one.path));
    let paths = first.collect::<Vec<_>>().join(", ");
    let more = findings.len().saturating_sub(MAX_LOGGED);
    tracing::warn!(
        "a session made or changed what this machine may run later: {paths}; {more} more"
    );
}
