//! Reading an agent: what it wrote since an offset, and whether more can come.

use std::{io, time::Duration};

use super::{Agent, joined};
use crate::{AgentRecord, AgentResult, Output, OutputStream, record::parse};

/// How much of standard output is looked at for a result.
const MAX_RESULT: usize = 4 << 20;

/// What is to be read of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collect {
    /// From which offset; without one, the beginning and the end of all that is there.
    pub since: Option<u64>,
    /// How long to wait for something new.
    pub wait: Duration,
    /// The most bytes.
    pub max: usize,
}

impl Default for Collect {
    /// All that is there, at most 1 MiB of it, at once.
    fn default() -> Self {
        Self { since: None, wait: Duration::ZERO, max: 1 << 20 }
    }
}

/// What was read of an agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Collected {
    /// What is known of it.
    pub record: AgentRecord,
    /// What it wrote; [`Output::next`] is the offset for the next read.
    pub output: Output,
    /// No more can come: it has ended, and everything up to its last byte was read.
    pub is_done: bool,
    /// Its answer, where it prints one that can be read, and has ended.
    pub result: Option<AgentResult>,
}

impl Agent {
    /// Reads, after waiting for news no longer than is asked for.
    pub(crate) async fn collect(&self, ask: Collect) -> io::Result<Collected> {
        let mut progress = self.progress.subscribe();
        let since = ask.since.unwrap_or(0);
        if !ask.wait.is_zero() {
            let news = progress.wait_for(|now| now.is_over || now.kept > since);
            // No news in time is an answer as well.
            let _ = tokio::time::timeout(ask.wait, news).await;
        }
        // Before the file is read: what comes after is news for the next time.
        let is_over = progress.borrow().is_over;
        let record = self.status();
        let (path, provider) = (self.output.clone(), self.provider.clone());
        let read = move || -> io::Result<_> {
            let output = match ask.since {
                Some(since) => Output::read(&path, since, ask.max)?,
                None => Output::read_ends(&path, ask.max)?,
            };
            let length = Output::length(&path)?;
            let is_end = is_over && output.next >= length;
            let output = if is_end { output } else { output.without_cut_end() };
            let result = match provider {
                Some(provider) if is_over && !provider.output.is_empty() => {
                    let text = Output::read_stream(&path, OutputStream::Stdout, MAX_RESULT)?;
                    parse(&provider.output, &text)
                }
                _ => None,
            };
            Ok((output, is_end, result))
        };
        let read = joined(tokio::task::spawn_blocking(read).await)?;
        let (output, is_done, result) = match read {
            // An agent that was lost before it wrote anything, or whose file was deleted.
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_over => {
                (Output::default(), true, None)
            }
            read => read?,
        };
        Ok(Collected { record, output, is_done, result })
    }
}
