//! What of a conversation the model still reads when it grows beyond the context window.
//!
//! - `policy`: what the operator wants (window, reserve, exchanges kept, how to evict).
//! - `estimate`: how many tokens a message takes.
//! - `exchange`: how a conversation divides into parts that can leave as a whole.
//! - `transcript`: the whole conversation, and the view of it that is sent.
//! - `summary`: the request that shortens exchanges to a few lines.

mod estimate;
mod exchange;
mod policy;
pub(crate) mod summary;
mod transcript;

pub(crate) use estimate::{messages_tokens, reply_tokens, tools_tokens};
pub(crate) use exchange::check_pairs;
pub use policy::{ContextPolicy, ContextPolicyError, Eviction};
pub(crate) use transcript::{Fit, Full, Transcript};
