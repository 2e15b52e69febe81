//! What the engine makes of the settings, by its own word and from within a container.

use std::{collections::HashMap, time::Duration};

use bollard::{
    Docker,
    models::{ContainerInspectResponse, HostConfig},
    query_parameters::{
        CreateContainerOptions, InspectContainerOptions, RemoveContainerOptions,
        StartContainerOptions,
    },
};
use futures_util::StreamExt;
use testkit::docker::{IMAGE, engine};

use super::{Plan, container, limits};
use crate::{DockerConfig, SandboxConfig, docker::connect::connect};

/// What looks at the container from within, and prints a JSON object.
const WITNESS: &str = r#"
import json, os, resource, socket
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
mounts = {fields[1]: fields[3] for fields in map(str.split, open("/proc/self/mounts"))}
def fails(what):
    try:
        what()
    except OSError as error:
        return os.strerror(error.errno)
    return None
def size(path):
    found = os.statvfs(path)
    return found.f_blocks * found.f_frsize
def fill():
    with open("/workdir/full", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
print(json.dumps({
    "uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(), "environment": dict(os.environ),
    "cwd": os.getcwd(), "host": socket.gethostname(),
    "capabilities": [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no_new_privs": status["NoNewPrivs"], "seccomp": status["Seccomp"],
    "interfaces": sorted(name for _, name in socket.if_nameindex()),
    "root": mounts["/"].split(",")[0], "write_root": fails(lambda: open("/usr/x", "w")),
    "full": fails(fill), "sizes": [size("/workdir"), size("/tmp")],
    "files": resource.getrlimit(resource.RLIMIT_NOFILE), "core": resource.getrlimit(resource.RLIMIT_CORE),
    "first": open("/proc/1/comm").read().strip(),
    "devices": sorted(name for name in os.listdir("/dev") if not os.path.isdir("/dev/" + name)),
}), flush=True)
"#;

fn config(host: String) -> SandboxConfig {
    SandboxConfig {
        memory_bytes: 128 << 20,
        processes: 32,
        cpu_percent: Some(50),
        disk_bytes: 8 << 20,
        docker: DockerConfig {
            host: Some(host),
            open_files: 99,
            tmp_bytes: 2 << 20,
            ..DockerConfig::default()
        },
        ..SandboxConfig::default()
    }
}

/// A container that runs the witness; gives what the engine says of it, and what it printed.
async fn inspected(docker: &Docker, config: &SandboxConfig) -> (ContainerInspectResponse, String) {
    let plan = Plan {
        config,
        image: IMAGE,
        image_environment: &["PATH=/usr/bin:/bin".to_owned(), "REMIT_TEST_IMAGE=canary".to_owned()],
        image_volumes: &["/data".to_owned()],
        labels: HashMap::from([("remit.test".to_owned(), "settings".to_owned())]),
        command: ["python3", "-c", &format!("{WITNESS}\ninput()")].map(str::to_owned).to_vec(),
        user: (1234, 4321),
        gives_owners: true,
        reading: &[],
        mounts: &[],
    };
    let id = docker.create_container(None::<CreateContainerOptions>, container(&plan));
    let id = id.await.unwrap().id;
    let attached = docker.attach_container(
        &id,
        Some(bollard::query_parameters::AttachContainerOptions {
            stdin: true,
            stdout: true,
            stderr: true,
            stream: true,
            ..Default::default()
        }),
    );
    let mut attached = attached.await.unwrap();
    docker.start_container(&id, None::<StartContainerOptions>).await.unwrap();
    let mut printed = String::new();
    while !printed.ends_with('\n') {
        let next = tokio::time::timeout(Duration::from_secs(30), attached.output.next()).await;
        printed.push_str(&next.unwrap().unwrap().unwrap().to_string());
    }
    let found = docker.inspect_container(&id, None::<InspectContainerOptions>).await.unwrap();
    let force = Some(RemoveContainerOptions { force: true, ..Default::default() });
    docker.remove_container(&id, force).await.unwrap();
    (found, printed)
}

#[tokio::test]
async fn what_was_asked_is_what_the_engine_sets_and_a_container_finds() {
    let Some(engine) = engine() else { return };
    let config = config(engine.host());
    let docker = connect(&config.docker).await.unwrap().docker;
    let (found, printed) = inspected(&docker, &config).await;
    check_host(&found.host_config.unwrap());
    let seen: serde_json::Value = serde_json::from_str(&printed).expect(&printed);
    let none = "0000000000000000";
    let environment = ["HOME", "LANG", "PATH", "TMPDIR", "TZ"];
    let mut names: Vec<_> = seen["environment"].as_object().unwrap().keys().cloned().collect();
    // The engine's own word for the container, which it always gives.
    names.retain(|name| name != "HOSTNAME" && name != "LC_CTYPE");
    names.sort_unstable();
    assert_eq!(names, environment, "{seen}");
    // In whole pages, as the kernel counts.
    let workdir = limits::workdir_bytes(&config).next_multiple_of(4096);
    let expected = serde_json::json!({
        "uid": 1234, "gid": 4321, "cwd": "/workdir", "host": "session",
        "capabilities": [none, none, none, none, none], "no_new_privs": "1", "seccomp": "2",
        "interfaces": ["lo"], "root": "ro", "write_root": "Read-only file system",
        "full": "No space left on device", "sizes": [workdir, 2 << 20],
        "files": [99, 99], "core": [0, 0],
        "devices": ["console", "core", "fd", "full", "null", "ptmx", "random", "stderr", "stdin",
                    "stdout", "tty", "urandom", "zero"],
    });
    for (name, expected) in expected.as_object().unwrap() {
        let found = &seen[name];
        let is_same = found == expected || (name == "devices" && is_part(found, expected));
        assert!(is_same, "{name}: {found}, not {expected}");
    }
    assert!(["docker-init", "tini"].contains(&seen["first"].as_str().unwrap()), "{seen}");
    assert_eq!(seen["groups"].as_array().unwrap().iter().filter(|it| **it != 4321).count(), 0);
}

/// Whether all of a list is in another.
fn is_part(found: &serde_json::Value, of: &serde_json::Value) -> bool {
    let of = of.as_array().unwrap();
    found.as_array().unwrap().iter().all(|one| of.contains(one))
}

fn check_host(host: &HostConfig) {
    assert_eq!(host.memory, Some(128 << 20));
    assert_eq!(host.memory_swap, host.memory);
    assert_eq!(host.pids_limit, Some(32));
    assert_eq!(host.nano_cpus, Some(500_000_000));
    assert_eq!(host.cap_drop.as_deref(), Some(&["ALL".to_owned()][..]));
    assert_eq!(host.cap_add.as_deref().unwrap_or_default(), [] as [String; 0]);
    assert_eq!((host.privileged, host.readonly_rootfs), (Some(false), Some(true)));
    assert_eq!((host.init, host.auto_remove), (Some(true), Some(true)));
    assert_eq!(host.network_mode.as_deref(), Some("none"));
    assert_eq!(host.log_config.as_ref().unwrap().typ.as_deref(), Some("none"));
    let options = host.security_opt.as_deref().unwrap();
    assert_eq!(options, ["no-new-privileges:true"], "nothing takes the filter away");
    assert_eq!(host.devices.as_deref().unwrap_or_default().len(), 0);
    assert_eq!(host.binds.as_deref().unwrap_or_default().len(), 0);
}
