//! A language model behind one trait, with providers over HTTP and a scripted one.
//!
//! A [`Model`] takes a [`ChatRequest`] (messages, tools, sampling) and gives a [`ChatReply`] (text,
//! tool calls, token usage, why it stopped). What vendors do differently stays inside their provider.

mod chat;

pub use chat::{
    ChatReply, ChatRequest, Delta, FinishReason, Message, Model, ModelError, Sampling, Usage,
};
