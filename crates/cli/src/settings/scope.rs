//! What may be called, and for what a person is asked: everything named exists, can run, and is of use.

use tool_core::{AuthorizationScope, ToolRegistry, UnknownCapability};
use toolset::{Config, Toolset};

use super::Settings;
use crate::failure::Failure;

impl Settings {
    /// The scope to execute in.
    pub(crate) fn scope(&self, registry: &ToolRegistry) -> Result<AuthorizationScope, Failure> {
        let allow = &self.config().tools.allow;
        if allow.is_empty() {
            let message = "--execute-tools needs at least one --allow-tool NAME: without it every \
                           call would be refused";
            return Err(Failure::Operator(message.to_owned()));
        }
        self.check_workdir_given(registry)?;
        let scope = self.known("tools.allow", registry, allow)?;
        self.check_workdir_used(registry)?;
        allow.iter().try_for_each(|capability| self.check_executable(registry, capability))?;
        Ok(scope)
    }

    /// The scope of these capabilities, each of which must exist.
    pub(crate) fn known(
        &self,
        key: &str,
        registry: &ToolRegistry,
        capabilities: &[String],
    ) -> Result<AuthorizationScope, Failure> {
        registry
            .scope(capabilities)
            .map_err(|error| self.mistake(key, &unknown(registry, &error, capabilities)))
    }

    /// A tool that only lacks its directory is told so, not that it is unknown.
    fn check_workdir_given(&self, registry: &ToolRegistry) -> Result<(), Failure> {
        let tools = &self.config().tools;
        let is_lacking = |name: &&String| {
            is_workdir_tool(self.config(), name)
                && (tools.definitions.is_none() || registry.has(name))
        };
        match tools.allow.iter().find(is_lacking) {
            Some(name) if tools.workdir.is_none() => {
                let message = format!("{name} needs --exec-workdir DIR, the directory it may read");
                Err(self.mistake("tools.allow", &message))
            }
            _ => Ok(()),
        }
    }

    /// A directory in a file may be for other runs; one that was typed is for this one.
    fn check_workdir_used(&self, registry: &ToolRegistry) -> Result<(), Failure> {
        let config = self.config();
        let is_agents =
            |name: &str| config.subagent.enabled && name.split('.').next() == Some("subagent");
        let is_used =
            config.tools.allow.iter().any(|name| is_workdir_tool(config, name) || is_agents(name));
        if is_used || !self.is_flag("tools.workdir") {
            return Ok(());
        }
        let users = Toolset::workdir_tools();
        let mut exist: Vec<_> = users.into_iter().filter(|name| registry.has(name)).collect();
        exist.sort_unstable();
        let message = format!(
            "a working directory is of no use: allow one of the tools that read it ({})",
            or_none(&exist)
        );
        Err(self.mistake("tools.workdir", &message))
    }

    fn check_executable(&self, registry: &ToolRegistry, capability: &str) -> Result<(), Failure> {
        let is_declared_only = registry.get(capability).is_some_and(|tool| !tool.is_executable());
        if !is_declared_only {
            return Ok(());
        }
        let executable = registry.list().filter(|tool| tool.is_executable());
        let mut names: Vec<_> = executable.map(|tool| tool.spec().name().as_str()).collect();
        names.sort_unstable();
        let message = format!(
            "{capability:?} is declared, and nothing executes it (valid: {})",
            or_none(&names)
        );
        Err(self.mistake("tools.allow", &message))
    }

    /// The capabilities to ask a person for. One that was typed must be allowed; a file may hold them
    /// for other runs.
    pub(crate) fn ask(
        &self,
        registry: &ToolRegistry,
        scope: &AuthorizationScope,
    ) -> Result<AuthorizationScope, Failure> {
        let asked = &self.config().tools.ask;
        let ask = self.known("tools.ask", registry, asked)?;
        if self.is_flag("tools.ask") {
            for capability in asked {
                let one = self.known("tools.ask", registry, std::slice::from_ref(capability))?;
                if one.intersect(scope).is_empty() {
                    let message = format!(
                        "{capability} is not allowed, so asking for it is of no use; allow it with \
                         --allow-tool"
                    );
                    return Err(self.mistake("tools.ask", &message));
                }
            }
        }
        Ok(ask)
    }
}

/// Whether the tool is there only with a working directory.
fn is_workdir_tool(config: &Config, name: &str) -> bool {
    Toolset::workdir_tools().contains(&name) || config.tools.command.contains_key(name)
}

fn or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Where no tool exists at all, how to get one.
fn unknown(registry: &ToolRegistry, error: &UnknownCapability, capabilities: &[String]) -> String {
    match capabilities.first() {
        Some(first) if registry.is_empty() => format!(
            "{first:?} names no tool, because none exists: --exec-workdir DIR gives {}, --tools FILE \
             declares others",
            Toolset::workdir_tools().join(", ")
        ),
        _ => error.to_string(),
    }
}
