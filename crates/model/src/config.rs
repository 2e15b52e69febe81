//! The `[model]` section of a configuration, and the model it means.
//!
//! The section holds no key, only the name of the variable that the caller reads it from. Values that
//! can't work are refused when the model is built, before anything is contacted.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AnthropicMessages, ApiKey, HttpOptions, Model, ModelError, OpenAiChat, Sampling};

/// Which API a model is reached by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// OpenAI chat completions; also vLLM, llama.cpp, Ollama.
    #[default]
    OpenAi,
    /// Anthropic messages.
    Anthropic,
}

impl ProviderKind {
    /// The vendor's own base address.
    #[must_use]
    pub fn default_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The variable that usually holds the key.
    #[must_use]
    pub fn default_key_env(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// The `[model]` section.
///
/// ```
/// let config: model::ModelConfig = serde_json::from_value(serde_json::json!({
///     "provider": "openai", "url": "http://127.0.0.1:11434", "name": "qwen3:8b", "stream": true,
/// }))?;
/// assert_eq!(config.key_env(), "OPENAI_API_KEY");
/// let model = config.build(None)?;
/// assert_eq!(model.name(), "qwen3:8b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The API: `openai` (and all that speak it) or `anthropic`.
    pub provider: ProviderKind,
    /// The base address; the vendor's own where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model's name, as the provider calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of the environment variable that holds the key; `OPENAI_API_KEY` or
    /// `ANTHROPIC_API_KEY` where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Whether replies are asked for in pieces.
    pub stream: bool,
    /// The most tokens of one reply; the provider's default where absent (Anthropic: 4096).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// The sampling temperature, 0 to 2; the provider's default where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// A seed, where the provider takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// The timeout of one request in seconds, retries included.
    #[schemars(range(min = 1, max = 86400))]
    pub timeout_secs: u64,
    /// How many seconds a server may be silent before an attempt is given up.
    #[schemars(range(min = 1, max = 86400))]
    pub idle_timeout_secs: u64,
    /// How often a failed attempt is followed by another, 0 to 10.
    #[schemars(range(max = 10))]
    pub max_retries: u32,
    /// A proxy to go through; none where absent, whatever the environment says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
}

impl Default for ModelConfig {
    /// OpenAI's API, no model named, whole replies, 10 minutes, 5 minutes of silence, 4 retries.
    fn default() -> Self {
        Self {
            provider: ProviderKind::default(),
            url: None,
            name: None,
            api_key_env: None,
            stream: false,
            max_tokens: None,
            temperature: None,
            seed: None,
            timeout_secs: 600,
            idle_timeout_secs: 300,
            max_retries: 4,
            proxy: None,
        }
    }
}

impl ModelConfig {
    /// The longest timeout, in seconds: a day.
    const MAX_TIMEOUT_SECS: u64 = 24 * 60 * 60;
    /// The most retries.
    const MAX_RETRIES: u32 = 10;

    /// The name of the environment variable that the caller is to read the key from.
    #[must_use]
    pub fn key_env(&self) -> &str {
        self.api_key_env.as_deref().unwrap_or(self.provider.default_key_env())
    }

    /// Checks every value.
    ///
    /// # Errors
    /// [`ModelError::Config`] that names the field and what would be accepted.
    pub fn check(&self) -> Result<(), ModelError> {
        let refuse = |text: String| Err(ModelError::Config(text));
        if self.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
            return refuse("model.name is missing: name the model to ask".to_owned());
        }
        if let Some(name) = self.api_key_env.as_deref().filter(|name| !is_variable_name(name)) {
            // What does not look like a name may be a key that was put in the wrong place.
            return refuse(format!(
                "model.api_key_env ({} bytes) is no name of an environment variable; it takes the \
                 name, such as {}, and never the key itself",
                name.len(),
                self.provider.default_key_env()
            ));
        }
        if self.max_tokens == Some(0) {
            return refuse("model.max_tokens is 0, and must be at least 1".to_owned());
        }
        if let Some(given) = self.temperature.filter(|t| !(0.0..=2.0).contains(t)) {
            return refuse(format!("model.temperature is {given}, and must be from 0 to 2"));
        }
        let timeouts =
            [("timeout_secs", self.timeout_secs), ("idle_timeout_secs", self.idle_timeout_secs)];
        for (field, given) in timeouts {
            if given == 0 || given > Self::MAX_TIMEOUT_SECS {
                let most = Self::MAX_TIMEOUT_SECS;
                return refuse(format!("model.{field} is {given}, and must be from 1 to {most}"));
            }
        }
        if self.max_retries > Self::MAX_RETRIES {
            let (given, most) = (self.max_retries, Self::MAX_RETRIES);
            return refuse(format!("model.max_retries is {given}, and must be from 0 to {most}"));
        }
        Ok(())
    }

    /// The model, with the key that the caller found. Contacts nobody.
    ///
    /// # Errors
    /// [`ModelError::Config`] for a value that can't work, or for the vendor's own address without a
    /// key.
    pub fn build(&self, key: Option<ApiKey>) -> Result<Arc<dyn Model>, ModelError> {
        self.check()?;
        if key.is_none() && self.url.is_none() {
            return Err(ModelError::Config(format!(
                "{} asks for a key: set {}, or model.url for a server that needs none",
                self.provider.default_url(),
                self.key_env()
            )));
        }
        let options = self.options(key);
        Ok(match self.provider {
            ProviderKind::OpenAi => Arc::new(OpenAiChat::new(options)?),
            ProviderKind::Anthropic => Arc::new(AnthropicMessages::new(options)?),
        })
    }

    fn options(&self, key: Option<ApiKey>) -> HttpOptions {
        let url = self.url.as_deref().unwrap_or(self.provider.default_url());
        let mut options = HttpOptions::new(url, self.name.as_deref().unwrap_or_default());
        options.key = key;
        options.stream = self.stream;
        options.sampling = Sampling {
            temperature: self.temperature,
            seed: self.seed,
            max_tokens: self.max_tokens,
        };
        options.timeout = Duration::from_secs(self.timeout_secs);
        options.idle_timeout = Duration::from_secs(self.idle_timeout_secs);
        options.max_retries = self.max_retries;
        options.proxy.clone_from(&self.proxy);
        options
    }
}

fn is_variable_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.bytes().all(fits) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> ModelConfig {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn values_that_can_not_work_are_refused_by_name() {
        let check = |field: &str, value: Value| {
            let mut section = json!({"name": "m", "url": "http://127.0.0.1:1"});
            assert!(read(section.clone()).build(None).is_ok());
            section[field] = value;
            let error = read(section).build(None).unwrap_err();
            assert!(matches!(error, ModelError::Config(_)), "{error:?}");
            assert!(error.to_string().contains(field), "{field}: {error}");
        };
        check("name", json!(" "));
        check("timeout_secs", json!(0));
        check("idle_timeout_secs", json!(u64::MAX));
        check("max_retries", json!(11));
        check("max_tokens", json!(0));
        check("temperature", json!(-0.1));
        check("temperature", json!(2.1));
        check("api_key_env", json!("sk-something"));
        check("url", json!("localhost"));
        check("proxy", json!("socks://x"));
    }

    #[test]
    fn a_key_in_the_wrong_place_is_not_repeated() {
        let config = read(json!({"name": "m", "api_key_env": "sk-secret"}));
        assert!(!config.build(None).unwrap_err().to_string().contains("secret"));
    }

    #[test]
    fn the_vendors_own_address_asks_for_a_key() {
        for (provider, variable) in
            [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
        {
            let config = read(json!({"provider": provider, "name": "m"}));
            let error = config.build(None).unwrap_err().to_string();
            assert!(error.contains(variable), "{error}");
            assert!(config.build(Some(ApiKey::new("k").unwrap())).is_ok());
        }
        let own = read(json!({"name": "m", "api_key_env": "MY_KEY"}));
        assert!(own.build(None).unwrap_err().to_string().contains("MY_KEY"));
    }

    #[test]
    fn unknown_keys_and_providers_are_refused() {
        for bad in [json!({"modle": "x"}), json!({"provider": "gpt"}), json!({"api_key": "x"})] {
            assert!(serde_json::from_value::<ModelConfig>(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let full = ModelConfig {
            name: Some("m".into()),
            temperature: Some(0.5),
            proxy: Some("http://p:1".into()),
            ..ModelConfig::default()
        };
        for config in [ModelConfig::default(), full] {
            assert_eq!(read(serde_json::to_value(&config).unwrap()), config);
        }
    }
}
