//! One answer of a scripted server: status, headers, body in pieces, delays, and how it ends.

use std::time::Duration;

use serde_json::Value;

/// One answer. A server gives its steps in order, one a request.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) delay: Duration,
    pub(super) piece_delay: Duration,
    pub(super) is_cut: bool,
}

impl Step {
    /// A body of any kind, with status 200.
    #[must_use]
    pub fn body(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            pieces: vec![body.into()],
            delay: Duration::ZERO,
            piece_delay: Duration::ZERO,
            is_cut: false,
        }
    }

    /// A JSON body with status 200.
    #[must_use]
    pub fn json(body: &Value) -> Self {
        Self::body("application/json", body.to_string())
    }

    /// A reply of a model in the form of OpenAI, with what it took.
    #[must_use]
    pub fn openai_reply(text: &str, input_tokens: u64, output_tokens: u64) -> Self {
        Self::json(&serde_json::json!({
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }],
            "usage": {
                "prompt_tokens": input_tokens,
                "completion_tokens": output_tokens,
                "total_tokens": input_tokens + output_tokens,
            },
        }))
    }

    /// No answer, for as long as anybody may wait.
    #[must_use]
    pub fn hang() -> Self {
        Self::json(&Value::Null).delay(Duration::from_secs(24 * 60 * 60))
    }

    /// A JSON error in the form that OpenAI gives it.
    #[must_use]
    pub fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message, "type": "error"}});
        Self { status, ..Self::json(&body) }
    }

    /// An event stream, as it is to stand on the wire.
    #[must_use]
    pub fn events(text: impl Into<String>) -> Self {
        Self::body("text/event-stream", text.into())
    }

    /// A stream of OpenAI chunks, ended by `[DONE]`.
    #[must_use]
    pub fn openai_stream(chunks: &[Value]) -> Self {
        let chunks: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        Self::events(chunks + "data: [DONE]\n\n")
    }

    /// A stream of Anthropic events, each under its own name.
    #[must_use]
    pub fn anthropic_stream(events: &[Value]) -> Self {
        let event = |event: &Value| {
            let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n")
        };
        Self::events(events.iter().map(event).collect::<String>())
    }

    /// The same with another status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same after a delay.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same body cut into pieces of `size` bytes, each sent on its own.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Self {
        let body = self.pieces.concat();
        self.pieces = body.chunks(size.max(1)).map(<[u8]>::to_vec).collect();
        self
    }

    /// The same with a delay before every piece.
    #[must_use]
    pub fn piece_delay(mut self, delay: Duration) -> Self {
        self.piece_delay = delay;
        self
    }

    /// The same, but the connection is closed where the rest of the body would come.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.is_cut = true;
        self
    }
}
