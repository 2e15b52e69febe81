//! What a model answered in an earlier run, so that it is not asked again.
//!
//! A reply is found by the digest of the whole request, so it is used only for exactly what it was the
//! answer to. A request that was made several times has its replies in their order.

use std::collections::{HashMap, VecDeque};

use model::{ChatRequest, Message, Usage};
use sha2::{Digest, Sha256};

use super::{QueryEvent, QueryRecord};

/// A reply of an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldReply {
    pub(super) text: String,
    pub(super) is_cut: bool,
    pub(super) usage: Usage,
}

/// Replies of an earlier run by the digests of their requests.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    replies: HashMap<String, VecDeque<OldReply>>,
}

impl Replay {
    /// The replies that these records hold. Sub-calls that failed are asked again.
    #[must_use]
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a QueryRecord>) -> Self {
        let mut replay = Self::default();
        for record in records {
            let (digest, text, is_cut, usage) = match &record.event {
                QueryEvent::Turn { digest, reply, is_cut, usage, is_replayed: false, .. } => {
                    (digest, reply, *is_cut, *usage)
                }
                QueryEvent::Call {
                    digest,
                    reply: Some(reply),
                    usage,
                    is_tool: false,
                    is_replayed: false,
                    ..
                } => (digest, reply, false, *usage),
                _ => continue,
            };
            // A reply that is not written down as it was can't be used again.
            if digest.is_empty() {
                continue;
            }
            let reply = OldReply { text: text.clone(), is_cut, usage };
            replay.replies.entry(digest.clone()).or_default().push_back(reply);
        }
        replay
    }

    /// How many replies there are left.
    #[must_use]
    pub fn count(&self) -> usize {
        self.replies.values().map(VecDeque::len).sum()
    }

    pub(super) fn take(&mut self, digest: &str) -> Option<OldReply> {
        self.replies.get_mut(digest)?.pop_front()
    }
}

/// A digest of what a model is asked.
pub(super) fn digest(model: &str, request: &ChatRequest) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    };
    add(model);
    for message in &request.messages {
        let (role, text) = match message {
            Message::System(text) => ("system", text),
            Message::User(text) => ("user", text),
            Message::Assistant(reply) => ("assistant", &reply.text),
            Message::Tool { content, .. } => ("tool", content),
        };
        add(role);
        add(text);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
