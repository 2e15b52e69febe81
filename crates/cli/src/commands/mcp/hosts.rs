//! `--print-config`: the flags that were typed, as a host's configuration has them.

use std::{path::Path, process::ExitCode};

use mcp_server::hosts::{Host, snippet};

use crate::{
    args::{HostName, McpArgs},
    failure::Failure,
    out,
};

impl From<HostName> for Host {
    fn from(name: HostName) -> Self {
        match name {
            HostName::Claude => Self::Claude,
            HostName::Codex => Self::Codex,
            HostName::Cursor => Self::Cursor,
            HostName::Vscode => Self::Vscode,
            HostName::Goose => Self::Goose,
            HostName::Gemini => Self::Gemini,
        }
    }
}

/// Prints the snippet, and where it belongs.
pub(super) fn print(host: HostName, args: &McpArgs) -> Result<ExitCode, Failure> {
    let host = Host::from(host);
    let program = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("this program's own path: {error}")))?;
    let command = text("the program", &program)?;
    out::note(&format!("remit: for {}", host.file()));
    out::text_out(&snippet(host, &command, &flags(args)?))?;
    Ok(ExitCode::SUCCESS)
}

/// The flags, with paths that mean the same wherever the host starts the program.
fn flags(args: &McpArgs) -> Result<Vec<String>, Failure> {
    let (settings, execution) = (&args.settings, &args.execution);
    let mut flags = vec!["mcp".to_owned()];
    let paths = [
        ("--config", &settings.config),
        ("--tools", &settings.tools),
        ("--exec-workdir", &execution.exec_workdir),
        ("--audit", &execution.audit),
    ];
    for (flag, path) in paths {
        if let Some(path) = path {
            let path = std::path::absolute(path).map_err(|error| {
                Failure::Operator(format!("{flag} {}: {error}", path.display()))
            })?;
            flags.extend([flag.to_owned(), text(flag, &path)?]);
        }
    }
    if execution.execute_tools {
        flags.push("--execute-tools".to_owned());
    }
    let lists = [("--allow-tool", &execution.allow_tool), ("--ask-tool", &execution.ask_tool)];
    for (flag, names) in lists {
        flags.extend(names.iter().flat_map(|name| [flag.to_owned(), name.clone()]));
    }
    let numbers = [
        ("--exec-timeout-ms", execution.exec_timeout_ms),
        ("--exec-max-output-bytes", execution.exec_max_output_bytes),
        ("--exec-max-args-bytes", execution.exec_max_args_bytes),
    ];
    for (flag, number) in numbers {
        flags.extend(number.into_iter().flat_map(|number| [flag.to_owned(), number.to_string()]));
    }
    Ok(flags)
}

fn text(what: &str, path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::Operator(format!("{what}: the path {} is not UTF-8", path.display()))
    })
}
