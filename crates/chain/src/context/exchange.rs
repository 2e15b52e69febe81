//! How a conversation divides: pinned messages, and exchanges that leave only as a whole.
//!
//! An exchange is a reply with the results of its calls, and what a user said directly before it. So a
//! result is never separated from its call, whichever exchanges leave. System messages and the user's
//! task belong to no exchange.

use std::ops::Range;

use model::Message;

/// The ranges of the exchanges, oldest first. `task` is the index of the user's task.
pub(crate) fn exchanges(messages: &[Message], task: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut has_reply = true;
    for (index, message) in messages.iter().enumerate() {
        let is_pinned = index == task || matches!(message, Message::System(_));
        if is_pinned {
            has_reply = true;
            continue;
        }
        let is_reply = matches!(message, Message::Assistant(_));
        let joins = match message {
            Message::Tool { .. } => true,
            _ => !has_reply,
        };
        match found.last_mut() {
            Some(last) if joins && last.end == index => last.end = index + 1,
            _ => found.push(index..index + 1),
        }
        has_reply = is_reply || (has_reply && matches!(message, Message::Tool { .. }));
    }
    found
}

/// Checks that every call of every reply has exactly one result, right after it and in its order.
///
/// # Errors
/// The index of the first message that breaks this, and what was expected there.
pub(crate) fn check_pairs(messages: &[Message]) -> Result<(), (usize, String)> {
    let mut open: std::collections::VecDeque<&str> = std::collections::VecDeque::new();
    for (index, message) in messages.iter().enumerate() {
        match (message, open.pop_front()) {
            (Message::Tool { call_id, .. }, Some(expected)) if call_id == expected => {}
            (_, Some(expected)) => return Err((index, format!("the result of call {expected:?}"))),
            (Message::Tool { call_id, .. }, None) => {
                return Err((index, format!("no result, because no call {call_id:?} is open")));
            }
            (Message::Assistant(reply), None) => {
                open.extend(reply.calls.iter().map(|call| call.id.as_str()));
            }
            (Message::System(_) | Message::User(_), None) => {}
        }
    }
    match open.pop_front() {
        Some(expected) => Err((messages.len(), format!("the result of call {expected:?}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use model::{ChatReply, FinishReason};
    use tool_core::ToolCall;

    use super::*;

    /// A conversation from letters: `s`ystem, `u`ser, `a`ssistant without a call, `c` assistant with
    /// a call, `r`esult.
    pub(crate) fn conversation(letters: &str) -> Vec<Message> {
        let mut last = String::new();
        letters.char_indices().map(|(index, letter)| one(letter, index, &mut last)).collect()
    }

    fn one(letter: char, index: usize, last: &mut String) -> Message {
        let reply = |calls| {
            Message::Assistant(ChatReply {
                text: format!("reply {index}"),
                reasoning: None,
                calls,
                finish: FinishReason::Stop,
                usage: None,
                opaque: None,
            })
        };
        match letter {
            's' => Message::System(format!("system {index}")),
            'u' => Message::User(format!("user {index}")),
            'a' => reply(Vec::new()),
            'c' => {
                *last = format!("id{index}");
                reply(vec![ToolCall::from_text(last.as_str(), "t", "{}")])
            }
            _ => Message::Tool {
                call_id: last.clone(),
                name: "t".to_owned(),
                content: format!("result {index}"),
                is_error: false,
            },
        }
    }

    #[test]
    fn exchanges_are_whole() {
        let cases: [(&str, usize, &[Range<usize>]); 6] = [
            ("su", 1, &[]),
            ("sucrcr", 1, &[2..4, 4..6]),
            ("sucrcra", 1, &[2..4, 4..6, 6..7]),
            ("sucrua", 1, &[2..4, 4..6]),
            ("suaucra", 3, &[1..3, 4..6, 6..7]),
            ("uau", 0, &[1..2, 2..3]),
        ];
        for (letters, task, expected) in cases {
            assert_eq!(exchanges(&conversation(letters), task), expected, "{letters}");
        }
    }

    #[test]
    fn broken_pairs_are_named() {
        let check = |letters, expected| {
            let found = check_pairs(&conversation(letters));
            assert_eq!(found.err().map(|(index, _)| index), expected, "{letters}");
        };
        check("sucra", None);
        check("sur", Some(2));
        check("suc", Some(3));
        check("sucu", Some(3));
        check("sucrr", Some(4));
    }
}
