//! What a client sends, read before the protocol library sees it.
//!
//! The library keeps the last of duplicate keys, takes arguments only as an object, and drops what it
//! can't read. Here everything is answered: a text that is no JSON with -32700, JSON that is no message
//! with -32600. The arguments of a tool call are taken out as the text that came and travel beside the
//! message, so that the sandbox reads them itself, strictly.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, GetExtensions,
    GetMeta, RequestId, RequestMetaObject,
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};
use tool_core::{clip, parse_strict};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// The arguments of a call as they came; none where there were none.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallArguments(pub(crate) Option<String>);

/// A text that is not passed on, and its answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    id: Option<RequestId>,
    code: i32,
    message: String,
}

impl Refusal {
    /// The answer to a text that is longer than what is read.
    pub(crate) fn too_long(max: usize) -> Self {
        Self::without_id(INVALID_REQUEST, format!("a message may have at most {max} bytes"))
    }

    /// The answer to a request that is one too many, or one whose id is in use.
    pub(crate) fn of_request(id: RequestId, message: impl Into<String>) -> Self {
        Self { id: Some(id), code: INVALID_REQUEST, message: message.into() }
    }

    pub(crate) fn without_id(code: i32, message: impl Into<String>) -> Self {
        Self { id: None, code, message: message.into() }
    }

    /// The answer as a JSON-RPC message.
    pub(crate) fn to_json(&self) -> String {
        let id = self.id.clone().map_or(Value::Null, RequestId::into_json_value);
        let error = json!({ "code": self.code, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "inputResponses", deserialize_with = "present")]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestState", deserialize_with = "present")]
    request_state: Option<&'a RawValue>,
}

/// A value that is there, `null` too.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// A tool call without its arguments, and those.
struct Call<'a> {
    id: RequestId,
    name: Cow<'a, str>,
    meta: Option<Value>,
    /// What the client's person said, and the ticket that it is for.
    input_responses: Option<Map<String, Value>>,
    request_state: Option<String>,
    arguments: CallArguments,
}

enum Read<'a> {
    Call(Call<'a>),
    /// Anything else, to be read by the library; the id where it is a request.
    Other(Value, Option<RequestId>),
}

/// Reads one message. The arguments of a call are in the extensions of the request.
pub(crate) fn message(bytes: &[u8]) -> Result<ClientJsonRpcMessage, Refusal> {
    match read(bytes)? {
        Read::Other(value, id) => serde_json::from_value(value).map_err(|_| Refusal {
            id,
            code: INVALID_REQUEST,
            message: "this is no message that a client may send".to_owned(),
        }),
        Read::Call(call) => {
            let mut params = CallToolRequestParams::new(call.name.into_owned());
            params.input_responses = call.input_responses.map(|all| all.into_iter().collect());
            params.request_state = call.request_state;
            let mut request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            if let Some(meta) = call.meta {
                let meta: RequestMetaObject = serde_json::from_value(meta).map_err(|error| {
                    let message = format!("_meta can't be read: {error}");
                    Refusal { id: Some(call.id.clone()), code: INVALID_PARAMS, message }
                })?;
                *request.get_meta_mut() = meta;
            }
            request.extensions_mut().insert(call.arguments);
            Ok(ClientJsonRpcMessage::request(request, call.id))
        }
    }
}

/// Reads one message, and gives it as the library is to read it; a call without its arguments.
pub(crate) fn body(bytes: &[u8]) -> Result<(Vec<u8>, CallArguments), Refusal> {
    match read(bytes)? {
        Read::Other(value, _) => Ok((value.to_string().into_bytes(), CallArguments::default())),
        Read::Call(call) => {
            let mut params = json!({ "name": call.name });
            if let Some(meta) = call.meta {
                params["_meta"] = meta;
            }
            if let Some(responses) = call.input_responses {
                params["inputResponses"] = responses.into();
            }
            if let Some(state) = call.request_state {
                params["requestState"] = state.into();
            }
            let id = call.id.into_json_value();
            let message =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            Ok((message.to_string().into_bytes(), call.arguments))
        }
    }
}

/// Whether it begins a session.
pub(crate) fn is_initialize(body: &[u8]) -> bool {
    serde_json::from_slice::<Envelope<'_>>(body)
        .is_ok_and(|message| message.method.as_deref() == Some("initialize"))
}

fn read(bytes: &[u8]) -> Result<Read<'_>, Refusal> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let message = format!("this is no UTF-8, from byte {}", error.valid_up_to());
        Refusal::without_id(PARSE_ERROR, message)
    })?;
    let envelope: Envelope<'_> =
        serde_json::from_str(text).map_err(|error| no_message(text, &error))?;
    let id = envelope.id.map(request_id).transpose()?;
    let refuse = |code, message: String| Refusal { id: id.clone(), code, message };
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(refuse(INVALID_REQUEST, "jsonrpc must be \"2.0\"".to_owned()));
    }
    if envelope.method.is_none() && envelope.result.is_none() && envelope.error.is_none() {
        return Err(refuse(INVALID_REQUEST, "a method is missing".to_owned()));
    }
    match (envelope.method.as_deref(), &id) {
        (Some("tools/call"), Some(id)) => call(id.clone(), envelope.params).map(Read::Call),
        _ => {
            let value = parse_strict(text)
                .map_err(|problem| refuse(INVALID_REQUEST, problem.to_string()))?;
            Ok(Read::Other(value, id))
        }
    }
}

fn request_id(id: &RawValue) -> Result<RequestId, Refusal> {
    serde_json::from_str(id.get())
        .map_err(|_| Refusal::without_id(INVALID_REQUEST, "an id must be a string or an integer"))
}

fn call(id: RequestId, params: Option<&RawValue>) -> Result<Call<'_>, Refusal> {
    let refuse = |message: String| Refusal { id: Some(id.clone()), code: INVALID_PARAMS, message };
    let Some(params) = params else {
        return Err(refuse("tools/call needs params with the name of a tool".to_owned()));
    };
    let params: CallParams<'_> = serde_json::from_str(params.get())
        .map_err(|error| refuse(format!("the params of tools/call can't be read: {error}")))?;
    let meta = object("_meta", params.meta.filter(|meta| meta.get() != "null")).map_err(refuse)?;
    let input_responses = object("inputResponses", params.input_responses).map_err(refuse)?;
    let request_state = params.request_state.map(|state| serde_json::from_str(state.get()));
    let request_state = request_state
        .transpose()
        .map_err(|_| refuse("requestState must be a string".to_owned()))?;
    let meta = meta.map(Value::Object);
    let arguments = CallArguments(params.arguments.map(|raw| raw.get().to_owned()));
    Ok(Call { id, name: params.name, meta, input_responses, request_state, arguments })
}

/// A field that must be an object where it is there, without duplicate keys.
fn object(name: &str, field: Option<&RawValue>) -> Result<Option<Map<String, Value>>, String> {
    let Some(field) = field else { return Ok(None) };
    match parse_strict(field.get()) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(format!("{name} must be an object")),
        Err(problem) => Err(format!("{name} can't be read: {problem}")),
    }
}

/// Why a text is no message.
fn no_message(text: &str, error: &serde_json::Error) -> Refusal {
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Refusal::without_id(PARSE_ERROR, format!("this is no JSON: {error}"));
    }
    let message = match text.trim_start().as_bytes().first() {
        Some(b'[') => "batches are not taken; send one message at a time".to_owned(),
        Some(b'{') => format!("this is no message: {}", clip(&error.to_string(), 200)),
        _ => "a message must be an object".to_owned(),
    };
    Refusal::without_id(INVALID_REQUEST, message)
}

#[cfg(test)]
mod tests {
    use rmcp::model::ClientJsonRpcMessage;

    use super::*;

    #[test]
    fn what_is_no_message_has_its_code_and_its_id() {
        let cases: [(&[u8], i32, &str); 15] = [
            (b"nonsense", PARSE_ERROR, "null"),
            (b"{", PARSE_ERROR, "null"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", PARSE_ERROR, "null"),
            (b"[]", INVALID_REQUEST, "null"),
            (b"5", INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, INVALID_REQUEST, "7"),
            (br#"{"jsonrpc":"2.0","id":"a"}"#, INVALID_REQUEST, "\"a\""),
            (br#"{"jsonrpc":"2.0","id":7,"method":5}"#, INVALID_REQUEST, "null"),
            (br#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, INVALID_PARAMS, "7"),
            (
                br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}"#,
                INVALID_PARAMS,
                "7",
            ),
            (
                br#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1,"a":2}}"#,
                INVALID_REQUEST,
                "7",
            ),
        ];
        for (text, code, id) in cases {
            let shown = String::from_utf8_lossy(text).into_owned();
            let refusal = message(text).expect_err(&shown);
            assert_eq!(refusal.code, code, "{shown}");
            let answer: Value = serde_json::from_str(&refusal.to_json()).unwrap();
            assert_eq!(answer["id"].to_string(), id, "{shown}");
        }
    }

    #[test]
    fn the_arguments_of_a_call_stay_the_text_they_were() {
        for arguments in [r#"{"a":1,"a":2}"#, r#""{}""#, "[1]", "null", "{ }", "1e999"] {
            let text = format!(
                r#"{{"method":"tools/call","params":{{"name":"t","arguments":{arguments},"_meta":{{"progressToken":0}}}},"jsonrpc":"2.0","id":0}}"#
            );
            let ClientJsonRpcMessage::Request(request) = message(text.as_bytes()).unwrap() else {
                panic!("{text}");
            };
            let raw = request.request.extensions().get::<CallArguments>().unwrap();
            assert_eq!(raw.0.as_deref(), Some(arguments));
            let token = request.request.get_meta().get_progress_token().unwrap();
            assert_eq!(token.0, RequestId::Number(0));

            let (rewritten, raw) = body(text.as_bytes()).unwrap();
            assert_eq!(raw.0.as_deref(), Some(arguments));
            let rewritten: Value = serde_json::from_slice(&rewritten).unwrap();
            assert_eq!(rewritten["params"], json!({"name": "t", "_meta": {"progressToken": 0}}));
        }
    }
}
