//! The conversation of one query, kept small: variables stay in the session, so old outputs can go.
//!
//! Where the conversation is estimated to have more tokens than it may, the oldest outputs are
//! replaced by a line that says so, and then the oldest exchanges are left out; the instructions, the
//! question and the newest exchanges stay.

use model::{ChatReply, FinishReason, Message};

use super::ask::{estimate, message_tokens};

/// How many of the newest exchanges always stay whole.
const NEWEST: usize = 2;
const LEFT_OUT: &str =
    "[This output was left out to keep the conversation short. Variables are still there.]";
const FORGOTTEN: &str = "[Earlier turns were left out to keep the conversation short. The session and \
                         all its variables are still there: SHOW_VARS() lists them.]";

/// A conversation.
#[derive(Debug)]
pub(super) struct History {
    /// Instructions and question.
    head: Vec<Message>,
    /// A reply, and what the model was told then.
    exchanges: Vec<(String, String)>,
    has_forgotten: bool,
    /// 0: no bound.
    most_tokens: u64,
}

impl History {
    pub(super) fn new(system: String, question: String, most_tokens: u64) -> Self {
        let head = vec![Message::System(system), Message::User(question)];
        Self { head, exchanges: Vec::new(), has_forgotten: false, most_tokens }
    }

    pub(super) fn add(&mut self, reply: String, told: String) {
        self.exchanges.push((reply, told));
        self.compact();
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        let mut messages = self.head.clone();
        if self.has_forgotten {
            messages.push(assistant("I went on with it."));
            messages.push(Message::User(FORGOTTEN.to_owned()));
        }
        for (reply, told) in &self.exchanges {
            messages.push(assistant(reply));
            messages.push(Message::User(told.clone()));
        }
        messages
    }

    fn compact(&mut self) {
        if self.most_tokens == 0 || !self.is_too_long() {
            return;
        }
        // More than is needed now, so that not every turn changes what the model has read before.
        let aim = self.most_tokens / 2;
        let old = self.exchanges.len().saturating_sub(NEWEST);
        for at in 0..old {
            if self.tokens() <= aim {
                return;
            }
            if let Some((_, told)) = self.exchanges.get_mut(at)
                && told.len() > LEFT_OUT.len()
            {
                LEFT_OUT.clone_into(told);
            }
        }
        while self.is_too_long() && self.exchanges.len() > NEWEST {
            self.exchanges.remove(0);
            self.has_forgotten = true;
        }
    }

    fn is_too_long(&self) -> bool {
        self.tokens() > self.most_tokens
    }

    fn tokens(&self) -> u64 {
        let exchanges = self.exchanges.iter().flat_map(|(reply, told)| [reply, told]);
        let exchanges: u64 = exchanges.map(|text| message_tokens(text.len())).sum();
        let forgotten = if self.has_forgotten { 2 * message_tokens(FORGOTTEN.len()) } else { 0 };
        estimate(&self.head) + exchanges + forgotten
    }
}

fn assistant(text: &str) -> Message {
    Message::Assistant(ChatReply {
        text: text.to_owned(),
        reasoning: None,
        calls: Vec::new(),
        finish: FinishReason::Stop,
        usage: None,
        opaque: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_conversation_stays_bounded_and_keeps_its_ends() {
        let mut history = History::new("S".repeat(400), "question".to_owned(), 2000);
        for turn in 0..200 {
            history.add(format!("reply {turn}"), "x".repeat(if turn == 0 { 20_000 } else { 900 }));
            if turn > 2 {
                assert!(estimate(&history.messages()) <= 2000, "{turn}");
            }
        }
        let messages = history.messages();
        assert_eq!(messages[1], Message::User("question".to_owned()));
        assert_eq!(messages[messages.len() - 1], Message::User("x".repeat(900)));
        assert!(messages.contains(&Message::User(FORGOTTEN.to_owned())));
        assert!(
            matches!(&messages[messages.len() - 2], Message::Assistant(r) if r.text == "reply 199")
        );
    }

    #[test]
    fn a_short_one_is_left_as_it_is() {
        let mut history = History::new("s".to_owned(), "q".to_owned(), 2000);
        history.add("a".to_owned(), "b".to_owned());
        assert_eq!(history.messages().len(), 4);
    }
}
