//! Checking a trail.

use std::io::{self, BufRead, Read};

use super::record::{GENESIS, Line, hash_of};

/// The longest line that is read, in bytes: far above what a record takes, so that a file that is no
/// trail is refused and not read on.
const MAX_LINE: u64 = 1024 * 1024;

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
        let read = trail.by_ref().take(MAX_LINE).read_line(&mut text);
        let bytes = read.map_err(|source| AuditProblem::Read { line, source })?;
        if bytes == 0 {
            return Ok(summary);
        }
        if bytes as u64 == MAX_LINE {
            let reason = format!("it has {MAX_LINE} bytes or more");
            return Err(AuditProblem::NotARecord { line, reason });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_not_read_on() {
        let problem = verify(io::BufReader::new(io::repeat(b'x'))).unwrap_err();
        assert_eq!(problem.line(), 1);
        assert!(problem.to_string().contains("1048576 bytes or more"), "{problem}");
    }
}
