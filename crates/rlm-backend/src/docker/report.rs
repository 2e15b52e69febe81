//! What is enforced on a container, as its engine tells it after the start.

use bollard::models::{ContainerInspectResponse, SystemInfo};
use serde_json::{Value, json};

use super::{connect::Engine, requirements};

/// What the engine says of a container; null where it says nothing.
pub(super) async fn of(engine: &Engine, id: &str, info: SystemInfo) -> Value {
    let found = engine.docker.inspect_container(id, None).await;
    let Ok(found) = found else { return Value::Null };
    told(engine, found, info)
}

fn told(engine: &Engine, found: ContainerInspectResponse, info: SystemInfo) -> Value {
    let name = found.name.as_deref().map(|name| name.trim_start_matches('/'));
    let host = found.host_config.unwrap_or_default();
    let user = found.config.and_then(|config| config.user);
    let security = &info.security_options;
    json!({
        "backend": "docker",
        "engine": engine.place,
        "container": name,
        "version": engine.version.version,
        "runtime": host.runtime.as_ref().or(info.default_runtime.as_ref()),
        "network": host.network_mode,
        "read_only_root": host.readonly_rootfs,
        "user": user,
        "capabilities_dropped": host.cap_drop,
        "capabilities_added": host.cap_add,
        "privileged": host.privileged,
        "security_options": host.security_opt,
        "engine_security": security,
        "memory_bytes": host.memory,
        "memory_and_swap_bytes": host.memory_swap,
        "processes": host.pids_limit,
        "cpu_nanos": host.nano_cpus,
        "not_limited": requirements::unlimited(&info),
    })
}
