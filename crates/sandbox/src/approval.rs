//! A person between the gate and the tool.
//!
//! Capabilities on the ask list are shown to an [`Approver`] after stages 1 to 4, one at a time, and
//! run only on a yes. Where nobody can be asked the answer is no, at once: never a hang, never a yes.
//! The time a person takes does not count against the call's deadline.

use std::{collections::HashSet, fmt, sync::Arc};

use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use tool_core::{
    AdmittedCall, AuthorizationScope, BoxFuture, CallId, ToolError, UnauthorizedReason,
    ValidatedArgs,
};

/// What is asked.
#[derive(Debug)]
pub struct ApprovalRequest<'a> {
    /// The id of the call.
    pub call_id: &'a CallId,
    /// `tool` or `tool.op`.
    pub capability: &'a str,
    /// The arguments, as they would be executed.
    pub args: &'a ValidatedArgs,
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// This once.
    Yes,
    /// This time, and whenever the same capability is asked for with the same arguments.
    YesForTheSame,
    /// No.
    No,
    /// There is nobody to ask.
    Nobody,
}

/// Somebody who can be asked.
pub trait Approver: fmt::Debug + Send + Sync {
    /// Asks. Must answer [`Approval::Nobody`] at once where no person can be reached.
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval>;
}

/// Which capabilities need a yes, and who gives it.
#[derive(Debug)]
pub(crate) struct ApprovalDesk {
    ask: AuthorizationScope,
    approver: Arc<dyn Approver>,
    /// Digests of the calls that were allowed for good; the lock also keeps questions apart.
    allowed: Mutex<HashSet<[u8; 32]>>,
}

impl ApprovalDesk {
    pub(crate) fn new(ask: AuthorizationScope, approver: Arc<dyn Approver>) -> Self {
        Self { ask, approver, allowed: Mutex::default() }
    }

    /// Lets the call through, or says who said no.
    pub(crate) async fn check(&self, id: &CallId, call: &AdmittedCall) -> Result<(), ToolError> {
        let capability = call.capability();
        let tool = call.tool().spec().name().as_str();
        if !self.ask.is_authorized(&capability) && !self.ask.is_authorized(tool) {
            return Ok(());
        }
        let digest = digest(&capability, call.args());
        let mut allowed = self.allowed.lock().await;
        if allowed.contains(&digest) {
            return Ok(());
        }
        let request = ApprovalRequest { call_id: id, capability: &capability, args: call.args() };
        let reason = match self.approver.ask(request).await {
            Approval::Yes => return Ok(()),
            Approval::YesForTheSame => {
                allowed.insert(digest);
                return Ok(());
            }
            Approval::No => UnauthorizedReason::Denied,
            Approval::Nobody => UnauthorizedReason::NoApprover,
        };
        Err(ToolError::Unauthorized { capability, reason })
    }
}

/// Of the capability and the arguments with sorted keys, so that their order does not matter.
fn digest(capability: &str, args: &ValidatedArgs) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(capability.as_bytes());
    hash.update([0]);
    // The map of serde_json sorts its keys.
    hash.update(serde_json::Value::Object(args.as_object().clone()).to_string().as_bytes());
    hash.finalize().into()
}
