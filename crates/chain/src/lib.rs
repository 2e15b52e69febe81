//! A tool chain: model turns and tool results until a stop reason.
//!
//! A [`ToolChain`] asks a [`Model`](model::Model), gives the calls of its reply to a
//! [`ToolResultProvider`](tool_core::ToolResultProvider), puts the results back into the conversation in
//! the order of the calls, and asks again: until the model answers without a call, or one of the closed
//! list of [`StopReason`]s. Where the results come from (the sandbox, a person, a recording) makes no
//! difference to it.
//!
//! Guaranteed: a tool that fails never ends a chain; every call in the conversation has exactly one
//! result, whatever stopped it; every id is unique; a call that was cut off is not executed; nothing
//! waits without an end. Left out on purpose: deciding about calls and executing them.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use chain::{ChainEvent, ReplayProvider, ToolChain};
//! use model::{Message, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = r#"{"calls": [{"name": "lookup", "arguments": {"key": "greeting"}}]}
//! {"text": "It says hello.", "expect": {"last_tool_contains": "hello"}}"#;
//! let model = ScriptedModel::from_jsonl("script", script)?;
//! let recording = r#"{"expected_call": {"name": "lookup"}, "result": "hello"}"#;
//! let results = ReplayProvider::from_jsonl(recording)?;
//! let chain = ToolChain::new(Arc::new(model), Arc::new(results));
//!
//! let started = Mutex::new(Vec::new());
//! let observer = |event: &ChainEvent| {
//!     if let ChainEvent::CallStarted { call_id, tool, .. } = event {
//!         started.lock().unwrap().push(format!("{call_id} {tool}"));
//!     }
//! };
//! let task = vec![Message::User("What does the greeting say?".to_owned())];
//! let outcome = chain.run(task, &observer, Default::default()).await?;
//!
//! assert!(outcome.stop.is_answer());
//! assert_eq!(outcome.answer.as_deref(), Some("It says hello."));
//! assert_eq!(outcome.metrics.turns, 2);
//! assert_eq!(*started.lock().unwrap(), ["call_1_0 lookup"]);
//! # Ok(())
//! # }
//! ```

mod canonical;
mod chain;
mod config;
mod context;
mod cut_off;
mod events;
mod ids;
mod interrupt;
mod limits;
mod metrics;
mod provider;
mod repeat;
mod run;
mod stop;
mod turn;

pub use chain::{ChainError, ChainOutcome, ToolChain};
pub use config::{ChainConfig, ChainConfigError};
pub use context::{ContextPolicy, ContextPolicyError, Eviction};
pub use events::{ChainEvent, ChainObserver, NoObserver};
pub use limits::{ChainLimits, ChainLimitsError};
pub use metrics::ChainMetrics;
pub use provider::{LineProvider, ReplayProvider};
pub use stop::StopReason;
