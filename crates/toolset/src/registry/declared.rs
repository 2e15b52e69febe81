//! A definition file as the closed list of tools.

use std::{io, path::PathBuf, sync::Arc};

use tool_core::{
    DefinitionsError, DefinitionsLimits, ToolName, ToolRegistry, load_definitions, parse_strict,
};

use super::{Builtins, ToolsetError, at};

/// The registry of a definition file: its tools, and no other.
pub(super) fn register_declared(
    path: &PathBuf,
    builtins: Builtins,
) -> Result<ToolRegistry, ToolsetError> {
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
