//! File handles, roots and mounts as ways around a path.

use std::fs::{self, File};
use std::os::fd::OwnedFd;

use super::{append, read_canary};
use crate::attempt::{Attempt, Given, Tried, c_path, denied};
use crate::sys::{call, halves, owned};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("files.handle", "opens the canary by a file handle", handle).root(),
    Attempt::new("files.forged-handle", "opens the root by a forged handle", forged).root(),
    Attempt::new("files.chroot-escape", "leaves by chroot and a directory kept open", chroot)
        .root(),
    Attempt::new("files.remount", "makes a read-only grant writable by mounting", remount).root(),
    Attempt::new("files.remount-root", "remounts the root for writing", remount_root).root(),
    Attempt::new("files.bind-over", "binds a host directory into the workdir", bind_over).root(),
];

/// The size of the part of `struct file_handle` before the handle itself.
const HEADER: usize = 8;

fn handle(given: &Given) -> Tried {
    let path = c_path(&given.path("outside", "canary")?)?;
    let mut buffer = halves(&[128, 0]);
    buffer.resize(HEADER + 128, 0);
    let mut mount = [0; 4];
    let here = libc::AT_FDCWD;
    call!(libc::SYS_name_to_handle_at, here, &path, &mut buffer[..], &mut mount[..], 0)?;
    open_handle(given, buffer)?;
    Ok("opened the canary by its handle".to_owned())
}

fn forged(given: &Given) -> Tried {
    // Inode 2, the root directory of ext4 and its kin, as a handle of type 1 (inode, generation).
    open_handle(given, halves(&[8, 1, 2, 0]))?;
    Ok("opened inode 2".to_owned())
}

/// Opens a handle on the file system of the working directory.
fn open_handle(given: &Given, mut handle: Vec<u8>) -> Result<OwnedFd, crate::attempt::Stop> {
    use std::os::fd::AsRawFd as _;
    let mount = File::open(given.path("work", "")?)?;
    let number = mount.as_raw_fd();
    let opened = call!(libc::SYS_open_by_handle_at, number, &mut handle[..], libc::O_PATH);
    Ok(owned(opened)?)
}

fn chroot(given: &Given) -> Tried {
    use std::os::fd::AsRawFd as _;
    let jail = given.path("work", "jail")?;
    let canary = given.path("outside", "canary")?;
    fs::create_dir(&jail)?;
    let kept = File::open("/")?;
    call!(libc::SYS_chroot, &c_path(&jail)?)?;
    call!(libc::SYS_fchdir, kept.as_raw_fd())?;
    for _ in 0..32 {
        call!(libc::SYS_chdir, c"..")?;
    }
    call!(libc::SYS_chroot, c".")?;
    read_canary(&canary)
}

fn remount(given: &Given) -> Tried {
    let directory = given.path("ro", "")?;
    let path = c_path(&directory)?;
    let none = c"none";
    // Outside it is no mount yet; inside it may be one already.
    let bind = libc::MS_BIND;
    let mounted = call!(libc::SYS_mount, &path, &path, none, bind, 0);
    call!(libc::SYS_mount, none, &path, none, bind | libc::MS_REMOUNT, 0)?;
    let reached = append(&directory.join("file"));
    if mounted.is_ok() {
        call!(libc::SYS_umount2, &path, libc::MNT_DETACH)?;
    }
    reached
}

fn remount_root(_: &Given) -> Tried {
    let flags = libc::MS_BIND | libc::MS_REMOUNT;
    call!(libc::SYS_mount, c"none", c"/", c"none", flags, 0)?;
    Ok("remounted".to_owned())
}

fn bind_over(given: &Given) -> Tried {
    let point = given.path("work", "point")?;
    fs::create_dir(&point)?;
    let (host, here) = (c_path(&given.path("outside", "")?)?, c_path(&point)?);
    call!(libc::SYS_mount, &host, &here, c"none", libc::MS_BIND, 0)?;
    let reached = read_canary(&point.join("canary"));
    call!(libc::SYS_umount2, &here, libc::MNT_DETACH)?;
    reached.map_err(|_| denied("bound, but the canary is not there"))
}
