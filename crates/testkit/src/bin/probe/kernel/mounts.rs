//! The mount family, old and new. Mounts are made in the workdir and taken away again.

use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;

use crate::attempt::{Attempt, Given, Stop, Tried, c_path, past_check};
use crate::sys::{call, owned};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("kernel.mount-tmpfs", "mounts a tmpfs", mount_tmpfs).root(),
    Attempt::new("kernel.mount-proc", "mounts a proc", mount_proc).root(),
    Attempt::new("kernel.mount-sysfs", "mounts a sysfs", mount_sysfs).root(),
    Attempt::new("kernel.mount-cgroup", "mounts a cgroup hierarchy", mount_cgroup).root(),
    Attempt::new("kernel.mount-devtmpfs", "mounts the device files", mount_devtmpfs).root(),
    Attempt::new("kernel.mount-overlay", "mounts an overlay", mount_overlay).root(),
    Attempt::new("kernel.mount-propagation", "makes all mounts shared", propagation).root(),
    Attempt::new("kernel.fsopen", "opens a file system context", fsopen).root(),
    Attempt::new("kernel.fspick", "picks the root's context", fspick).root(),
    Attempt::new("kernel.open-tree", "clones a mount", open_tree).root(),
    Attempt::new("kernel.move-mount", "moves a cloned mount into the workdir", move_mount).root(),
    Attempt::new("kernel.mount-attributes", "changes a mount's attributes", attributes).root(),
    Attempt::new("kernel.umount", "takes a mount away", umount).root(),
    Attempt::new("kernel.pivot-root", "changes the root by pivot_root", pivot_root).root(),
    Attempt::new("kernel.chroot", "changes the root by chroot", chroot).root(),
];

/// An empty directory to mount on.
fn point(given: &Given) -> Result<CString, Stop> {
    let path = given.path("work", "point")?;
    fs::create_dir(&path)?;
    c_path(&path)
}

fn mount(given: &Given, kind: &std::ffi::CStr, options: &std::ffi::CStr) -> Tried {
    let point = point(given)?;
    call!(libc::SYS_mount, c"none", &point, kind, 0, options)?;
    call!(libc::SYS_umount2, &point, libc::MNT_DETACH)?;
    Ok("mounted".to_owned())
}

fn mount_tmpfs(given: &Given) -> Tried {
    mount(given, c"tmpfs", c"size=4096")
}

fn mount_proc(given: &Given) -> Tried {
    mount(given, c"proc", c"")
}

fn mount_sysfs(given: &Given) -> Tried {
    mount(given, c"sysfs", c"")
}

fn mount_cgroup(given: &Given) -> Tried {
    mount(given, c"cgroup2", c"")
}

fn mount_devtmpfs(given: &Given) -> Tried {
    mount(given, c"devtmpfs", c"")
}

fn mount_overlay(given: &Given) -> Tried {
    mount(given, c"overlay", c"lowerdir=/usr:/etc")
}

fn propagation(_: &Given) -> Tried {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    call!(libc::SYS_mount, c"none", c"/", c"none", flags, 0)?;
    Ok("changed".to_owned())
}

fn fsopen(_: &Given) -> Tried {
    owned(call!(libc::SYS_fsopen, c"tmpfs", 0))?;
    Ok("a context".to_owned())
}

fn fspick(_: &Given) -> Tried {
    owned(call!(libc::SYS_fspick, libc::AT_FDCWD, c"/", 0))?;
    Ok("a context".to_owned())
}

fn cloned(given: &Given) -> Result<OwnedFd, Stop> {
    const CLONE: i32 = 1;
    let work = c_path(&given.path("work", "")?)?;
    Ok(owned(call!(libc::SYS_open_tree, libc::AT_FDCWD, &work, CLONE | libc::O_CLOEXEC))?)
}

fn open_tree(given: &Given) -> Tried {
    cloned(given).map(|_| "a clone".to_owned())
}

fn move_mount(given: &Given) -> Tried {
    const FROM_EMPTY_PATH: i32 = 4;
    let point = point(given)?;
    let clone = cloned(given)?;
    let here = libc::AT_FDCWD;
    call!(libc::SYS_move_mount, &clone, c"", here, &point, FROM_EMPTY_PATH)?;
    call!(libc::SYS_umount2, &point, libc::MNT_DETACH)?;
    Ok("moved".to_owned())
}

fn attributes(given: &Given) -> Tried {
    // On a clone of ours where that is allowed, else on the root, with nothing to set.
    let nothing = crate::sys::words(&[0, 0, 0, 0]);
    let empty = libc::AT_EMPTY_PATH;
    let tried = match cloned(given) {
        Ok(clone) => call!(libc::SYS_mount_setattr, &clone, c"", empty, &nothing, 32),
        Err(_) => call!(libc::SYS_mount_setattr, libc::AT_FDCWD, c"/", 0, &nothing, 32),
    };
    tried?;
    Ok("changed".to_owned())
}

fn umount(given: &Given) -> Tried {
    // A mount of ours where that can be made, else the temporary directory's.
    let point = point(given)?;
    match call!(libc::SYS_mount, c"none", &point, c"tmpfs", 0, c"size=4096") {
        Ok(_) => call!(libc::SYS_umount2, &point, libc::MNT_DETACH)?,
        Err(_) => call!(libc::SYS_umount2, c"/tmp", libc::MNT_DETACH)?,
    };
    Ok("taken away".to_owned())
}

fn pivot_root(_: &Given) -> Tried {
    past_check(call!(libc::SYS_pivot_root, c"/no-such-root", c"/no-such-root/old"), libc::ENOENT)
}

fn chroot(given: &Given) -> Tried {
    let work = c_path(&given.path("work", "")?)?;
    call!(libc::SYS_chroot, &work)?;
    Ok("changed".to_owned())
}
