//! What a command did to the working directory, where that may be written: for the result, for an
//! error, and for the log.
//!
//! What the host would run later is logged always, because a call that was given up has no result of
//! its own.

use confine::{ChangeReport, Child, ConfinementReport};
use serde_json::Value;
use tool_core::ToolName;

/// How many paths each list of a result has at most.
const MAX_LISTED: usize = 50;
/// How many an error or a line of the log has.
const MAX_TOLD: usize = 8;

/// What became of the directory; nothing where it is what it was.
pub(super) struct Changed {
    report: Option<ChangeReport>,
}

impl Changed {
    /// Looks at it.
    pub(super) fn by(tool: &ToolName, child: &Child) -> Self {
        let report = child.changes().filter(|report| !report.is_empty());
        let changed = Self { report };
        if let Some(paths) = changed.executable() {
            tracing::warn!("{tool} made or changed what this machine may run later: {paths}");
        }
        changed
    }

    /// The part of a result that says what was enforced, with the changes.
    pub(super) fn with(&self, enforced: &ConfinementReport) -> Option<Value> {
        let mut all = serde_json::to_value(enforced).ok()?;
        if let (Value::Object(all), Some(report)) = (&mut all, &self.report) {
            let summary = serde_json::to_value(report.summary(MAX_LISTED)).ok()?;
            all.insert("changes".to_owned(), summary);
        }
        Some(all)
    }

    /// The words of an error, with what the machine may run later.
    pub(super) fn told(&self, words: String) -> String {
        match self.executable() {
            Some(paths) => {
                format!("{words}\nIt made or changed what the machine may run later: {paths}")
            }
            None => words,
        }
    }

    /// The gravest findings in one line; control characters are escaped.
    fn executable(&self) -> Option<String> {
        let findings = &self.report.as_ref()?.executable_configuration;
        let first = findings.iter().take(MAX_TOLD);
        let mut text = first.map(|one| format!("{:?}", one.path)).collect::<Vec<_>>().join(", ");
        if findings.len() > MAX_TOLD {
            text.push_str(&format!(" and {} more", findings.len() - MAX_TOLD));
        }
        (!text.is_empty()).then_some(text)
    }
}
