//! What an operator can set: sections, layers, and where a value came from.

mod keys;
mod layers;
mod sections;

pub use keys::config_schema;
pub use layers::{ConfigBuilder, ConfigError, LayeredConfig, Origin, Setting};
pub use sections::{Config, ReservedConfig, ToolsConfig};
