//! A language model behind one trait, with providers over HTTP and a scripted one.
//!
//! A [`Model`] takes a [`ChatRequest`] (messages, tools, sampling) and gives a [`ChatReply`] (text,
//! tool calls, token usage, why it stopped). What vendors do differently stays inside their provider:
//! [`OpenAiChat`] and [`AnthropicMessages`] over HTTP, [`ScriptedModel`] from text.
//!
//! This crate reads no environment variable and no file: keys and scripts come from the caller, and
//! an [`ApiKey`] is shown nowhere.

mod anthropic;
mod balance;
mod chat;
mod config;
mod conversation;
mod finish;
mod http;
mod key;
mod openai;
mod scripted;
mod tools;
mod warning;

pub use anthropic::AnthropicMessages;
pub use chat::{
    ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError, Sampling, Usage,
};
pub use config::{ModelConfig, ProviderKind};
pub use http::HttpOptions;
pub use key::ApiKey;
pub use openai::OpenAiChat;
pub use scripted::ScriptedModel;
pub use tools::{Dialect, LeftOut, Prepared, PreparedTool, ToolNames, prepare_tools};
