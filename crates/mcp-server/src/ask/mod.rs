//! The person behind a client, who is asked before the calls that the operator wants confirmed.
//!
//! A client of a revision with sessions is asked by a request of the server, and the call waits. One of
//! a newer revision can't be asked: the call is answered with the question (`input_required`) and a
//! ticket, and the client repeats it with both. A ticket counts once, for this same call, for some
//! minutes; whoever shows another one is refused. Accepting is a yes, everything else a no.
//!
//! Nobody is asked who has not said that a person can be (the `elicitation` capability).

mod tickets;
mod way;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{ClientResult, ElicitRequest, ElicitResult, InputRequiredResult, ServerRequest},
    service::{Peer, PeerRequestOptions},
};
use sandbox::{Approval, ApprovalRequest, Approver};
use tool_core::{BoxFuture, CallId};

pub(crate) use self::way::{Unanswerable, Way, is_stateless};
use self::{
    tickets::{Digest, Tickets},
    way::approval,
};

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The calls of one connection whose client can be asked.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    calls: Mutex<HashMap<CallId, Arc<Asked>>>,
    tickets: Tickets,
}

/// One of them, and the question that it is answered with.
#[derive(Debug)]
struct Asked {
    way: Way,
    question: Mutex<Option<InputRequiredResult>>,
}

/// A call whose client can be asked until this is dropped.
#[derive(Debug)]
pub(crate) struct Asking {
    desk: Arc<Desk>,
    call: CallId,
    asked: Arc<Asked>,
}

impl Desk {
    /// Says how the client of a call can be asked.
    pub(crate) fn open(self: &Arc<Self>, call: CallId, way: Way) -> Asking {
        let asked = Arc::new(Asked { way, question: Mutex::default() });
        self.calls().insert(call.clone(), Arc::clone(&asked));
        Asking { desk: Arc::clone(self), call, asked }
    }

    /// Takes a ticket that a client showed, where it is one.
    pub(crate) fn redeem(&self, ticket: &str) -> Option<Digest> {
        self.tickets.redeem(ticket)
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<CallId, Arc<Asked>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The question for a client that repeats its call.
    fn question(&self, digest: Digest, request: ElicitRequest) -> Option<InputRequiredResult> {
        let ticket = self.tickets.issue(digest).inspect_err(|error| {
            tracing::error!(%error, "a person can't be asked: no ticket can be made");
        });
        Some(way::input_required(request, ticket.ok()?))
    }
}

impl Asking {
    /// The question that the call is to be answered with, where there is one.
    pub(crate) fn question(&self) -> Option<InputRequiredResult> {
        self.asked.question.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.desk.calls().remove(&self.call);
    }
}

impl Approver for Desk {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        let Some(asked) = self.calls().get(request.call_id).map(Arc::clone) else {
            return Box::pin(async { Approval::Nobody });
        };
        let digest = tickets::digest(request.capability, request.args);
        Box::pin(async move {
            match &asked.way {
                Way::Request(peer) => now(peer, way::elicitation(&request)).await,
                Way::Round(Some((ticket, said))) if *ticket == digest => *said,
                Way::Round(_) => {
                    let question = self.question(digest, way::elicitation(&request));
                    *asked.question.lock().unwrap_or_else(PoisonError::into_inner) = question;
                    // Not now: the question itself is the answer of this call.
                    Approval::Nobody
                }
            }
        })
    }
}

async fn now(peer: &Peer<RoleServer>, request: ElicitRequest) -> Approval {
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(PATIENCE);
    let sent = peer.send_request_with_option(ServerRequest::ElicitRequest(request), options).await;
    let answer: Result<ClientResult, _> = match sent {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(ClientResult::ElicitResult(result)) => approval(&result),
        Ok(_) => Approval::No,
        Err(error) => {
            tracing::warn!(%error, "the client did not ask its person");
            Approval::Nobody
        }
    }
}

/// What a client brought for an earlier question.
fn said(response: &serde_json::Value) -> Result<Approval, Unanswerable> {
    let result: ElicitResult =
        serde_json::from_value(response.clone()).map_err(|_| Unanswerable::Response)?;
    Ok(approval(&result))
}
