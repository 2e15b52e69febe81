//! How a client can be asked, and the question and its answer as the protocol has them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use rmcp::{
    RoleServer,
    model::{
        BooleanSchema, CallToolRequestParams, ClientCapabilities, ElicitRequest,
        ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
        InputRequiredResult, PrimitiveSchemaDefinition, ProtocolVersion,
    },
    service::{Peer, RequestContext},
};
use sandbox::{Approval, ApprovalRequest};
use tool_core::clip;

use super::{Desk, said, tickets::Digest};

/// The key of the one question that there is.
const APPROVAL: &str = "approval";
/// The field that saves the person the same question.
const ALWAYS: &str = "always";
/// How much of the arguments is shown, in bytes.
const MAX_SHOWN: usize = 16 * 1024;

/// How a client can be asked.
pub(crate) enum Way {
    /// By a request, for which the call waits.
    Request(Peer<RoleServer>),
    /// By the answer to the call; with what was said when it was asked before.
    Round(Option<(Digest, Approval)>),
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request(_) => "Request",
            Self::Round(_) => "Round",
        })
    }
}

/// What a client brought is no answer to a question of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswerable {
    #[error("requestState is none that this server gave, or it was used, or it is too old")]
    State,
    #[error("inputResponses.{APPROVAL} is no answer to an elicitation")]
    Response,
}

impl Way {
    /// How the client of this request can be asked; none where it can't.
    pub(crate) fn of(
        desk: &Arc<Desk>,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Self>, Unanswerable> {
        let is_stateless = is_stateless(context);
        let can_ask = match context.peer.peer_info() {
            Some(info) if !is_stateless => can_ask(&info.capabilities),
            _ => context.client_capabilities().as_ref().is_some_and(can_ask),
        };
        if !is_stateless {
            return Ok(can_ask.then(|| Self::Request(context.peer.clone())));
        }
        let response = request.input_responses.as_ref().and_then(|all| all.get(APPROVAL));
        let response = response.map(said).transpose()?;
        let ticket = match &request.request_state {
            None => None,
            Some(state) => Some(desk.redeem(state).ok_or(Unanswerable::State)?),
        };
        Ok(can_ask.then(|| Self::Round(ticket.zip(response))))
    }
}

/// Whether the request is of a revision without sessions.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Whether a person can be shown a form. A client that names no kind shows forms.
fn can_ask(capabilities: &ClientCapabilities) -> bool {
    let elicitation = capabilities.elicitation.as_ref();
    elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
}

/// The question.
pub(super) fn elicitation(request: &ApprovalRequest<'_>) -> ElicitRequest {
    let always = BooleanSchema::new()
        .title("Always")
        .description("Do not ask again for this same call.")
        .with_default(false);
    let fields = BTreeMap::from([(ALWAYS.to_owned(), PrimitiveSchemaDefinition::Boolean(always))]);
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(request),
        requested_schema: ElicitationSchema::new(fields),
    })
}

fn message(request: &ApprovalRequest<'_>) -> String {
    let arguments = serde_json::to_string(request.args.as_object()).unwrap_or_default();
    let shown = clip(&arguments, MAX_SHOWN);
    let rest = match arguments.len() - shown.len() {
        0 => String::new(),
        bytes => format!(" … and {bytes} bytes more"),
    };
    format!(
        "The model asks for {}: {}{rest}. Allow it?",
        visible(request.capability),
        visible(shown)
    )
}

/// Without characters that hide or turn what a person reads.
fn visible(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let is_hidden = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if is_hidden {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// The question as the answer to a call.
pub(super) fn input_required(request: ElicitRequest, ticket: String) -> InputRequiredResult {
    let requests = BTreeMap::from([(APPROVAL.to_owned(), InputRequest::Elicitation(request))]);
    InputRequiredResult::new(Some(requests), Some(ticket))
}

/// What a person said.
pub(super) fn approval(result: &ElicitResult) -> Approval {
    let always = result.content.as_ref().and_then(|content| content.get(ALWAYS));
    match result.action {
        ElicitationAction::Accept if always == Some(&true.into()) => Approval::YesForTheSame,
        ElicitationAction::Accept => Approval::Yes,
        _ => Approval::No,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_accepting_is_a_yes() {
        let cases = [
            (json!({"action": "accept"}), Ok(Approval::Yes)),
            (json!({"action": "accept", "content": {"always": false}}), Ok(Approval::Yes)),
            (json!({"action": "accept", "content": {"always": true}}), Ok(Approval::YesForTheSame)),
            (json!({"action": "decline", "content": {"always": true}}), Ok(Approval::No)),
            (json!({"action": "cancel"}), Ok(Approval::No)),
            (json!({"action": "maybe"}), Err(Unanswerable::Response)),
            (json!({"content": {}}), Err(Unanswerable::Response)),
            (json!(12345), Err(Unanswerable::Response)),
        ];
        for (response, expected) in cases {
            assert_eq!(said(&response), expected, "{response}");
        }
    }

    #[test]
    fn who_shows_forms_can_be_asked() {
        let capabilities = [
            (json!({}), false),
            (json!({"elicitation": {}}), true),
            (json!({"elicitation": {"form": {}}}), true),
            (json!({"elicitation": {"form": {}, "url": {}}}), true),
            (json!({"elicitation": {"url": {}}}), false),
        ];
        for (capabilities, expected) in capabilities {
            let read: ClientCapabilities = serde_json::from_value(capabilities.clone()).unwrap();
            assert_eq!(can_ask(&read), expected, "{capabilities}");
        }
    }

    #[test]
    fn nothing_hides_in_a_question() {
        assert_eq!(visible("a\u{202e}b\u{1b}c"), "a\\u{202e}b\\u{1b}c");
    }
}
