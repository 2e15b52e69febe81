//! What the agents of earlier hosts have used: a restart gives nothing back.
//!
//! Agents that were started within the last day with the same state folder count, with the time that
//! they took, the tokens that they said, and the bytes that were kept. When an agent ended whose host was
//! killed nobody knows, so it counts until it was missed, and at most for the time that it had; a chain
//! that can't say its tokens counts with all that it had; bytes are then those of the file. Agents of
//! another host that still works count in the same way.

use std::time::Duration;

use crate::{
    AgentRecord,
    record::{Store, output_path},
};

/// How long an earlier agent counts: a day.
const WITHIN_MS: u64 = 24 * 60 * 60 * 1000;

/// What was used of the bounds before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) total: u64,
    pub(crate) time: Duration,
    pub(crate) tokens: u64,
    pub(crate) output: u64,
}

impl Earlier {
    /// Adds up what is known of earlier agents.
    pub(super) fn of(records: &[AgentRecord], store: &Store, now_ms: u64) -> Self {
        let since = now_ms.saturating_sub(WITHIN_MS);
        let mut all = Self::default();
        for record in records.iter().filter(|record| record.started_ms > since) {
            all.total += 1;
            all.time = all.time.saturating_add(time(record, now_ms));
            let tokens = record.tokens.or(record.max_tokens).unwrap_or(0);
            all.tokens = all.tokens.saturating_add(tokens);
            all.output = all.output.saturating_add(kept(record, store));
        }
        all
    }
}

/// How long an agent has worked, as far as it can be known.
fn time(record: &AgentRecord, now_ms: u64) -> Duration {
    let until = record.ended_ms.unwrap_or(now_ms);
    Duration::from_millis(until.saturating_sub(record.started_ms).min(record.timeout_ms))
}

/// How many bytes its file holds.
fn kept(record: &AgentRecord, store: &Store) -> u64 {
    let file = || output_path(store.folder(), record.id).metadata().map(|file| file.len());
    record.kept_bytes.unwrap_or_else(|| file().unwrap_or(0))
}
