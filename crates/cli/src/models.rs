//! The models that settings and flags mean.

use std::sync::Arc;

use model::{Model, ModelConfig, Sampling, ScriptedModel};
use rlm_backend::QueryModels;

use crate::{
    args::{ModelArgs, Provider},
    env,
    failure::Failure,
    input, out,
    settings::{Layers, Settings},
};

/// Sets what the flags of a model say.
pub(crate) fn set_flags(layers: &mut Layers, model: &ModelArgs) {
    let provider = model.provider.map(|provider| match provider {
        Provider::Openai => "openai",
        Provider::Anthropic => "anthropic",
    });
    layers.set("model.provider", provider, "--provider");
    layers.set("model.name", model.model.clone(), "--model");
    layers.set("model.url", model.model_url.clone(), "--model-url");
    layers.set("model.temperature", model.temperature, "--temperature");
    layers.set("model.seed", model.seed, "--seed");
    layers.set("model.max_tokens", model.max_tokens, "--max-tokens");
}

/// The replies of a file, where one is to be replayed instead of asking a model.
pub(crate) fn replayed(args: &ModelArgs) -> Result<Option<Arc<dyn Model>>, Failure> {
    let Some(path) = &args.replay else { return Ok(None) };
    let script = input::file("--replay", path)?;
    let model = ScriptedModel::from_jsonl(path.to_string_lossy(), &script)
        .map_err(|e| Failure::Operator(format!("--replay: {}: {e}", path.display())))?;
    Ok(Some(Arc::new(model)))
}

/// The model of the settings; `command` is what needs one.
pub(crate) fn configured(settings: &Settings, command: &str) -> Result<Arc<dyn Model>, Failure> {
    let mut config = settings.config().model.clone();
    if config.name.is_none() {
        return Err(Failure::Operator(format!(
            "{command} needs a model: --model NAME (with --model-url URL), or --replay FILE"
        )));
    }
    config.stream |= out::is_terminal_err() && !settings.is_set("model.stream");
    build(settings, &config)
}

fn build(settings: &Settings, config: &ModelConfig) -> Result<Arc<dyn Model>, Failure> {
    let key = env::api_key(config.key_env())?;
    config.build(key).map_err(|error| settings.wrong("model", &error))
}

pub(crate) fn sampling(settings: &Settings) -> Sampling {
    let model = &settings.config().model;
    Sampling { temperature: model.temperature, seed: model.seed, max_tokens: model.max_tokens }
}

/// The models of recursive queries, where one of them is given and the others are of its provider.
pub(crate) fn of_queries(
    settings: &Settings,
    root: Arc<dyn Model>,
) -> Result<QueryModels, Failure> {
    let config = settings.config();
    let named = |name: &String| {
        let config = ModelConfig { name: Some(name.clone()), ..config.model.clone() };
        build(settings, &config)
    };
    let mut models = QueryModels::new(root).with_sampling(sampling(settings));
    for name in &config.query.models {
        models = models.with_named(named(name)?);
    }
    if let Some(leaf) = &config.query.leaf_model {
        models = models.with_leaf(named(leaf)?);
    }
    Ok(models)
}

/// The models of recursive queries as a tool, or what is missing.
pub(crate) fn of_tool(settings: &Settings) -> Result<QueryModels, String> {
    if !settings.config().sandbox.enabled {
        return Err("there are no sessions".to_owned());
    }
    if settings.config().model.name.is_none() {
        return Err("no model is configured for recursive queries; name one in [model]".to_owned());
    }
    let models = build(settings, &settings.config().model).and_then(|it| of_queries(settings, it));
    models.map_err(|failure| failure.to_string())
}
