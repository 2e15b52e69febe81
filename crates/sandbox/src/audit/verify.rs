//! Checking a trail.

use std::io::{self, BufRead};

use super::record::{GENESIS, Line, hash_of};

/// A whole trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSummary {
    /// How many lines it has.
    pub lines: u64,
    /// SHA-256 of the last line; zeros for an empty trail.
    pub head: String,
}

/// The first thing that is wrong in a trail.
#[derive(Debug, thiserror::Error)]
pub enum AuditProblem {
    /// It can't be read.
    #[error("line {line} can't be read")]
    Read {
        /// Counts from 1.
        line: u64,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line is no record.
    #[error("line {line} is no audit record: {reason}")]
    NotARecord {
        /// Counts from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A line does not follow the one before: one of the two was changed, or something between them
    /// was removed or inserted.
    #[error("line {line} does not follow the line before it: {reason}")]
    Chain {
        /// Counts from 1.
        line: u64,
        /// Which link is broken.
        reason: &'static str,
    },
    /// The last line has no end: a write was cut off.
    #[error("line {line} is not complete: it has no line break")]
    Incomplete {
        /// Counts from 1.
        line: u64,
    },
}

impl AuditProblem {
    /// The line it is about, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        match self {
            Self::Read { line, .. }
            | Self::NotARecord { line, .. }
            | Self::Chain { line, .. }
            | Self::Incomplete { line } => *line,
        }
    }
}

/// Checks a trail from its beginning to its end.
///
/// # Errors
/// The first line that is broken.
pub fn verify(mut trail: impl BufRead) -> Result<AuditSummary, AuditProblem> {
    let mut summary = AuditSummary { lines: 0, head: GENESIS.to_owned() };
    let mut text = String::new();
    loop {
        let line = summary.lines + 1;
        text.clear();
        let bytes =
            trail.read_line(&mut text).map_err(|source| AuditProblem::Read { line, source })?;
        if bytes == 0 {
            return Ok(summary);
        }
        let Some(text) = text.strip_suffix('\n') else {
            return Err(AuditProblem::Incomplete { line });
        };
        check(line, text, &summary.head)?;
        summary = AuditSummary { lines: line, head: hash_of(text) };
    }
}

fn check(line: u64, text: &str, prev: &str) -> Result<(), AuditProblem> {
    let record: Line = serde_json::from_str(text)
        .map_err(|error| AuditProblem::NotARecord { line, reason: error.to_string() })?;
    if record.prev != prev {
        return Err(AuditProblem::Chain { line, reason: "the hash is of another line" });
    }
    if record.seq != line {
        return Err(AuditProblem::Chain { line, reason: "the sequence number is another" });
    }
    Ok(())
}
