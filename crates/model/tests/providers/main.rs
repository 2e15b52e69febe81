//! The providers against a local server that speaks their wire formats, well and badly.

mod anthropic;
mod http;
mod key;
mod openai;
mod openai_stream;
mod requests;
mod support;
