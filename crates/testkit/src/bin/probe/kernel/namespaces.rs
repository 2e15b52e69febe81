//! New namespaces (each is a door to kernel code that trusts its owner), and those of the host.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use crate::attempt::{Attempt, Given, Tried};
use crate::sys::{call, end_child, owned, words};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.unshare-user", "makes a user namespace", unshare_user),
    Attempt::new("kernel.unshare-mount", "makes a mount namespace", unshare_mount).root(),
    Attempt::new("kernel.unshare-pid", "makes a PID namespace", unshare_pid).root(),
    Attempt::new("kernel.unshare-net", "makes a network namespace", unshare_net).root(),
    Attempt::new("kernel.unshare-ipc", "makes an IPC namespace", unshare_ipc).root(),
    Attempt::new("kernel.unshare-uts", "makes a UTS namespace", unshare_uts).root(),
    Attempt::new("kernel.unshare-cgroup", "makes a cgroup namespace", unshare_cgroup).root(),
    Attempt::new("kernel.unshare-time", "makes a time namespace", unshare_time).root(),
    Attempt::new("kernel.clone-user", "makes a user namespace by clone", clone_user),
    Attempt::new("kernel.clone3-user", "makes a user namespace by clone3", clone3_user),
    Attempt::new("kernel.clone3-user-net", "makes two by clone3", clone3_user_net),
    Attempt::new("kernel.setns-user", "enters init's user namespace", setns_user).root(),
    Attempt::new("kernel.setns-mount", "enters init's mount namespace", setns_mount).root(),
    Attempt::new("kernel.setns-pid", "enters init's PID namespace", setns_pid).root(),
    Attempt::new("kernel.setns-net", "enters init's network namespace", setns_net).root(),
    Attempt::new("kernel.setns-ipc", "enters init's IPC namespace", setns_ipc).root(),
    Attempt::new("kernel.setns-uts", "enters init's UTS namespace", setns_uts).root(),
    Attempt::new("kernel.setns-cgroup", "enters init's cgroup namespace", setns_cgroup).root(),
    Attempt::new("kernel.setns-own", "enters its own network namespace again", setns_own).root(),
    Attempt::new("kernel.setns-victim", "enters the victim's by a pidfd", setns_victim).root(),
];

fn unshare(flag: i32) -> Tried {
    call!(libc::SYS_unshare, flag)?;
    Ok("a namespace".to_owned())
}

fn unshare_user(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWUSER)
}

fn unshare_mount(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWNS)
}

fn unshare_pid(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWPID)
}

fn unshare_net(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWNET)
}

fn unshare_ipc(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWIPC)
}

fn unshare_uts(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWUTS)
}

fn unshare_cgroup(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWCGROUP)
}

fn unshare_time(_: &Given) -> Tried {
    unshare(libc::CLONE_NEWTIME)
}

fn clone_user(_: &Given) -> Tried {
    let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
    end_child(call!(libc::SYS_clone, flags, 0, 0, 0, 0))?;
    Ok("a child in a namespace".to_owned())
}

/// `struct clone_args`: flags and exit signal, nothing else.
fn clone3(flags: i32) -> Tried {
    let flags = u64::from(flags.cast_unsigned());
    let arguments = words(&[flags, 0, 0, 0, u64::from(libc::SIGCHLD.cast_unsigned()), 0, 0, 0]);
    end_child(call!(libc::SYS_clone3, &arguments, arguments.len()))?;
    Ok("a child in a namespace".to_owned())
}

fn clone3_user(_: &Given) -> Tried {
    clone3(libc::CLONE_NEWUSER)
}

fn clone3_user_net(_: &Given) -> Tried {
    clone3(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)
}

fn enter(name: &str) -> Tried {
    enter_path(&format!("/proc/1/ns/{name}"))
}

fn enter_path(path: &str) -> Tried {
    let namespace = File::open(path)?;
    call!(libc::SYS_setns, namespace.as_raw_fd(), 0)?;
    Ok("entered".to_owned())
}

fn setns_user(_: &Given) -> Tried {
    enter("user")
}

fn setns_mount(_: &Given) -> Tried {
    enter("mnt")
}

fn setns_pid(_: &Given) -> Tried {
    enter("pid")
}

fn setns_net(_: &Given) -> Tried {
    enter("net")
}

fn setns_ipc(_: &Given) -> Tried {
    enter("ipc")
}

fn setns_uts(_: &Given) -> Tried {
    enter("uts")
}

fn setns_cgroup(_: &Given) -> Tried {
    enter("cgroup")
}

/// What it may open for sure; the call itself is what is tried.
fn setns_own(_: &Given) -> Tried {
    enter_path("/proc/self/ns/net")
}

fn setns_victim(given: &Given) -> Tried {
    let victim = owned(call!(libc::SYS_pidfd_open, given.number::<i32>("victim")?, 0))?;
    call!(libc::SYS_setns, &victim, libc::CLONE_NEWNET | libc::CLONE_NEWUTS)?;
    Ok("entered".to_owned())
}
