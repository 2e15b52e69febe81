//! Chat completions, as OpenAI, vLLM, llama.cpp, Ollama and many others speak them.
//!
//! One request is one reply with any number of tool calls, streamed or whole. What a model wrote is
//! passed on as it is: ids, names (but for the way back from [`ToolNames`]) and the text of
//! arguments.

mod fragments;
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

/// A model behind an OpenAI-compatible API.
#[derive(Debug)]
pub struct OpenAiChat {
    endpoint: Endpoint,
    model: String,
    stream: bool,
    sampling: Sampling,
    warned: Warned,
}

impl OpenAiChat {
    /// A model at an address. Contacts nobody.
    ///
    /// # Errors
    /// [`ModelError::Config`] for options that can't work.
    pub fn new(options: HttpOptions) -> Result<Self, ModelError> {
        Ok(Self {
            endpoint: Endpoint::new(Dialect::OpenAi, &options)?,
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
        let prepared = prepare_tools(Dialect::OpenAi, &request.tools);
        self.warned.warn(&self.model, &prepared.left_out);
        let sampling = request.sampling.or(self.sampling);
        let style = request::Style {
            model: &self.model,
            stream: self.stream,
            sampling,
            is_openai: self.endpoint.is_at("api.openai.com"),
        };
        let body = request::body(request, &prepared, style)?;
        let wire = ChatWire { names: prepared.names, max_tokens: sampling.max_tokens };
        self.endpoint.chat(&body, &wire, on_delta).await
    }
}

impl Model for OpenAiChat {
    fn name(&self) -> &str {
        &self.model
    }

    fn left_out(&self, tools: &[ToolSpec]) -> Vec<LeftOut> {
        prepare_tools(Dialect::OpenAi, tools).left_out
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
struct ChatWire {
    names: ToolNames,
    max_tokens: Option<u32>,
}

impl Wire for ChatWire {
    fn whole(&self, body: &str) -> Result<ChatReply, Fault> {
        reply::read_whole(body, &self.names, self.max_tokens)
    }

    fn collector(&self) -> Box<dyn Collector + '_> {
        Box::new(stream::ChunkCollector::new(&self.names, self.max_tokens))
    }
}
