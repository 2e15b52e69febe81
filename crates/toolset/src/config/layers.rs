//! Layers: defaults, then a file, then the environment, then flags.
//!
//! Values are merged key by key; a list is replaced, not appended to. Every value remembers its
//! origin, so an error can say which file, variable or flag to mend.

use std::{collections::BTreeMap, fmt, path::Path};

use serde_json::{Map, Value};

use super::{
    Config, ConfigError,
    keys::{COMPILED, KEYS, choices, join, unknown_key},
    variable::{parse_text, variable_of},
};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A configuration file.
    File(String),
    /// An environment variable, by its name.
    Variable(String),
    /// A flag, by its name.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => f.write_str(path),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Collects the layers, lowest first.
///
/// ```
/// use toolset::ConfigBuilder;
/// let mut builder = ConfigBuilder::new();
/// builder.file("remit.toml", "[limits]\ntimeout_ms = 100\n")?;
/// builder.set("limits.jobs", 4.into(), "--jobs");
/// let layered = builder.build()?;
/// assert_eq!(layered.config().limits.timeout_ms, Some(100));
/// assert_eq!(layered.origin("limits.jobs").to_string(), "--jobs");
/// # Ok::<(), toolset::ConfigError>(())
/// ```
#[derive(Debug, Default)]
pub struct ConfigBuilder {
    merged: Map<String, Value>,
    origins: BTreeMap<String, Origin>,
}

impl ConfigBuilder {
    /// No layer yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the text of a file.
    ///
    /// # Errors
    /// It is not TOML, or it has a key that does not exist.
    pub fn file(&mut self, path: impl AsRef<Path>, text: &str) -> Result<(), ConfigError> {
        let file = path.as_ref().display().to_string();
        let tree: Map<String, Value> = toml::from_str(text).map_err(|error| {
            ConfigError::Syntax { file: file.clone(), message: error.to_string().trim().to_owned() }
        })?;
        if let Some((key, nearest)) = unknown_key(&tree) {
            return Err(ConfigError::UnknownKey { origin: file, key, nearest });
        }
        self.merge("", tree, &Origin::File(file));
        Ok(())
    }

    fn merge(&mut self, path: &str, tree: Map<String, Value>, origin: &Origin) {
        for (name, value) in tree {
            let here = join(path, &name);
            match value {
                Value::Object(inner) if !is_leaf(&here) => self.merge(&here, inner, origin),
                value => self.put(&here, value, origin.clone()),
            }
        }
    }

    /// Adds the variables that name a key: `REMIT_LIMITS_TIMEOUT_MS` for `limits.timeout_ms`. Lists
    /// are separated by commas. Gives back the names of `REMIT_` variables that name no key.
    ///
    /// # Errors
    /// A value of the wrong kind.
    pub fn environment<I>(&mut self, variables: I) -> Result<Vec<String>, ConfigError>
    where
        I: IntoIterator<Item = (String, String)>,
    {
        let mut unknown = Vec::new();
        for (name, text) in variables {
            let Some(key) = KEYS.iter().find(|key| variable_of(&key.path) == name) else {
                if name.starts_with("REMIT_") {
                    unknown.push(name);
                }
                continue;
            };
            let value = parse_text(key, &text).map_err(|message| ConfigError::Value {
                origin: name.clone(),
                key: key.path.clone(),
                message,
            })?;
            self.put(&key.path, value, Origin::Variable(name));
        }
        Ok(unknown)
    }

    /// Sets one key, by a flag.
    pub fn set(&mut self, key: &str, value: Value, flag: &'static str) {
        self.put(key, value, Origin::Flag(flag));
    }

    fn put(&mut self, path: &str, value: Value, origin: Origin) {
        let mut at = &mut self.merged;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                at.insert(name.to_owned(), value);
                break;
            }
            let inner = at.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            match inner.as_object_mut() {
                Some(inner) => at = inner,
                None => break,
            }
        }
        self.origins.insert(path.to_owned(), origin);
    }

    /// The configuration of all layers.
    ///
    /// # Errors
    /// A value of the wrong kind, with the layer that set it.
    pub fn build(self) -> Result<LayeredConfig, ConfigError> {
        let merged = Value::Object(self.merged);
        if let Some(schema) = COMPILED.as_ref()
            && let Err(violations) = schema.check(&merged)
        {
            return Err(wrong_value(&self.origins, &violations));
        }
        let config = serde_json::from_value(merged).map_err(|error| ConfigError::Value {
            origin: "configuration".to_owned(),
            key: "(unknown)".to_owned(),
            message: error.to_string(),
        })?;
        Ok(LayeredConfig { config, origins: self.origins })
    }
}

fn is_leaf(path: &str) -> bool {
    KEYS.iter().any(|key| key.path == path)
}

fn wrong_value(
    origins: &BTreeMap<String, Origin>,
    violations: &tool_core::Violations,
) -> ConfigError {
    let Some(first) = violations.shown().first() else {
        let (origin, key) = ("configuration".to_owned(), "(unknown)".to_owned());
        return ConfigError::Value { origin, key, message: violations.to_string() };
    };
    let key = first.pointer.trim_start_matches('/').replace('/', ".");
    // A null can't be written in any layer.
    let by_schema = || first.expected.trim_start_matches("null or ").to_owned();
    let expected = choices(&key).unwrap_or_else(by_schema);
    let message = format!("expected {expected}, found {}", first.found);
    ConfigError::Value { origin: origin_of(origins, &key).to_string(), key, message }
}

/// The origin of a key, or of the nearest key around it that was set.
fn origin_of(origins: &BTreeMap<String, Origin>, key: &str) -> Origin {
    let mut path = key;
    loop {
        if let Some(origin) = origins.get(path) {
            return origin.clone();
        }
        match path.rsplit_once('.') {
            Some((parent, _)) => path = parent,
            None => return Origin::Default,
        }
    }
}

/// One key of a configuration, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// `section.key`.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Where the value came from.
    pub origin: Origin,
}

/// A configuration that knows where its values came from.
#[derive(Debug, Clone)]
pub struct LayeredConfig {
    config: Config,
    origins: BTreeMap<String, Origin>,
}

impl LayeredConfig {
    /// The same with what the environment says of container engines, which is in no layer.
    #[must_use]
    pub fn with_engine_environment(mut self, environment: rlm_backend::EngineEnvironment) -> Self {
        self.config.sandbox.docker.environment = environment;
        self
    }

    /// The values.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the value of `key` (`section.key`) came from.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        origin_of(&self.origins, key)
    }

    /// Every key with its value and its origin, sorted.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let tree = serde_json::to_value(&self.config).unwrap_or_default();
        let value_at = |path: &str| {
            let pointer = format!("/{}", path.replace('.', "/"));
            tree.pointer(&pointer).cloned().unwrap_or_default()
        };
        KEYS.iter()
            .map(|key| Setting {
                key: key.path.clone(),
                value: value_at(&key.path),
                origin: self.origin(&key.path),
            })
            .collect()
    }
}
