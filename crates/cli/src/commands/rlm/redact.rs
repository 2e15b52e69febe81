//! What is taken out of a trajectory: what looks like a secret, and the key of the model whatever it
//! looks like.

use model::ApiKey;
use rlm_backend::Redact;

use crate::{env, failure::Failure, settings::Settings};

/// Takes secrets out of what is written to a file.
#[derive(Debug)]
pub(super) struct Secrets {
    key: Option<ApiKey>,
}

impl Secrets {
    pub(super) fn new(settings: &Settings) -> Result<Self, Failure> {
        Ok(Self { key: env::api_key(settings.config().model.key_env())? })
    }
}

impl Redact for Secrets {
    fn redact(&self, text: &str) -> String {
        let text = spawner::redacted(text);
        self.key.as_ref().map_or_else(|| text.clone(), |key| key.redact(&text))
    }
}
