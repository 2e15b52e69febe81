//! Chat completions as whole bodies.

use model::{ChatReply, Dialect, FinishReason, ModelError, Usage};
use serde_json::{Value, json};
use testkit::Step;

use crate::support::{calls, completion, reply_to, triples};

async fn read(body: &Value) -> Result<ChatReply, ModelError> {
    reply_to(Dialect::OpenAi, false, Step::json(body)).await.0
}

async fn read_message(message: Value, finish: &str) -> ChatReply {
    read(&completion(message, finish)).await.unwrap()
}

#[tokio::test]
async fn a_text_with_its_counts() {
    let reply = read_message(json!({"content": "hello"}), "stop").await;
    assert_eq!(reply.text, "hello");
    assert_eq!(reply.finish, FinishReason::Stop);
    assert_eq!(reply.usage, Some(Usage { input_tokens: 11, output_tokens: 7 }));
    assert_eq!((reply.reasoning, reply.opaque), (None, None));
}

#[tokio::test]
async fn several_calls_with_double_and_missing_ids_and_malformed_arguments() {
    let function = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let reply = read_message(
        json!({"content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": function("list", json!("{\"path\": \".\"}"))},
            {"id": "c1", "type": "function", "function": function("list", json!("{\"path\": "))},
            {"function": function("file_read", json!({"path": "a", "n": 1.0}))},
            {"id": null, "function": function("made.up", json!(null))},
            {"id": 5, "function": {"name": "list"}},
        ]}),
        "tool_calls",
    )
    .await;
    assert_eq!(
        calls(&reply),
        triples(&[
            ("c1", "list", "{\"path\": \".\"}"),
            ("c1", "list", "{\"path\": "),
            // A wire name leads back to the tool's own; arguments as an object keep their text.
            ("", "file.read", "{\"n\":1.0,\"path\":\"a\"}"),
            ("", "made.up", ""),
            ("5", "list", ""),
        ])
    );
    assert_eq!(reply.finish, FinishReason::ToolCalls);
}

#[tokio::test]
async fn arguments_as_an_object_are_kept_to_the_letter() {
    let body = r#"{"choices": [{"message": {"tool_calls": [{"function": {"name": "list",
        "arguments": {"a": 1e2,  "a": 123456789012345678901}}}]}, "finish_reason": "tool_calls"}]}"#;
    let step = Step::body("application/json", body);
    let reply = reply_to(Dialect::OpenAi, false, step).await.0.unwrap();
    assert_eq!(calls(&reply)[0].2, r#"{"a": 1e2,  "a": 123456789012345678901}"#);
    assert_eq!(reply.usage, None);
}

#[tokio::test]
async fn a_lone_surrogate_costs_one_call_and_not_the_reply() {
    let body = r#"{"choices": [{"message": {"tool_calls": [
        {"function": {"name": "list", "arguments": "{\"a\": \"\ud800\"}"}},
        {"function": {"name": "list", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]}"#;
    let step = Step::body("application/json", body);
    let reply = reply_to(Dialect::OpenAi, false, step).await.0.unwrap();
    assert_eq!(calls(&reply)[0].2, r#""{\"a\": \"\ud800\"}""#);
    assert_eq!(calls(&reply)[1].2, "{}");
}

#[tokio::test]
async fn a_call_cut_off_at_the_ceiling_is_not_taken_as_whole() {
    let call =
        json!({"tool_calls": [{"function": {"name": "list", "arguments": "{\"path\": \"lo"}}]});
    for said in ["tool_calls", "stop", "length"] {
        let reply = read_message(call.clone(), said).await;
        assert_eq!(reply.finish, FinishReason::Length, "{said}");
        assert_eq!(calls(&reply)[0].2, "{\"path\": \"lo");
    }
}

#[tokio::test]
async fn content_comes_in_many_forms() {
    let check = async |message: Value, text: &str| {
        assert_eq!(read_message(message.clone(), "stop").await.text, text, "{message}");
    };
    check(json!({"content": null}), "").await;
    check(json!({}), "").await;
    let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]);
    check(json!({"content": parts}), "ab").await;
}

#[tokio::test]
async fn refusals_reasons_and_reasoning_are_kept() {
    let refusal = read_message(json!({"content": null, "refusal": "I won't."}), "stop").await;
    assert_eq!((refusal.text.as_str(), refusal.finish), ("I won't.", FinishReason::ContentFilter));
    for field in ["reasoning_content", "reasoning"] {
        let reply = read_message(json!({"content": "4", field: "2 + 2"}), "stop").await;
        assert_eq!(reply.reasoning.as_deref(), Some("2 + 2"), "{field}");
    }
    for (said, expected) in [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("eos", FinishReason::Other("eos".into())),
    ] {
        assert_eq!(read_message(json!({"content": "x"}), said).await.finish, expected);
    }
}

#[tokio::test]
async fn what_is_no_reply_is_an_error_that_says_why() {
    let check = async |body: Value, expected: &str| match read(&body).await {
        Err(ModelError::Protocol { message, .. }) => {
            assert!(message.contains(expected), "{body}: {message}");
        }
        other => panic!("{body}: {other:?}"),
    };
    check(json!({}), "no choices").await;
    check(json!({"choices": []}), "no choices").await;
    check(json!({"choices": [{}]}), "no message").await;
    check(json!([1]), "can't be read").await;
    check(completion(json!({"content": 5}), "stop"), "neither a text").await;
    check(completion(json!({"tool_calls": "x"}), "stop"), "can't be read").await;
    check(json!({"error": {"message": "no such model"}}), "no such model").await;
    let status = read(&json!({"error": {"message": "busy", "code": 429}})).await.unwrap_err();
    assert!(matches!(status, ModelError::Status { status: 429, .. }), "{status:?}");
}

#[tokio::test]
async fn bodies_that_are_no_json_are_errors() {
    for step in [
        Step::body("text/html", "<h1>It works!</h1>"),
        Step::body("application/json", ""),
        Step::body("application/json", "{\"choices\": [{\"mess"),
        Step::body("application/json", vec![b'{', 0xff, b'}']),
    ] {
        let error = reply_to(Dialect::OpenAi, false, step).await.0.unwrap_err();
        assert!(matches!(error, ModelError::Protocol { .. }), "{error:?}");
    }
}
