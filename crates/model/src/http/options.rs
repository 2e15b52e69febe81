//! Where a provider over HTTP is, and how patient its client is.

use std::time::Duration;

use crate::{ApiKey, Sampling};

/// The options of a provider over HTTP.
///
/// ```
/// let mut options = model::HttpOptions::new("http://127.0.0.1:11434/v1", "qwen3:8b");
/// options.stream = true;
/// let model = model::OpenAiChat::new(options)?;
/// # Ok::<(), model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The base address, with or without the API's own path.
    pub url: String,
    /// The model's name, as the provider calls it.
    pub model: String,
    /// The key; `None` for a server that asks for none.
    pub key: Option<ApiKey>,
    /// Whether replies are asked for in pieces. A server that does otherwise is understood too.
    pub stream: bool,
    /// How replies are drawn where a request does not say.
    pub sampling: Sampling,
    /// The timeout of one call of [`Model::chat`](crate::Model::chat), all attempts together.
    pub timeout: Duration,
    /// How long a server may be silent before an attempt is given up; tried again.
    pub idle_timeout: Duration,
    /// How often a failed attempt is followed by another.
    pub max_retries: u32,
    /// The pause before the first retry; it doubles from then on, and is partly drawn.
    pub first_pause: Duration,
    /// A proxy to go through. Without one the address is dialled directly, whatever the environment
    /// or the system says.
    pub proxy: Option<String>,
}

impl HttpOptions {
    /// Options with an address and a model; no key, no streaming, 10 minutes for a call, 5 for a
    /// silence, 4 retries after 0.5 s, 1 s, 2 s and 4 s.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            key: None,
            stream: false,
            sampling: Sampling::default(),
            timeout: Duration::from_secs(600),
            idle_timeout: Duration::from_secs(300),
            max_retries: 4,
            first_pause: Duration::from_millis(500),
            proxy: None,
        }
    }
}
