//! Sessions in containers: the drivers of the local backend, in one container a session.
//!
//! The container is made and started when a place is opened, and removed when it is closed. In it
//! runs a small supervisor, attached by one stream: it starts the drivers, carries what they say,
//! signals them, and reaches the session's files.

mod config;
mod connect;
mod settings;

pub use config::{DockerConfig, PullPolicy};
pub use connect::EngineEnvironment;
