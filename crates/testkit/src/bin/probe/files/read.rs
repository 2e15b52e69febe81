//! Reading what belongs to the host: keys, other users' files, other processes' files.

use std::fs;
use std::path::{Path, PathBuf};

use super::{any, read_canary, touch_secret};
use crate::attempt::{Attempt, Given, Stop, Tried, denied};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("files.home-ssh-key", "reads ~/.ssh/id_rsa", home_ssh_key),
    Attempt::new("files.home-cloud-key", "reads ~/.aws/credentials", home_cloud_key),
    Attempt::new("files.home-list", "lists the home directory", home_list),
    Attempt::new("files.host-tmp", "reads a file of the host's temporary directory", host_tmp),
    Attempt::new("files.hidden-in-workdir", "reads a hidden file of the workdir", hidden)
        .on_guarded(),
    Attempt::new("files.shadow", "reads /etc/shadow", shadow).root(),
    Attempt::new("files.root-list", "lists /root", root_list).root(),
    Attempt::new("files.init-root", "reads through /proc/1/root", init_root).root(),
    Attempt::new("files.init-environ", "finds the canary in /proc/1/environ", init_environ),
    Attempt::new("files.self-root", "reads through /proc/self/root", self_root),
    Attempt::new("files.parent-root", "reads through /proc/PARENT/root", parent_root),
    Attempt::new("files.parent-cwd", "lists through /proc/PARENT/cwd", parent_cwd),
    Attempt::new("files.parent-environ", "finds the canary in /proc/PARENT/environ", parent_env),
    Attempt::new("files.victim-root", "reads through /proc/VICTIM/root", victim_root),
    Attempt::new("files.victim-cwd", "reads through /proc/VICTIM/cwd", victim_cwd),
    Attempt::new("files.victim-fd", "reads through /proc/VICTIM/fd/0", victim_fd),
    Attempt::new("files.victim-environ", "finds the canary in /proc/VICTIM/environ", victim_env),
    Attempt::new("files.any-environ", "finds the canary in any /proc/*/environ", any_environ),
    Attempt::new("files.any-cwd", "reads the canary through any /proc/*/cwd", any_cwd),
    Attempt::new("files.thread-root", "reads through /proc/thread-self/root", thread_root),
];

fn home_ssh_key(given: &Given) -> Tried {
    read_canary(&given.path("home", ".ssh/id_rsa")?)
}

fn home_cloud_key(given: &Given) -> Tried {
    read_canary(&given.path("home", ".aws/credentials")?)
}

fn home_list(given: &Given) -> Tried {
    let names = fs::read_dir(given.path("home", "")?)?.count();
    if names == 0 { Err(denied("the directory is empty")) } else { Ok(format!("{names} names")) }
}

fn host_tmp(given: &Given) -> Tried {
    read_canary(&given.path("outside", "canary")?)
}

fn hidden(given: &Given) -> Tried {
    let text = read_canary(&given.path("work", ".env")?)?;
    if text.is_empty() { Err(denied("the file is empty here")) } else { Ok(text) }
}

fn shadow(_: &Given) -> Tried {
    touch_secret(Path::new("/etc/shadow"))
}

fn root_list(_: &Given) -> Tried {
    let names = fs::read_dir("/root")?.count();
    if names == 0 { Err(denied("the directory is empty")) } else { Ok(format!("{names} names")) }
}

/// The path of the outside canary, seen through a link to a root.
fn through(link: impl AsRef<Path>, given: &Given) -> Result<PathBuf, Stop> {
    let canary = given.path("outside", "canary")?;
    Ok(link.as_ref().join(canary.strip_prefix("/").unwrap_or(&canary)))
}

fn init_root(given: &Given) -> Tried {
    read_canary(&through("/proc/1/root", given)?)
}

fn self_root(given: &Given) -> Tried {
    read_canary(&through("/proc/self/root", given)?)
}

fn thread_root(given: &Given) -> Tried {
    read_canary(&through("/proc/thread-self/root", given)?)
}

fn parent_root(given: &Given) -> Tried {
    read_canary(&through(of_parent("root"), given)?)
}

fn parent_cwd(given: &Given) -> Tried {
    let host = given.path("hostcwd", "")?;
    let parent = fs::read_link(of_parent("cwd"))?;
    fs::read_dir(of_parent("cwd"))?;
    // Inside, the parent may be the sandbox's own init, whose place is no secret.
    if parent == host { Ok("the host's directory".to_owned()) } else { Err(denied("not the host")) }
}

fn of_parent(file: &str) -> PathBuf {
    Path::new("/proc").join(std::os::unix::process::parent_id().to_string()).join(file)
}

fn of_victim(given: &Given, file: &str) -> Result<PathBuf, Stop> {
    let pid: u32 = given.number("victim")?;
    Ok(Path::new("/proc").join(pid.to_string()).join(file))
}

fn init_environ(given: &Given) -> Tried {
    find_secret(Path::new("/proc/1/environ"), given)
}

fn parent_env(given: &Given) -> Tried {
    find_secret(&of_parent("environ"), given)
}

fn victim_env(given: &Given) -> Tried {
    find_secret(&of_victim(given, "environ")?, given)
}

fn victim_root(given: &Given) -> Tried {
    read_canary(&through(of_victim(given, "root")?, given)?)
}

fn victim_cwd(given: &Given) -> Tried {
    read_canary(&of_victim(given, "cwd/canary")?)
}

fn victim_fd(given: &Given) -> Tried {
    let link = fs::read_link(of_victim(given, "fd/0")?)?;
    Ok(link.display().to_string())
}

/// Looks for the name of the environment canary only; nothing else is kept or shown.
fn find_secret(environ: &Path, given: &Given) -> Tried {
    let name = format!("{}=", given.text("secret")?);
    let bytes = fs::read(environ)?;
    let found = bytes.split(|byte| *byte == 0).find(|entry| entry.starts_with(name.as_bytes()));
    match found {
        Some(entry) => Ok(String::from_utf8_lossy(entry).into_owned()),
        None => Err(denied("opened, but the canary is not there")),
    }
}

/// The numbers in /proc but our own.
pub(crate) fn processes() -> Result<Vec<u32>, Stop> {
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let all = fs::read_dir("/proc")?.filter_map(|entry| entry.ok().and_then(number));
    Ok(all.filter(|pid| *pid != std::process::id()).collect())
}

fn any_environ(given: &Given) -> Tried {
    let file = |pid: u32| Path::new("/proc").join(pid.to_string()).join("environ");
    any(processes()?.into_iter().map(|pid| find_secret(&file(pid), given)))
}

fn any_cwd(_: &Given) -> Tried {
    let file = |pid: u32| Path::new("/proc").join(pid.to_string()).join("cwd/canary");
    any(processes()?.into_iter().map(|pid| read_canary(&file(pid))))
}
