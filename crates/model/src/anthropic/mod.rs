//! Messages, as Anthropic and servers compatible with it speak them.
//!
//! One request is one reply with any number of `tool_use` blocks, streamed or whole. Thinking blocks
//! and their signatures go back exactly as they came. A seed is not part of this API and not sent.

mod reply;
mod request;
mod stream;

use tool_core::{BoxFuture, ToolSpec};

use crate::{
    ChatReply, ChatRequest, Delta, Dialect, HttpOptions, LeftOut, Model, ModelError, Sampling,
    ToolNames,
    http::{Collector, Endpoint, Fault, Wire},
    prepare_tools,
    warning::Warned,
};

/// What `max_tokens` is where nobody says: the API asks for a number.
const DEFAULT_MAX_TOKENS: u32 = 4096;

/// A model behind the Anthropic messages API.
#[derive(Debug)]
pub struct AnthropicMessages {
    endpoint: Endpoint,
    model: String,
    stream: bool,
    sampling: Sampling,
    warned: Warned,
}

impl AnthropicMessages {
    /// A model at an address. Contacts nobody.
    ///
    /// # Errors
    /// [`ModelError::Config`] for options that can't work.
    pub fn new(options: HttpOptions) -> Result<Self, ModelError> {
        Ok(Self {
            endpoint: Endpoint::new(Dialect::Anthropic, &options)?,
            model: options.model,
            stream: options.stream,
            sampling: options.sampling,
            warned: Warned::default(),
        })
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        on_delta: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<ChatReply, ModelError> {
        let prepared = prepare_tools(Dialect::Anthropic, &request.tools);
        self.warned.warn(&self.model, &prepared.left_out);
        let sampling = request.sampling.or(self.sampling);
        let max_tokens = sampling.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
        let style = request::Style {
            model: &self.model,
            max_tokens,
            temperature: sampling.temperature,
            stream: self.stream,
        };
        let body = request::body(request, &prepared, style)?;
        let wire = MessagesWire { names: prepared.names, max_tokens };
        self.endpoint.chat(&body, &wire, on_delta).await
    }
}

impl Model for AnthropicMessages {
    fn name(&self) -> &str {
        &self.model
    }

    fn left_out(&self, tools: &[ToolSpec]) -> Vec<LeftOut> {
        prepare_tools(Dialect::Anthropic, tools).left_out
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        on_delta: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.ask(request, on_delta))
    }
}

#[derive(Debug)]
struct MessagesWire {
    names: ToolNames,
    max_tokens: u32,
}

impl Wire for MessagesWire {
    fn whole(&self, body: &str) -> Result<ChatReply, Fault> {
        reply::read_whole(body, &self.names, self.max_tokens)
    }

    fn collector(&self) -> Box<dyn Collector + '_> {
        Box::new(stream::EventCollector::new(&self.names, self.max_tokens))
    }
}
