//! Writing outside the working directory, and into what is granted for reading only.

use std::fs;
use std::path::Path;

use super::{MARK, append, create_and_remove};
use crate::attempt::{Attempt, Given, Tried, c_path};
use crate::sys::call;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("files.write-absolute", "writes a host file by its absolute path", absolute),
    Attempt::new("files.write-dotdot", "writes a host file by ..", dotdot),
    Attempt::new("files.dotdot-after-move", "opens .. after its directory moved up", after_move),
    Attempt::new("files.write-read-only", "writes a file granted for reading", read_only),
    Attempt::new("files.truncate-read-only", "truncates it by path", truncate),
    Attempt::new("files.remove-read-only", "removes it", remove),
    Attempt::new("files.rename-over-read-only", "renames a file over it", rename_over),
    Attempt::new("files.exchange-read-only", "exchanges it for a file of ours", exchange),
    Attempt::new("files.create-read-only", "creates a file beside it", create_beside),
    Attempt::new("files.chmod-read-only", "changes its mode", chmod),
    Attempt::new("files.times-read-only", "changes its times", times),
    Attempt::new("files.xattr-read-only", "gives it an attribute", xattr),
    Attempt::new("files.truncate-open-read-only", "opens it for reading with O_TRUNC", open_trunc),
    Attempt::new("files.rename-out", "moves a file out of the workdir", rename_out),
    Attempt::new("files.mkdir-outside", "makes a directory outside", mkdir_outside),
    Attempt::new("files.tmp-visible", "makes a file in /tmp that the host sees", tmp_visible)
        .judged_by_world(),
    Attempt::new("files.shm-visible", "makes a file in /dev/shm that the host sees", shm_visible)
        .judged_by_world(),
    Attempt::new("files.write-usr", "creates a file in /usr/lib", write_usr).root(),
    Attempt::new("files.write-etc", "creates a file in /etc", write_etc).root(),
    Attempt::new("files.write-bin", "opens a system program for appending", write_bin).root(),
];

fn absolute(given: &Given) -> Tried {
    append(&given.path("outside", "target")?)
}

fn dotdot(given: &Given) -> Tried {
    append(&given.path("work", "../outside/target")?)
}

fn after_move(given: &Given) -> Tried {
    let work = given.path("work", "")?;
    fs::create_dir_all(work.join("a/b/c"))?;
    let deep = c_path(&work.join("a/b/c"))?;
    call!(libc::SYS_chdir, &deep)?;
    fs::rename(work.join("a/b/c"), work.join("c"))?;
    append(Path::new("../../outside/target"))
}

fn read_only(given: &Given) -> Tried {
    append(&given.path("ro", "file")?)
}

fn truncate(given: &Given) -> Tried {
    let path = c_path(&given.path("ro", "file")?)?;
    call!(libc::SYS_truncate, &path, 0)?;
    Ok("truncated".to_owned())
}

fn remove(given: &Given) -> Tried {
    fs::remove_file(given.path("ro", "file")?)?;
    Ok("removed".to_owned())
}

fn rename_over(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    fs::write(&ours, MARK)?;
    fs::rename(&ours, given.path("ro", "file")?)?;
    Ok("replaced".to_owned())
}

fn exchange(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    fs::write(&ours, MARK)?;
    let (ours, theirs) = (c_path(&ours)?, c_path(&given.path("ro", "file")?)?);
    let here = libc::AT_FDCWD;
    call!(libc::SYS_renameat2, here, &ours, here, &theirs, libc::RENAME_EXCHANGE)?;
    Ok("exchanged".to_owned())
}

fn create_beside(given: &Given) -> Tried {
    append(&given.path("ro", "beside")?)
}

fn chmod(given: &Given) -> Tried {
    let path = c_path(&given.path("ro", "file")?)?;
    call!(libc::SYS_fchmodat, libc::AT_FDCWD, &path, 0o606)?;
    Ok("mode changed".to_owned())
}

fn times(given: &Given) -> Tried {
    let path = c_path(&given.path("ro", "file")?)?;
    call!(libc::SYS_utimensat, libc::AT_FDCWD, &path, &crate::sys::words(&[1, 0, 1, 0]), 0)?;
    Ok("times changed".to_owned())
}

fn xattr(given: &Given) -> Tried {
    let path = c_path(&given.path("ro", "file")?)?;
    call!(libc::SYS_setxattr, &path, c"user.probe", &b"x"[..], 1, 0)?;
    Ok("attribute set".to_owned())
}

fn open_trunc(given: &Given) -> Tried {
    let path = c_path(&given.path("ro", "file")?)?;
    call!(libc::SYS_openat, libc::AT_FDCWD, &path, libc::O_RDONLY | libc::O_TRUNC)?;
    Ok("opened and truncated".to_owned())
}

fn rename_out(given: &Given) -> Tried {
    let ours = given.path("work", "evil")?;
    fs::write(&ours, MARK)?;
    fs::rename(&ours, given.path("outside", "planted")?)?;
    Ok("moved".to_owned())
}

fn mkdir_outside(given: &Given) -> Tried {
    fs::create_dir(given.path("outside", "planted")?)?;
    Ok("made".to_owned())
}

fn tmp_visible(given: &Given) -> Tried {
    append(&Path::new("/tmp").join(given.text("sentinel")?))
}

fn shm_visible(given: &Given) -> Tried {
    append(&Path::new("/dev/shm").join(given.text("sentinel")?))
}

fn write_usr(_: &Given) -> Tried {
    create_and_remove(Path::new("/usr/lib/remit-probe"))
}

fn write_etc(_: &Given) -> Tried {
    create_and_remove(Path::new("/etc/remit-probe"))
}

fn write_bin(_: &Given) -> Tried {
    // Opened and closed: nothing is written.
    fs::OpenOptions::new().append(true).open("/usr/bin/env")?;
    Ok("opened /usr/bin/env".to_owned())
}
