//! From a configuration to the tools that exist.
//!
//! Without a definition file every built-in tool exists that the configuration gives what it needs
//! (a working directory, a table). With one, the file is the closed list: a declared tool that a
//! built-in of the same name executes must fit both schemas; any other is declared only, so it can be
//! listed and refused, and is never executed.

use std::{io, path::PathBuf, sync::Arc};

use sandbox::{
    BlockingPool, ExecutorTool, LimitsConfigError, ListDirInWorkdir, ReadFileInWorkdir,
    SearchInWorkdir, StaticLookup, ToolExecutor, Workdir, WorkdirError,
};
use tool_core::{
    DefinitionsError, DefinitionsLimits, NameError, RegisterError, Tool, ToolName, ToolRegistry,
    ToolSpec, load_definitions, parse_strict,
};

use crate::Config;

/// A configuration whose tools can't be made.
#[derive(Debug, thiserror::Error)]
pub enum ToolsetError {
    /// A bad limit.
    #[error(transparent)]
    Limits(#[from] LimitsConfigError),
    /// A file or directory that can't be read.
    #[error("{path:?} can't be used")]
    Path {
        /// The key that names it.
        key: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A definition file that does not fit.
    #[error("{path:?} is no definition file")]
    Definitions {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        #[source]
        source: DefinitionsError,
    },
    /// A definition file with one definition a line.
    #[error(
        "{path:?} holds one JSON value a line; a definition file is one value, so put the tools into \
         an array: [{{…}}, {{…}}]"
    )]
    Lines {
        /// The file.
        path: PathBuf,
    },
    /// A tool that can't be registered.
    #[error("a tool can't be registered")]
    Register {
        /// The key that asks for it.
        key: &'static str,
        /// What is wrong with it.
        #[source]
        source: RegisterError,
    },
    /// A working directory that can't be used.
    #[error(transparent)]
    Workdir(#[from] WorkdirError),
    /// A tool whose name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A lookup table whose name is none.
    #[error("a lookup table")]
    Lookup(#[source] NameError),
    /// A lookup table with the name of another tool.
    #[error("{name:?} is the name of a built-in tool; give the table another")]
    Taken {
        /// The name.
        name: String,
    },
    /// A tool that is not part of this build.
    #[error("this build of remit has no {section} tool; leave it false")]
    NotBuilt {
        /// The section that asks for it.
        section: &'static str,
    },
}

impl ToolsetError {
    /// The configuration key whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Limits(error) => error.key().to_owned(),
            Self::Path { key, .. } => (*key).to_owned(),
            Self::Definitions { .. } | Self::Lines { .. } => "tools.definitions".to_owned(),
            Self::Register { key, .. } => (*key).to_owned(),
            Self::Workdir(_) => "tools.workdir".to_owned(),
            Self::Name(_) => "tools".to_owned(),
            Self::Lookup(_) => "tools.lookup".to_owned(),
            Self::Taken { name } => format!("tools.lookup.{name}"),
            Self::NotBuilt { section } => format!("{section}.enabled"),
        }
    }
}

/// Makes the registry that a configuration asks for.
///
/// # Errors
/// An operator's mistake, with the key that holds it.
pub fn create_default_registry(config: &Config) -> Result<ToolRegistry, ToolsetError> {
    Toolset::new(config).map(|toolset| toolset.registry)
}

/// The registry of a configuration, and the names of what is built in.
#[derive(Debug)]
pub struct Toolset {
    registry: ToolRegistry,
}

impl Toolset {
    /// Makes the tools.
    ///
    /// # Errors
    /// An operator's mistake, with the key that holds it.
    pub fn new(config: &Config) -> Result<Self, ToolsetError> {
        check_reserved(config)?;
        let builtins = builtins(config)?;
        let registry = match &config.tools.definitions {
            None => register_all(builtins)?,
            Some(path) => register_declared(path, builtins)?,
        };
        Ok(Self { registry })
    }

    /// The tools that exist.
    #[must_use]
    pub fn into_registry(self) -> ToolRegistry {
        self.registry
    }

    /// The tools that need a working directory.
    #[must_use]
    pub fn workdir_tools() -> [&'static str; 3] {
        ["read_file_in_workdir", "list_dir_in_workdir", "search_in_workdir"]
    }
}

fn check_reserved(config: &Config) -> Result<(), ToolsetError> {
    let sections = [
        ("sandbox", &config.sandbox),
        ("subagent", &config.subagent),
        ("browser", &config.browser),
    ];
    match sections.into_iter().find(|(_, reserved)| reserved.enabled) {
        None => Ok(()),
        Some((section, _)) => Err(ToolsetError::NotBuilt { section }),
    }
}

type Builtins = Vec<Arc<dyn Tool>>;

fn builtins(config: &Config) -> Result<Builtins, ToolsetError> {
    let pool = BlockingPool::new(config.limits.pool()?);
    let mut tools: Builtins = Vec::new();
    if let Some(path) = &config.tools.workdir {
        let workdir = Arc::new(Workdir::open(path)?);
        let mut add = |spec: &ToolSpec, executor: Arc<dyn ToolExecutor>| {
            let tool = ExecutorTool::new(spec.clone(), executor, pool.clone());
            tool.map(|tool| tools.push(Arc::new(tool))).map_err(at("tools"))
        };
        let read = ReadFileInWorkdir::new(Arc::clone(&workdir))?;
        let list = ListDirInWorkdir::new(Arc::clone(&workdir))?;
        let search = SearchInWorkdir::new(workdir)?;
        add(&read.spec().clone(), Arc::new(read))?;
        add(&list.spec().clone(), Arc::new(list))?;
        add(&search.spec().clone(), Arc::new(search))?;
    }
    for (name, table) in &config.tools.lookup {
        // Also where there is no working directory: a name means one thing.
        if Toolset::workdir_tools().contains(&name.as_str()) {
            return Err(ToolsetError::Taken { name: name.clone() });
        }
        let entries = table.iter().map(|(key, value)| (key.clone(), value.clone()));
        let lookup = StaticLookup::new(name, entries).map_err(ToolsetError::Lookup)?;
        tools.push(Arc::new(lookup));
    }
    Ok(tools)
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

fn register_declared(path: &PathBuf, builtins: Builtins) -> Result<ToolRegistry, ToolsetError> {
    let file = read_bounded(path).map_err(|source| ToolsetError::Path {
        key: "tools.definitions",
        path: path.clone(),
        source,
    })?;
    let specs = load_definitions(&file, DefinitionsLimits::default()).map_err(|source| {
        let path = path.clone();
        match source {
            DefinitionsError::NotJson(_) if is_lines(&file) => ToolsetError::Lines { path },
            source => ToolsetError::Definitions { path, source },
        }
    })?;
    let executes = |name: &ToolName| builtins.iter().find(|tool| tool.name() == name);
    let mut registry = ToolRegistry::new();
    for spec in specs {
        let added = match executes(spec.name()) {
            Some(tool) => registry.register_declared(&spec, Arc::clone(tool)),
            None => registry.declare(spec),
        };
        added.map_err(at("tools.definitions"))?;
    }
    Ok(registry)
}

/// Whether a file that is not JSON has a JSON object on its first line: JSON lines.
fn is_lines(file: &[u8]) -> bool {
    let first = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
    str::from_utf8(first).is_ok_and(|line| parse_strict(line).is_ok_and(|value| value.is_object()))
}

/// Reads at most one byte more than a definition file may have, so that a device or a huge file is
/// refused by its size and not read to the end.
fn read_bounded(path: &PathBuf) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let file = std::fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    file.take(DefinitionsLimits::default().max_bytes.0 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
