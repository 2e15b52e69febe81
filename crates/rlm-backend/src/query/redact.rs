//! Secrets out of a step before it is written down.
//!
//! What a secret looks like is for the caller to say ([`Redact`]); this asks for every text of a step, and
//! for a member of an object together with its name, because a name may be what tells. A text of which
//! the middle was left out may begin, after the gap, within a secret: that word goes as well. A reply
//! that was changed loses its digest, so that it is not taken for the model's when a query is resumed.

use std::fmt;

use serde_json::{Map, Value, json};

use super::{QueryRecord, clipped::GAP_END};

/// What stands in a secret's place where no text without it can be made.
const REMOVED: &str = "[redacted]";
/// The shortest word after a gap that may be the end of a secret.
const SHORTEST: usize = 8;

/// Takes secrets out of texts.
pub trait Redact: fmt::Debug + Send + Sync {
    /// The text without what is secret in it.
    fn redact(&self, text: &str) -> String;
}

/// A step as JSON, without secrets.
pub(super) fn redacted(record: &QueryRecord, by: &dyn Redact) -> serde_json::Result<Value> {
    let mut step = serde_json::to_value(record)?;
    let Value::Object(members) = &mut step else { return Ok(step) };
    let reply = members.get("reply").cloned();
    // The names are ours here, and the texts are looked at by themselves.
    for member in members.values_mut() {
        clean(member, by);
    }
    if members.get("reply") != reply.as_ref() {
        members.insert("digest".to_owned(), "".into());
    }
    Ok(step)
}

fn clean(value: &mut Value, by: &dyn Redact) {
    match value {
        Value::String(text) => *text = without_torn_word(&by.redact(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, by)),
        Value::Object(members) => {
            let old = std::mem::take(members);
            members.extend(old.into_iter().map(|(name, value)| clean_member(&name, value, by)));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn clean_member(name: &str, mut value: Value, by: &dyn Redact) -> (String, Value) {
    clean(&mut value, by);
    if value.is_string() {
        let whole = json!({ name: value }).to_string();
        let cleaned = by.redact(&whole);
        if cleaned != whole {
            let read: Option<Map<String, Value>> = serde_json::from_str(&cleaned).ok();
            let member = read.and_then(|members| members.into_iter().next());
            return member.unwrap_or_else(|| (by.redact(name), REMOVED.into()));
        }
    }
    (by.redact(name), value)
}

fn without_torn_word(text: &str) -> String {
    let mut parts = text.split(GAP_END);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str(GAP_END);
        let end = part.find(char::is_whitespace).unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        clean.push_str(if word.len() < SHORTEST { word } else { REMOVED });
        clean.push_str(rest);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QueryEvent, Spent, StopReason, query::clipped};

    /// Takes out a word, and the value of a password.
    #[derive(Debug)]
    struct Words;

    impl Redact for Words {
        fn redact(&self, text: &str) -> String {
            let text = text.replace("hidden-word-123", "[x]");
            match text.split_once("\"password\":\"") {
                Some((before, rest)) => {
                    let (_, rest) = rest.split_once('"').unwrap();
                    format!("{before}\"password\":\"[x]\"{rest}")
                }
                None => text,
            }
        }
    }

    fn ended(answer: Value) -> Value {
        let event = QueryEvent::End {
            query: 0,
            stop: StopReason::Final,
            answer,
            message: None,
            spent: Spent::default(),
            turns: 1,
            ms: 1.0,
        };
        redacted(&QueryRecord { at_ms: 1.0, event }, &Words).unwrap()["answer"].take()
    }

    #[test]
    fn texts_names_and_members_are_cleaned_at_any_depth() {
        let answer =
            json!([{"a hidden-word-123": ["see hidden-word-123."], "n": 1}, {"password": "p"}]);
        assert_eq!(ended(answer), json!([{"a [x]": ["see [x]."], "n": 1}, {"password": "[x]"}]));
    }

    #[test]
    fn the_end_of_a_secret_after_a_gap_goes_too() {
        let text = clipped(&format!("{}hidden-word-123 z", "y".repeat(30)), 24);
        assert!(text.ends_with("\nn-word-123 z"), "{text}");
        assert!(ended(text.into()).as_str().unwrap().ends_with("\n[redacted] z"));
    }

    #[test]
    fn a_reply_that_was_changed_is_not_for_resuming() {
        let call = |reply: &str| QueryEvent::Turn {
            query: 0,
            turn: 1,
            model: "m".to_owned(),
            digest: "d".to_owned(),
            reply: reply.to_owned(),
            is_cut: false,
            usage: model::Usage::default(),
            ms: 1.0,
            is_replayed: false,
        };
        for (reply, digest) in [("a hidden-word-123", ""), ("plain", "d")] {
            let record = QueryRecord { at_ms: 1.0, event: call(reply) };
            assert_eq!(redacted(&record, &Words).unwrap()["digest"], digest);
        }
    }
}
