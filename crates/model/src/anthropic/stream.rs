//! A message in pieces.
//!
//! Blocks begin, grow and end by their index; a message is whole when `message_stop` came, and only
//! then. The kind of an event stands in its data; the `event:` line is not needed.
//!
//! Source: <https://docs.anthropic.com/en/docs/build-with-claude/streaming>.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    ChatReply, Delta, ToolNames,
    anthropic::reply::{Block, WireError, WireMessage, WireUsage, assemble},
    http::{Collector, Fault, OnDelta, SseEvent},
};

#[derive(Debug, Deserialize)]
struct Event {
    r#type: String,
    #[serde(default)]
    index: u64,
    #[serde(default)]
    message: Option<WireMessage>,
    #[serde(default)]
    content_block: Option<Box<RawValue>>,
    #[serde(default)]
    delta: Option<WireDelta>,
    #[serde(default)]
    usage: Option<WireUsage>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Debug, Default, Deserialize)]
struct WireDelta {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    stop_reason: Option<String>,
}

/// Reads the events of one message.
#[derive(Debug)]
pub(super) struct EventCollector<'a> {
    names: &'a ToolNames,
    max_tokens: u32,
    blocks: Vec<(u64, Block)>,
    stop_reason: Option<String>,
    usage: WireUsage,
    is_stopped: bool,
}

impl<'a> EventCollector<'a> {
    pub(super) fn new(names: &'a ToolNames, max_tokens: u32) -> Self {
        Self {
            names,
            max_tokens,
            blocks: Vec::new(),
            stop_reason: None,
            usage: WireUsage::default(),
            is_stopped: false,
        }
    }

    fn begin_block(&mut self, event: &Event, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        let raw = event.content_block.as_deref();
        let raw = raw.ok_or_else(|| Fault::Nonsense("a block begins without a block".into()))?;
        let block = Block::read(raw)?;
        match &block {
            Block::Text(text) if !text.is_empty() => on_delta(Delta::Text(text.clone())),
            Block::Call { name, .. } => {
                let is_call = |(_, block): &&(u64, Block)| matches!(block, Block::Call { .. });
                let index = self.blocks.iter().filter(is_call).count();
                let name = self.names.original(name).to_owned();
                on_delta(Delta::CallStarted { index, name });
            }
            _ => {}
        }
        self.blocks.push((event.index, block));
        Ok(())
    }

    fn grow_block(&mut self, event: Event, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        let index = event.index;
        let block = self.blocks.iter_mut().rfind(|(own, _)| *own == index);
        let (_, block) = block.ok_or_else(|| {
            Fault::Nonsense(format!("a piece of block {index} came before the block"))
        })?;
        let delta = event.delta.unwrap_or_default();
        match block {
            Block::Text(text) => {
                let piece = delta.text.unwrap_or_default();
                text.push_str(&piece);
                on_delta(Delta::Text(piece));
            }
            Block::Call { pieces, .. } => {
                pieces.push_str(&delta.partial_json.unwrap_or_default());
            }
            Block::Kept { value, thinking } => {
                if let Some(piece) = delta.thinking {
                    thinking.push_str(&piece);
                    value.insert("thinking".to_owned(), thinking.as_str().into());
                    on_delta(Delta::Reasoning(piece));
                }
                if let Some(piece) = delta.signature {
                    let before = value.get("signature").and_then(Value::as_str).unwrap_or_default();
                    let whole = format!("{before}{piece}");
                    value.insert("signature".to_owned(), whole.into());
                }
            }
            Block::Unknown => {}
        }
        Ok(())
    }
}

impl Collector for EventCollector<'_> {
    fn take(&mut self, event: &SseEvent, on_delta: OnDelta<'_>) -> Result<bool, Fault> {
        let mut event: Event = serde_json::from_str(&event.data).map_err(|error| {
            Fault::unreadable(&format!("an event {:?} of the stream", event.kind), &error)
        })?;
        match event.r#type.as_str() {
            "message_start" => {
                let usage = event.message.and_then(|message| message.usage);
                self.usage = usage.unwrap_or_default();
            }
            "content_block_start" => self.begin_block(&event, on_delta)?,
            "content_block_delta" => self.grow_block(event, on_delta)?,
            "message_delta" => {
                self.usage = self.usage.with(event.usage.unwrap_or_default());
                let delta = event.delta.take().unwrap_or_default();
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
            }
            "message_stop" => {
                self.is_stopped = true;
                return Ok(true);
            }
            "error" => return Err(event.error.unwrap_or_default().fault()),
            // `ping`, `content_block_stop`, and kinds to come: the API asks to skip what is unknown.
            _ => {}
        }
        Ok(false)
    }

    fn finish(self: Box<Self>, _on_delta: OnDelta<'_>) -> Result<ChatReply, Fault> {
        if !self.is_stopped {
            return Err(Fault::Nonsense("the stream ended before the message did".to_owned()));
        }
        let blocks = self.blocks.into_iter().map(|(_, block)| block);
        let reason = self.stop_reason.as_deref();
        Ok(assemble(blocks, reason, self.usage, self.names, self.max_tokens))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::testing::collect;

    const STREAM: &str = concat!(
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
        "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":",
        "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );

    fn read(bytes: &[u8]) -> Result<ChatReply, Fault> {
        let names = ToolNames::default();
        collect(Box::new(EventCollector::new(&names, 10)), bytes)
    }

    #[test]
    fn a_stream_that_ends_anywhere_before_its_stop_is_a_fault() {
        let stop = STREAM.len() - 2;
        for end in 0..=STREAM.len() {
            let reply = read(&STREAM.as_bytes()[..end]);
            assert_eq!(reply.is_ok(), end >= stop, "{end}: {reply:?}");
        }
        let reply = read(STREAM.as_bytes()).unwrap();
        assert_eq!(reply.calls[0].arguments.to_text(), "{\"a\":1}");
    }

    #[test]
    fn a_thinking_block_that_is_no_object_is_a_fault() {
        let start = r#"{"type":"content_block_start","content_block":["thinking"]}"#;
        let delta = r#"{"type":"content_block_delta","delta":{"thinking":"x"}}"#;
        assert!(read(format!("data: {start}\n\ndata: {delta}\n\n").as_bytes()).is_err());
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
