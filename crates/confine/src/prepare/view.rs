//! What a child sees of the host's system: directories of programs, and the few files of `/etc`
//! that the dynamic linker, TLS, the locale and name look-ups need.
//!
//! Left out on purpose: everything else of `/etc` (keys, passwords), `/home`, `/root`, `/run` and
//! `/var` (sockets), `/sys`.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use rustix::process::{getegid, geteuid};

use super::paths::{Paths, Visible};
use super::{bytes, guards};
use crate::plan::{Bind, Root};
use crate::{Confinement, Network};

/// Directories of programs and libraries; where the system has links for them, so has the child.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What is visible of `/etc`, where it exists.
const SETTINGS: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// What is visible of `/etc` besides, with the host's network.
const NETWORK_SETTINGS: &[&str] = &["/etc/gai.conf", "/etc/host.conf", "/etc/resolv.conf"];

/// Device files that are usable without a root of one's own.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Device files that are readable there.
const RANDOM: &[&str] = &["/dev/random", "/dev/urandom"];

/// The root of a child.
pub(super) fn root(asked: &Confinement, paths: &Paths) -> Root {
    let mut root = system(asked.network);
    root.binds.extend(paths.binds().map(|one| bind(one, one.name.clone())));
    root.binds
        .sort_by_key(|bind| bind.path.as_bytes().iter().filter(|byte| **byte == b'/').count());
    let sockets = paths.sockets.clone();
    root.guards = guards::merged(&paths.guards, sockets);
    root.tmp_size = asked.limits.tmp_size;
    root
}

/// The system's part of it.
pub(super) fn system(network: Network) -> Root {
    let mut root = Root { tmp_size: 1 << 20, files: made_files(), ..Root::default() };
    for path in SYSTEM.iter().map(Path::new) {
        match fs::read_link(path) {
            Ok(target) => root.links.extend(both(path, &target)),
            Err(_) => root.binds.extend(visible(path)),
        }
    }
    root.binds.extend(settings(network).filter_map(visible));
    root
}

/// What Landlock allows where there is no root of one's own: readable and writable paths.
pub(super) fn without_namespaces(paths: &Paths) -> (Vec<CString>, Vec<CString>) {
    let names = |list: &mut dyn Iterator<Item = &Path>| -> Vec<CString> {
        list.filter_map(|path| Visible::resolve(path, false).ok()).map(|one| one.name).collect()
    };
    let system = SYSTEM.iter().chain(SETTINGS).chain(NETWORK_SETTINGS).chain(RANDOM);
    let identity = ["/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"];
    let mut readable = names(&mut system.chain(&identity).map(Path::new));
    readable.extend(paths.binds().map(|one| one.name.clone()));
    (readable, names(&mut DEVICES.iter().map(Path::new)))
}

/// The settings that exist for a network mode.
fn settings(network: Network) -> impl Iterator<Item = &'static Path> {
    let more = if network == Network::Host { NETWORK_SETTINGS } else { &[] };
    SETTINGS.iter().chain(more).map(Path::new)
}

/// A read-only view of a path at its own name, if it exists.
///
/// Where the name is a link (`/etc/localtime`), what it leads to appears under the name itself.
fn visible(path: &Path) -> Option<Bind> {
    let found = Visible::resolve(path, false).ok()?;
    Some(bind(&found, CString::new(bytes(path)).ok()?))
}

/// How a path is attached.
fn bind(found: &Visible, target: CString) -> Bind {
    Bind {
        source: found.name.clone(),
        path: target,
        identity: found.identity,
        is_directory: found.is_directory,
        writable: found.writable,
    }
}

/// A link, if both names can be names.
fn both(path: &Path, target: &Path) -> Option<(CString, CString)> {
    Some((CString::new(bytes(path)).ok()?, CString::new(bytes(target)).ok()?))
}

/// Files that are written for the child: it learns of no other user and no other host.
fn made_files() -> Vec<(CString, Vec<u8>)> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let passwd = format!(
        "user:x:{user}:{group}:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
    );
    let groups = format!("user:x:{group}:\nnogroup:x:65534:\n");
    let hosts = "127.0.0.1 localhost\n::1 localhost\n";
    let switch = "passwd: files\ngroup: files\nhosts: files dns\n";
    vec![
        (c"/etc/passwd".to_owned(), passwd.into_bytes()),
        (c"/etc/group".to_owned(), groups.into_bytes()),
        (c"/etc/hosts".to_owned(), hosts.as_bytes().to_vec()),
        (c"/etc/nsswitch.conf".to_owned(), switch.as_bytes().to_vec()),
    ]
}
