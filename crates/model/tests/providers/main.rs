//! The providers against a local server that speaks their wire formats, well and badly.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod anthropic;
mod http;
mod key;
mod openai;
mod openai_stream;
mod requests;
mod support;
