//! A change report within a bound, as it goes into a result.

use serde::Serialize;

use super::{ChangeReport, Finding};
use crate::{Change, FileKind};

/// A change report whose lists have a bound. Paths that are not UTF-8 are shown with U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangeSummary {
    /// What was not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<ChangedPath>,
    /// What is not what it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedPath>,
    /// What is no longer there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<ChangedPath>,
    /// What was created or changed and would be obeyed or run; the gravest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executable_configuration: Vec<ToldFinding>,
    /// How many of all lists together are not shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Whether everything was looked at; if not, there may be more.
    pub complete: bool,
}

/// One path that differs, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangedPath {
    /// Where.
    pub path: String,
    /// What is there, if it is no ordinary file.
    #[serde(skip_serializing_if = "is_file")]
    pub kind: FileKind,
    /// Its size in bytes, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How many names it has, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
}

/// One finding, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToldFinding {
    /// Where.
    pub path: String,
    /// What it is, and why it matters.
    pub why: String,
}

impl ChangeSummary {
    /// Cuts each list.
    pub(super) fn of(report: &ChangeReport, most: usize) -> Self {
        let changes = &report.changes;
        let mut left_out = 0;
        let mut cut = |list: &[Change]| {
            // What is in object stores says least.
            let (objects, others): (Vec<_>, Vec<_>) = list.iter().partition(|one| one.is_object);
            let all: Vec<&Change> = others.into_iter().chain(objects).collect();
            left_out += all.len().saturating_sub(most);
            all.into_iter().take(most).map(ChangedPath::of).collect()
        };
        let (created, changed) = (cut(&changes.created), cut(&changes.changed));
        let deleted = cut(&changes.deleted);
        let findings = &report.executable_configuration;
        Self {
            created,
            changed,
            deleted,
            executable_configuration: findings.iter().take(most).map(ToldFinding::of).collect(),
            left_out: left_out + findings.len().saturating_sub(most),
            complete: changes.complete,
        }
    }
}

impl ChangedPath {
    fn of(change: &Change) -> Self {
        let is_ordinary = change.kind == FileKind::File;
        Self {
            path: change.path.display().to_string(),
            kind: change.kind,
            size: is_ordinary.then_some(change.size),
            links: (is_ordinary && change.links > 1).then_some(change.links),
        }
    }
}

impl ToldFinding {
    fn of(finding: &Finding) -> Self {
        Self {
            path: finding.path.display().to_string(),
            why: format!("{}: {}", finding.reason, finding.why),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_file(kind: &FileKind) -> bool {
    *kind == FileKind::File
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
