//! What an operator can set: sections, layers, and where a value came from.

mod error;
mod keys;
mod layers;
mod sections;
mod variable;

pub use error::ConfigError;
pub use keys::config_schema;
pub use layers::{ConfigBuilder, LayeredConfig, Origin, Setting};
pub use sections::{Config, ToolsConfig};
