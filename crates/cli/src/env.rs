//! The environment: the one place that reads it.

#![expect(clippy::disallowed_methods, reason = "this is the door that the fence names")]

use model::ApiKey;
use rlm_backend::EngineEnvironment;

use crate::failure::Failure;

/// The variables that are not configuration keys.
const OWN: [&str; 3] = ["REMIT_LOG", CONFIG_FILE, MCP_TOKEN];

/// The variable that names the configuration file.
pub(crate) const CONFIG_FILE: &str = "REMIT_CONFIG";

/// The variable that holds the bearer token of `remit mcp --http`.
pub(crate) const MCP_TOKEN: &str = "REMIT_MCP_TOKEN";

/// Every variable that may name a configuration key.
pub(crate) fn settings() -> Result<Vec<(String, String)>, Failure> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with("REMIT_") && !OWN.contains(&name.as_str()))
        .map(|(name, value)| match value.into_string() {
            Ok(value) => Ok((name, value)),
            Err(_) => Err(Failure::Operator(format!("{name}: the value is not UTF-8"))),
        })
        .collect()
}

/// The filter for logs.
pub(crate) fn log_filter() -> Option<String> {
    std::env::var("REMIT_LOG").ok().filter(|filter| !filter.is_empty())
}

/// The configuration file, where no flag names one.
pub(crate) fn config_file() -> Option<std::path::PathBuf> {
    std::env::var_os(CONFIG_FILE).filter(|path| !path.is_empty()).map(Into::into)
}

/// The bearer token, where the environment has one.
pub(crate) fn mcp_token() -> Option<String> {
    std::env::var(MCP_TOKEN).ok().filter(|token| !token.is_empty())
}

/// A variable that the operator's configuration names for a child, or `PATH`.
pub(crate) fn named(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// Where the records of sub-agents are kept, where the configuration says nothing: the user's state
/// folder.
pub(crate) fn agents_folder() -> Option<std::path::PathBuf> {
    let absolute = |name: &str| {
        let path = std::path::PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|state| state.join("remit/agents"))
}

/// What the environment says of container engines, as the `docker` command reads it.
pub(crate) fn engine() -> EngineEnvironment {
    let variable = |name: &str| std::env::var(name).ok();
    EngineEnvironment {
        docker_host: variable("DOCKER_HOST"),
        docker_context: variable("DOCKER_CONTEXT"),
        docker_config: variable("DOCKER_CONFIG"),
        docker_cert_path: variable("DOCKER_CERT_PATH"),
        docker_tls_verify: variable("DOCKER_TLS_VERIFY"),
        container_host: variable("CONTAINER_HOST"),
        xdg_runtime_dir: variable("XDG_RUNTIME_DIR"),
        home: variable("HOME"),
        path: variable("PATH"),
        ssh_auth_sock: variable("SSH_AUTH_SOCK"),
    }
}

/// The key of a model, from the variable of this name.
pub(crate) fn api_key(variable: &str) -> Result<Option<ApiKey>, Failure> {
    let Ok(key) = std::env::var(variable) else { return Ok(None) };
    if key.trim().is_empty() {
        return Ok(None);
    }
    ApiKey::new(key)
        .map(Some)
        .map_err(|error| Failure::Operator(format!("the key in {variable} can't be used: {error}")))
}
