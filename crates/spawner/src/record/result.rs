//! The answer of a program that prints JSON, and what it says it took.

use serde::Serialize;
use serde_json::Value;

use crate::config::ResultShape;

/// What an agent gives, read from what it printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AgentResult {
    /// Its answer.
    pub text: String,
    /// Whether it says that it went wrong.
    pub is_error: bool,
    /// The tokens that it read and wrote, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What it cost, in US dollars, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The name under which its program can go on, where it gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Reads a result from standard output: one document, or one a line. Nothing where it holds no answer.
pub(crate) fn parse(shapes: &[ResultShape], output: &[u8]) -> Option<AgentResult> {
    if shapes.is_empty() {
        return None;
    }
    let mut result = AgentResult::default();
    let mut has_text = false;
    for document in documents(output) {
        for shape in shapes.iter().filter(|shape| fits(shape, &document)) {
            has_text |= take(&mut result, shape, &document);
        }
    }
    has_text.then_some(result)
}

fn documents(output: &[u8]) -> Vec<Value> {
    match serde_json::from_slice(output) {
        Ok(Value::Array(all)) => all,
        Ok(one) => vec![one],
        Err(_) => {
            let lines = output.split(|byte| *byte == b'\n');
            lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
        }
    }
}

fn fits(shape: &ResultShape, document: &Value) -> bool {
    shape.when.as_ref().is_none_or(|(place, text)| {
        document.pointer(place).and_then(Value::as_str) == Some(text.as_str())
    })
}

/// Takes what a shape names; says whether that was an answer.
fn take(result: &mut AgentResult, shape: &ResultShape, document: &Value) -> bool {
    let at = |place: &Option<String>| document.pointer(place.as_deref()?);
    let places = shape.input_tokens.iter().chain(&shape.output_tokens);
    for tokens in places.filter_map(|place| sum(document, place)) {
        result.tokens = Some(result.tokens.unwrap_or(0).saturating_add(tokens));
    }
    if let Some(cost) = at(&shape.cost_usd).and_then(Value::as_f64) {
        result.cost_usd = Some(result.cost_usd.unwrap_or(0.0) + cost);
    }
    if let Some(session) = at(&shape.session).and_then(Value::as_str) {
        result.session = Some(session.to_owned());
    }
    result.is_error |= at(&shape.is_error).and_then(Value::as_bool).unwrap_or(false);
    match at(&shape.text).and_then(Value::as_str) {
        Some(text) => {
            text.clone_into(&mut result.text);
            true
        }
        None => false,
    }
}

/// The number at a place, or the sum of the numbers where a part of it is `*`; nothing where none is.
fn sum(document: &Value, place: &str) -> Option<u64> {
    let Some((before, behind)) = place.split_once("/*") else {
        return document.pointer(place)?.as_u64();
    };
    let members = document.pointer(before)?.as_object()?.values();
    members.filter_map(|member| sum(member, behind)).reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::presets;

    fn parsed(preset: &str, output: &str) -> Option<AgentResult> {
        parse(&presets()[preset].output, output.as_bytes())
    }

    #[test]
    fn one_document_is_read() {
        let output = r#"{"type":"result","subtype":"success","is_error":false,"result":"4",
            "session_id":"s-1","total_cost_usd":0.02,"usage":{"input_tokens":10,
            "cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":2}}"#;
        let result = parsed("claude", output).unwrap();
        assert_eq!((result.text.as_str(), result.tokens), ("4", Some(1112)));
        assert_eq!((result.session.as_deref(), result.cost_usd), (Some("s-1"), Some(0.02)));
    }

    #[test]
    fn one_document_a_line_is_read_between_other_lines() {
        let output = "warming up\n{\"type\":\"thread.started\",\"thread_id\":\"t-9\"}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"first\"}}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}\n\
            {\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"last\"}}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":7,\"output_tokens\":2}}\n{\"torn";
        let result = parsed("codex", output).unwrap();
        assert_eq!((result.text.as_str(), result.tokens), ("last", Some(15)));
        assert_eq!(result.session.as_deref(), Some("t-9"));
    }

    #[test]
    fn numbers_of_every_model_are_added() {
        let output = r#"{"session_id":"g-1","response":"4","stats":{"models":{
            "small":{"tokens":{"prompt":5,"candidates":1,"thoughts":0}},
            "large":{"tokens":{"prompt":70,"candidates":20,"thoughts":300}}}}}"#;
        let result = parsed("gemini", output).unwrap();
        assert_eq!((result.text.as_str(), result.tokens), ("4", Some(396)));
        assert_eq!(result.session.as_deref(), Some("g-1"));
        let nothing = parsed("gemini", r#"{"response":"4","stats":{"models":{}}}"#).unwrap();
        assert_eq!(nothing.tokens, None);
    }

    #[test]
    fn what_is_no_answer_is_none() {
        assert_eq!(parsed("claude", "it crashed"), None);
        assert_eq!(parsed("goose", "{\"text\": \"x\"}"), None);
    }
}
