//! What the flags, the environment and the file mean together.
//!
//! Contradictions and useless combinations are refused here, with the name of the flag, before any
//! model is contacted and before anything runs.

use std::path::Path;

use serde_json::Value;
use tool_core::{AuthorizationScope, ToolRegistry};
use toolset::{Config, ConfigBuilder, LayeredConfig, Origin, Toolset, create_default_registry};

use crate::{
    args::{ExecutionArgs, SettingsArgs},
    env,
    failure::Failure,
    out,
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
        if let Some(path) = settings.config.clone().or_else(env::config_file) {
            let text = std::fs::read_to_string(&path).map_err(|error| {
                Failure::Operator(format!("--config {}: {error}", path.display()))
            })?;
            builder.file(&path, &text).map_err(|error| Failure::operator(&error))?;
        }
        let unknown =
            builder.environment(env::settings()).map_err(|error| Failure::operator(&error))?;
        for name in unknown {
            out::note(&format!("remit: {name} names no setting and is ignored"));
        }
        let mut layers = Self { builder };
        layers.flags(settings, execution);
        Ok(layers)
    }

    /// Sets a key where the flag was given.
    pub(crate) fn set<T: Into<Value>>(&mut self, key: &str, value: Option<T>, flag: &'static str) {
        if let Some(value) = value {
            self.builder.set(key, value.into(), flag);
        }
    }

    fn path(&mut self, key: &str, path: Option<&Path>, flag: &'static str) {
        self.set(key, path.map(|path| path.to_string_lossy().into_owned()), flag);
    }

    fn list(&mut self, key: &str, items: &[String], flag: &'static str) {
        let items = (!items.is_empty()).then(|| Value::from(items));
        self.set(key, items, flag);
    }

    fn flags(&mut self, settings: &SettingsArgs, execution: &ExecutionArgs) {
        self.path("tools.definitions", settings.tools.as_deref(), "--tools");
        self.set("tools.execute", execution.execute_tools.then_some(true), "--execute-tools");
        self.list("tools.allow", &execution.allow_tool, "--allow-tool");
        self.list("tools.ask", &execution.ask_tool, "--ask-tool");
        self.path("tools.workdir", execution.exec_workdir.as_deref(), "--exec-workdir");
        self.path("audit.file", execution.audit.as_deref(), "--audit");
        self.set("limits.timeout_ms", execution.exec_timeout_ms, "--exec-timeout-ms");
        let (output, args) = (execution.exec_max_output_bytes, execution.exec_max_args_bytes);
        self.set("limits.max_output_bytes", output, "--exec-max-output-bytes");
        self.set("limits.max_args_bytes", args, "--exec-max-args-bytes");
        self.set("limits.jobs", execution.jobs, "--jobs");
    }

    pub(crate) fn finish(self) -> Result<Settings, Failure> {
        let layered = self.builder.build().map_err(|error| Failure::operator(&error))?;
        Ok(Settings { layered })
    }
}

/// The settings of one run, and where each came from.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) layered: LayeredConfig,
}

/// Keys that mean nothing where nothing is executed, with their flags.
const NEED_EXECUTION: [(&str, &str); 8] = [
    ("tools.allow", "--allow-tool"),
    ("tools.ask", "--ask-tool"),
    ("tools.workdir", "--exec-workdir"),
    ("audit.file", "--audit"),
    ("limits.timeout_ms", "--exec-timeout-ms"),
    ("limits.max_output_bytes", "--exec-max-output-bytes"),
    ("limits.max_args_bytes", "--exec-max-args-bytes"),
    ("limits.jobs", "--jobs"),
];

impl Settings {
    pub(crate) fn config(&self) -> &Config {
        self.layered.config()
    }

    /// A mistake, told with where the value came from.
    pub(crate) fn mistake(&self, key: &str, message: &str) -> Failure {
        match self.layered.origin(key) {
            Origin::Default => Failure::Operator(message.to_owned()),
            origin @ Origin::Flag(_) => Failure::Operator(format!("{origin}: {message}")),
            origin => Failure::Operator(format!("{origin}: {key}: {message}")),
        }
    }

    /// The tools that exist.
    pub(crate) fn registry(&self) -> Result<ToolRegistry, Failure> {
        create_default_registry(self.config())
            .map_err(|error| self.mistake(&error.key(), &Failure::operator(&error).to_string()))
    }

    /// Refuses flags that need `--execute-tools` where it is missing. What stands in a file is only
    /// not used.
    pub(crate) fn check_idle(&self) -> Result<(), Failure> {
        let is_flag = |key: &str| matches!(self.layered.origin(key), Origin::Flag(_));
        match NEED_EXECUTION.iter().find(|(key, _)| is_flag(key)) {
            None => Ok(()),
            Some((_, flag)) => Err(Failure::Operator(format!(
                "{flag} needs --execute-tools: without it nothing is executed"
            ))),
        }
    }

    /// The scope to execute in: everything named exists, can run, and is of use.
    pub(crate) fn scope(&self, registry: &ToolRegistry) -> Result<AuthorizationScope, Failure> {
        let tools = &self.config().tools;
        if tools.allow.is_empty() {
            return Err(Failure::Operator(
                "--execute-tools needs at least one --allow-tool NAME: without it every call would \
                 be refused"
                    .to_owned(),
            ));
        }
        let exists = |capability: &String| {
            registry.has(capability) || !Toolset::workdir_tools().contains(&capability.as_str())
        };
        // A tool that only lacks its directory is told so, not that it is unknown.
        let named = tools.allow.iter().filter(|capability| exists(capability));
        let scope = registry
            .scope(named)
            .map_err(|error| self.mistake("tools.allow", &error.to_string()))?;
        self.check_workdir(registry)?;
        for capability in &tools.allow {
            self.check_executable(registry, capability)?;
        }
        Ok(scope)
    }

    fn check_workdir(&self, registry: &ToolRegistry) -> Result<(), Failure> {
        let tools = &self.config().tools;
        let users = Toolset::workdir_tools();
        let allowed = tools.allow.iter().find(|name| users.contains(&name.as_str()));
        match (&tools.workdir, allowed) {
            (None, Some(name)) => {
                let message = format!("{name} needs --exec-workdir DIR, the directory it may read");
                Err(self.mistake("tools.allow", &message))
            }
            (Some(_), None) => {
                let exist: Vec<_> = users.into_iter().filter(|name| registry.has(name)).collect();
                let message = format!(
                    "a working directory is of no use: allow one of the tools that read it ({})",
                    exist.join(", ")
                );
                Err(self.mistake("tools.workdir", &message))
            }
            _ => Ok(()),
        }
    }

    fn check_executable(&self, registry: &ToolRegistry, capability: &str) -> Result<(), Failure> {
        let is_declared_only = registry.get(capability).is_some_and(|tool| !tool.is_executable());
        if !is_declared_only {
            return Ok(());
        }
        let runnable: Vec<_> = registry
            .list()
            .filter(|tool| tool.is_executable())
            .map(|tool| tool.spec().name().to_string())
            .collect();
        let message = format!(
            "{capability:?} is declared, and nothing executes it (valid: {})",
            if runnable.is_empty() { "none".to_owned() } else { runnable.join(", ") }
        );
        Err(self.mistake("tools.allow", &message))
    }

    /// The capabilities to ask a person for; each must be allowed.
    pub(crate) fn ask(
        &self,
        registry: &ToolRegistry,
        scope: &AuthorizationScope,
    ) -> Result<AuthorizationScope, Failure> {
        let asked = &self.config().tools.ask;
        let ask =
            registry.scope(asked).map_err(|error| self.mistake("tools.ask", &error.to_string()))?;
        match ask.intersect(scope) {
            both if both.is_empty() && !asked.is_empty() => {
                let message = format!("{} is not allowed, so asking for it is of no use", asked[0]);
                Err(self.mistake("tools.ask", &message))
            }
            _ => Ok(ask),
        }
    }
}
