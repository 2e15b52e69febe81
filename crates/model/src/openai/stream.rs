//! A chat completion in pieces.
//!
//! The stream is whole when its `[DONE]` came, or when it ended in order after a `finish_reason`
//! (some servers send no `[DONE]`). Everything else is a fault, so half a reply is never taken for
//! one. Only the first choice is read; we never ask for more.

use crate::{
    ChatReply, Delta, ToolNames,
    http::{Collector, Fault, OnDelta, SseEvent},
    openai::{
        fragments::Fragments,
        reply::{Choice, Completion, Draft, WireMessage, reported},
    },
};

/// Reads the events of one reply.
#[derive(Debug)]
pub(super) struct ChunkCollector<'a> {
    names: &'a ToolNames,
    max_tokens: Option<u32>,
    draft: Draft,
    fragments: Fragments,
    is_done: bool,
    has_choice: bool,
}

impl<'a> ChunkCollector<'a> {
    pub(super) fn new(names: &'a ToolNames, max_tokens: Option<u32>) -> Self {
        Self {
            names,
            max_tokens,
            draft: Draft::default(),
            fragments: Fragments::default(),
            is_done: false,
            has_choice: false,
        }
    }

    fn take_choice(&mut self, choice: Choice, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        self.has_choice = true;
        // Some servers send the whole message in the last chunk, and nothing before it.
        if let Some(message) = choice.delta.or(choice.message) {
            self.take_message(message, on_delta)?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.draft.finish_reason = Some(reason);
        }
        Ok(())
    }

    fn take_message(&mut self, message: WireMessage, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        if let Some((field, text)) = message.reasoning().filter(|(_, text)| !text.is_empty()) {
            self.draft.reasoning.push_str(text);
            self.draft.reasoning_field = Some(field);
            on_delta(Delta::Reasoning(text.to_owned()));
        }
        let text = message.text()?;
        if !text.is_empty() {
            self.draft.text.push_str(&text);
            on_delta(Delta::Text(text));
        }
        if let Some(refusal) = message.refusal.filter(|refusal| !refusal.is_empty()) {
            self.draft.refusal.push_str(&refusal);
            on_delta(Delta::Text(refusal));
        }
        for (at, fragment) in message.tool_calls.into_iter().flatten().enumerate() {
            self.fragments.take(fragment, at == 0);
        }
        self.fragments.announce(self.names, false, on_delta);
        Ok(())
    }
}

impl Collector for ChunkCollector<'_> {
    fn take(&mut self, event: &SseEvent, on_delta: OnDelta<'_>) -> Result<bool, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(true);
        }
        if data.is_empty() {
            return Ok(false);
        }
        let chunk: Completion = serde_json::from_str(data)
            .map_err(|error| Fault::unreadable("a chunk of the stream", &error))?;
        if let Some(error) = &chunk.error {
            return Err(reported(error));
        }
        // Counts may come in every chunk, and then grow; the last ones are the reply's.
        self.draft.usage = chunk.usage().or(self.draft.usage);
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index.unwrap_or_default() == 0 {
                self.take_choice(choice, on_delta)?;
            }
        }
        Ok(false)
    }

    fn finish(mut self: Box<Self>, on_delta: OnDelta<'_>) -> Result<ChatReply, Fault> {
        let is_whole = self.has_choice && (self.is_done || self.draft.finish_reason.is_some());
        if !is_whole {
            return Err(Fault::Nonsense("the stream ended before the reply did".to_owned()));
        }
        self.fragments.announce(self.names, true, on_delta);
        self.draft.calls = self.fragments.finish(self.names);
        Ok(self.draft.reply(self.max_tokens))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::testing::collect;

    const STREAM: &str = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I \u{e4}\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",",
        "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,",
        "\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n",
        "data: [DONE]\n\n",
    );

    fn read(bytes: &[u8]) -> Result<ChatReply, Fault> {
        let names = ToolNames::default();
        collect(Box::new(ChunkCollector::new(&names, None)), bytes)
    }

    #[test]
    fn a_stream_that_ends_anywhere_before_its_reason_is_a_fault() {
        let reason = STREAM.find("tool_calls\"}]").unwrap() + "tool_calls\"}]}".len();
        for end in 0..STREAM.len() {
            match read(&STREAM.as_bytes()[..end]) {
                Ok(reply) => {
                    assert!(end >= reason, "a reply from {:?}", &STREAM.as_bytes()[..end]);
                    assert_eq!(reply.calls[0].arguments.to_text(), "{\"a\":1}");
                }
                Err(_) => assert!(end != reason && end < STREAM.len() - 2, "{end}"),
            }
        }
        assert_eq!(read(STREAM.as_bytes()).unwrap().text, "I ä");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            at in 0..STREAM.len(),
            with in "[\\PC\n\"{}\\[\\]:,0-9]{0,6}",
            cut in 0usize..30,
        ) {
            let mut bytes = STREAM.as_bytes().to_vec();
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, with.bytes());
            let _ = read(&bytes);
        }
    }
}
