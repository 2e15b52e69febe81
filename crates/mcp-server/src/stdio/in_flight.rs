//! The requests of a connection that are not answered yet, and what its client is asked.

use std::collections::{HashMap, HashSet, VecDeque};

use rmcp::model::{ProgressToken, RequestId};

use crate::intake::Refusal;

/// How many requests may wait for their answer to be written.
const MAX_IN_FLIGHT: usize = 256;
/// How many ids of cancelled requests are remembered, so that none of them is taken again.
const MAX_CANCELLED: usize = 1024;

/// The requests that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    requests: HashMap<RequestId, Option<ProgressToken>>,
    /// What the client is asked and has not answered.
    asked: HashSet<RequestId>,
    cancelled: VecDeque<RequestId>,
}

impl InFlight {
    /// Takes a request, or says why not.
    pub(super) fn begin(
        &mut self,
        id: &RequestId,
        token: Option<ProgressToken>,
    ) -> Result<(), Refusal> {
        if self.requests.contains_key(id) || self.cancelled.contains(id) {
            let text = format!("the id {} is in use", id.clone().into_json_value());
            return Err(Refusal::without_id(-32600, tool_core::clip(&text, 200)));
        }
        if self.requests.len() >= MAX_IN_FLIGHT {
            let text = format!("more than {MAX_IN_FLIGHT} requests at once");
            return Err(Refusal::of_request(id.clone(), text));
        }
        self.requests.insert(id.clone(), token);
        Ok(())
    }

    /// From here on no progress of the request is sent; its id is in use until [`Self::end`].
    pub(super) fn answer(&mut self, id: &RequestId) {
        if let Some(token) = self.requests.get_mut(id) {
            *token = None;
        }
    }

    /// The answer is written.
    pub(super) fn end(&mut self, id: &RequestId) {
        self.requests.remove(id);
    }

    /// The client wants no answer any more.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        if self.requests.remove(id).is_some() {
            if self.cancelled.len() == MAX_CANCELLED {
                self.cancelled.pop_front();
            }
            self.cancelled.push_back(id.clone());
        }
    }

    /// The client is asked something.
    pub(super) fn ask(&mut self, id: RequestId) {
        self.asked.insert(id);
    }

    /// Whether this is the first answer to something that the client is asked.
    pub(super) fn was_asked(&mut self, id: &RequestId) -> bool {
        self.asked.remove(id)
    }

    /// Whether a token belongs to a request that is not answered yet.
    pub(super) fn is_watched(&self, token: &ProgressToken) -> bool {
        self.requests.values().any(|known| known.as_ref() == Some(token))
    }
}
