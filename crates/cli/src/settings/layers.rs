//! The layers of the settings: file, environment, flags.

use std::path::Path;

use serde_json::Value;
use toolset::ConfigBuilder;

use super::Settings;
use crate::{
    args::{ExecutionArgs, SettingsArgs},
    env,
    failure::Failure,
    input, out,
};

/// Collects the layers: file, environment, flags. A command adds flags of its own before `finish`.
pub(crate) struct Layers {
    builder: ConfigBuilder,
}

impl Layers {
    pub(crate) fn read(
        settings: &SettingsArgs,
        execution: &ExecutionArgs,
    ) -> Result<Self, Failure> {
        let mut builder = ConfigBuilder::new();
        let by_flag = settings.config.clone().map(|path| ("--config", path));
        let named = by_flag.or_else(|| Some((env::CONFIG_FILE, env::config_file()?)));
        if let Some((what, path)) = named {
            let text = input::file(what, &path)?;
            builder.file(&path, &text).map_err(|error| Failure::operator(&error))?;
        }
        let unknown =
            builder.environment(env::settings()?).map_err(|error| Failure::operator(&error))?;
        for name in unknown {
            out::note(&format!("remit: {name} names no setting and is ignored"));
        }
        let mut layers = Self { builder };
        layers.flags(settings, execution)?;
        Ok(layers)
    }

    /// Sets a key where the flag was given.
    pub(crate) fn set<T: Into<Value>>(&mut self, key: &str, value: Option<T>, flag: &'static str) {
        if let Some(value) = value {
            self.builder.set(key, value.into(), flag);
        }
    }

    fn path(&mut self, key: &str, path: Option<&Path>, flag: &'static str) -> Result<(), Failure> {
        let Some(path) = path else { return Ok(()) };
        let text = path.to_str().ok_or_else(|| {
            Failure::Operator(format!("{flag}: the path {} is not UTF-8", path.display()))
        })?;
        self.set(key, Some(text), flag);
        Ok(())
    }

    fn list(&mut self, key: &str, items: &[String], flag: &'static str) {
        let items = (!items.is_empty()).then(|| Value::from(items));
        self.set(key, items, flag);
    }

    fn flags(&mut self, settings: &SettingsArgs, execution: &ExecutionArgs) -> Result<(), Failure> {
        self.path("tools.definitions", settings.tools.as_deref(), "--tools")?;
        self.set("tools.execute", execution.execute_tools.then_some(true), "--execute-tools");
        self.list("tools.allow", &execution.allow_tool, "--allow-tool");
        self.list("tools.ask", &execution.ask_tool, "--ask-tool");
        self.path("tools.workdir", execution.exec_workdir.as_deref(), "--exec-workdir")?;
        self.path("audit.file", execution.audit.as_deref(), "--audit")?;
        self.set("limits.timeout_ms", execution.exec_timeout_ms, "--exec-timeout-ms");
        let (output, args) = (execution.exec_max_output_bytes, execution.exec_max_args_bytes);
        self.set("limits.max_output_bytes", output, "--exec-max-output-bytes");
        self.set("limits.max_args_bytes", args, "--exec-max-args-bytes");
        self.set("limits.jobs", execution.jobs, "--jobs");
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Settings, Failure> {
        let layered = self.builder.build().map_err(|error| Failure::operator(&error))?;
        Ok(Settings { layered: layered.with_engine_environment(env::engine()) })
    }
}
