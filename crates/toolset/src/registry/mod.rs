//! From a configuration to the tools that exist.
//!
//! Without a definition file every built-in tool exists that the configuration gives what it needs
//! (a working directory, a table). With one, the file is the closed list: a declared tool that a
//! built-in of the same name executes must fit both schemas; any other is declared only, so it can be
//! listed and refused, and is never executed.

mod declared;
mod error;
mod session_tools;

use std::{path::Path, sync::Arc};

use browser::BrowserTool;
use rlm_backend::{QueryEngine, QueryModels, SandboxTool};
use sandbox::{
    BlockingPool, ExecutorTool, ListDirInWorkdir, ReadFileInWorkdir, SearchInWorkdir, StaticLookup,
    ToolExecutor, Workdir,
};
use spawner::{AgentHost, NoHost, SubagentTool};
use tool_core::{RegisterError, Tool, ToolRegistry, ToolSpec};

use self::declared::register_declared;
pub use self::{error::ToolsetError, session_tools::offer_to_queries};
use crate::{Config, command::CommandTool};

/// Makes the registry that a configuration asks for.
///
/// # Errors
/// An operator's mistake, with the key that holds it.
pub fn create_default_registry(config: &Config) -> Result<ToolRegistry, ToolsetError> {
    Toolset::new(config).map(|toolset| toolset.registry)
}

const NO_MODELS: &str = "no models are given to recursive queries here";

/// The registry of a configuration, and the names of what is built in.
#[derive(Debug)]
pub struct Toolset {
    registry: ToolRegistry,
    queries: Option<QueryEngine>,
    agents: Option<Arc<SubagentTool>>,
}

impl Toolset {
    /// Makes the tools.
    ///
    /// # Errors
    /// An operator's mistake, with the key that holds it.
    pub fn new(config: &Config) -> Result<Self, ToolsetError> {
        Self::with_host(config, Arc::new(NoHost))
    }

    /// Makes the tools, with what sub-agents need of the program around them.
    ///
    /// # Errors
    /// An operator's mistake, with the key that holds it.
    pub fn with_host(config: &Config, host: Arc<dyn AgentHost>) -> Result<Self, ToolsetError> {
        Self::with_queries(config, host, Err(NO_MODELS.to_owned()))
    }

    /// The same with recursive queries, which ask these models, or say why they can't be had.
    ///
    /// # Errors
    /// An operator's mistake, with the key that holds it.
    pub fn with_queries(
        config: &Config,
        host: Arc<dyn AgentHost>,
        models: Result<QueryModels, String>,
    ) -> Result<Self, ToolsetError> {
        Self::make(config, Agents::Of(host), models)
    }

    /// Makes the tools of a sub-agent: new ones, so that it shares no session with anybody. `subagent` is
    /// its own view of the agents, where it may start some.
    ///
    /// # Errors
    /// An operator's mistake, with the key that holds it.
    pub fn for_agent(
        config: &Config,
        subagent: Option<Arc<dyn Tool>>,
    ) -> Result<Self, ToolsetError> {
        Self::make(config, Agents::Given(subagent), Err(NO_MODELS.to_owned()))
    }

    fn make(
        config: &Config,
        agents: Agents,
        models: Result<QueryModels, String>,
    ) -> Result<Self, ToolsetError> {
        let (makers, agents) = builtins(config, agents, models)?;
        let Makers { tools: builtins, queries, .. } = makers;
        let registry = match &config.tools.definitions {
            None => register_all(builtins)?,
            Some(path) => register_declared(path, builtins)?,
        };
        Ok(Self { registry, queries, agents })
    }

    /// What runs recursive queries, where they can be had.
    #[must_use]
    pub fn queries(&self) -> Option<&QueryEngine> {
        self.queries.as_ref()
    }

    /// The tools that exist.
    #[must_use]
    pub fn into_registry(self) -> ToolRegistry {
        self.registry
    }

    /// The sub-agents, where there are any: they end with the tools, and can be ended before.
    #[must_use]
    pub fn agents(&self) -> Option<Arc<SubagentTool>> {
        self.agents.clone()
    }

    /// The tools that need a working directory.
    #[must_use]
    pub fn workdir_tools() -> [&'static str; 3] {
        ["read_file_in_workdir", "list_dir_in_workdir", "search_in_workdir"]
    }
}

/// The name of the tool of `[subagent]`.
const AGENTS: &str = "subagent";
/// The name of the tool of `[browser]`.
const WEB: &str = "browser";

/// Where the tool of `[subagent]` comes from.
enum Agents {
    /// It is made, over this program.
    Of(Arc<dyn AgentHost>),
    /// It is there, or there is none.
    Given(Option<Arc<dyn Tool>>),
}

type Builtins = Vec<Arc<dyn Tool>>;

fn builtins(
    config: &Config,
    agents: Agents,
    models: Result<QueryModels, String>,
) -> Result<(Makers, Option<Arc<SubagentTool>>), ToolsetError> {
    let pool = BlockingPool::new(config.limits.pool()?);
    let mut makers = Makers { pool, tools: Vec::new(), queries: None };
    if let Some(path) = &config.tools.workdir {
        makers.workdir(path)?;
    }
    makers.lookups(config)?;
    makers.commands(config)?;
    makers.sessions(config, models)?;
    makers.web(config)?;
    let agents = makers.agents(config, agents)?;
    Ok((makers, agents))
}

/// Collects the tools that the configuration gives what they need.
struct Makers {
    pool: BlockingPool,
    tools: Builtins,
    queries: Option<QueryEngine>,
}

impl Makers {
    fn workdir(&mut self, path: &Path) -> Result<(), ToolsetError> {
        let workdir = Arc::new(Workdir::open(path)?);
        let read = ReadFileInWorkdir::new(Arc::clone(&workdir))?;
        let list = ListDirInWorkdir::new(Arc::clone(&workdir))?;
        let search = SearchInWorkdir::new(workdir)?;
        self.blocking(&read.spec().clone(), Arc::new(read))?;
        self.blocking(&list.spec().clone(), Arc::new(list))?;
        self.blocking(&search.spec().clone(), Arc::new(search))
    }

    fn lookups(&mut self, config: &Config) -> Result<(), ToolsetError> {
        for (name, table) in &config.tools.lookup {
            check_free("lookup", name)?;
            let entries = table.iter().map(|(key, value)| (key.clone(), value.clone()));
            let lookup = StaticLookup::new(name, entries).map_err(ToolsetError::Lookup)?;
            self.tools.push(Arc::new(lookup));
        }
        Ok(())
    }

    fn commands(&mut self, config: &Config) -> Result<(), ToolsetError> {
        for (name, command) in &config.tools.command {
            check_free("command", name)?;
            let Some(workdir) = &config.tools.workdir else {
                return Err(ToolsetError::NoWorkdir { name: name.clone() });
            };
            let tool = CommandTool::new(name, command, workdir)
                .map_err(|source| ToolsetError::Command { name: name.clone(), source })?;
            self.blocking(&tool.spec().clone(), Arc::new(tool))?;
        }
        Ok(())
    }

    fn sessions(
        &mut self,
        config: &Config,
        models: Result<QueryModels, String>,
    ) -> Result<(), ToolsetError> {
        if config.sandbox.enabled {
            let tool =
                session_tools::sandbox_tool(config, models).map_err(ToolsetError::Sessions)?;
            self.queries = tool.queries().cloned();
            if config.sandbox.separate_tools {
                self.tools.extend(tool.separate().map_err(ToolsetError::Sessions)?);
            }
            self.tools.push(Arc::new(tool));
        }
        Ok(())
    }

    fn web(&mut self, config: &Config) -> Result<(), ToolsetError> {
        if config.browser.enabled {
            let tool = BrowserTool::new(&config.browser).map_err(ToolsetError::Browser)?;
            self.tools.push(Arc::new(tool));
        }
        Ok(())
    }

    fn agents(
        &mut self,
        config: &Config,
        agents: Agents,
    ) -> Result<Option<Arc<SubagentTool>>, ToolsetError> {
        let host = match agents {
            Agents::Of(host) => host,
            Agents::Given(tool) => {
                self.tools.extend(tool);
                return Ok(None);
            }
        };
        if !config.subagent.enabled {
            return Ok(None);
        }
        let mut section = config.subagent.clone();
        section.workdir = section.workdir.or_else(|| config.tools.workdir.clone());
        let tool = Arc::new(SubagentTool::new(section, host).map_err(ToolsetError::Agents)?);
        self.tools.push(Arc::clone(&tool) as Arc<dyn Tool>);
        Ok(Some(tool))
    }

    fn blocking(
        &mut self,
        spec: &ToolSpec,
        executor: Arc<dyn ToolExecutor>,
    ) -> Result<(), ToolsetError> {
        let tool = ExecutorTool::new(spec.clone(), executor, self.pool.clone());
        self.tools.push(Arc::new(tool.map_err(at("tools"))?));
        Ok(())
    }
}

/// Also where there is no working directory: a name means one thing.
fn check_free(kind: &'static str, name: &str) -> Result<(), ToolsetError> {
    let is_taken = SandboxTool::names().contains(&name) || [AGENTS, WEB].contains(&name);
    if is_taken || Toolset::workdir_tools().contains(&name) {
        return Err(ToolsetError::Taken { kind, name: name.to_owned() });
    }
    Ok(())
}

fn at(key: &'static str) -> impl FnOnce(RegisterError) -> ToolsetError {
    move |source| ToolsetError::Register { key, source }
}

fn register_all(builtins: Builtins) -> Result<ToolRegistry, ToolsetError> {
    let mut registry = ToolRegistry::new();
    for tool in builtins {
        registry.register(tool).map_err(at("tools"))?;
    }
    Ok(registry)
}
