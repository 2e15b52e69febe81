//! The configuration of remit, and the registry of tools made from it.
//!
//! [`Config`] joins the sections that the crates own. [`ConfigBuilder`] layers it from a file, the
//! environment and flags, and [`LayeredConfig`] still knows where each value came from.
//! [`create_default_registry`] makes the tools that a configuration asks for; what is not enabled does
//! not exist.

mod command;
mod config;
mod registry;

pub use command::{
    CommandConfig, CommandConfigError, CommandNetwork, TemplateError, WorkdirAccess,
};
pub use config::{
    Config, ConfigBuilder, ConfigError, LayeredConfig, Origin, Setting, ToolsConfig, config_schema,
};
pub use registry::{Toolset, ToolsetError, create_default_registry, offer_to_queries};
