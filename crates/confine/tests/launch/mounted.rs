//! What is mounted after the launcher has prepared itself is seen all the same.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::support::{check, default_in, workdir};

/// A memory file system at a path, for as long as this lives.
struct Mounted(PathBuf);

impl Mounted {
    /// Mounts it; nothing if this user may not.
    fn at(path: &Path) -> Option<Self> {
        fs::create_dir(path).unwrap();
        mount("none", path, "tmpfs", MountFlags::empty(), None).ok()?;
        Some(Self(path.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A child that is just ending may hold it a moment longer: lazily.
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

#[test]
fn a_working_directory_that_was_mounted_just_now_can_be_used() {
    let directory = workdir();
    // After this one, the launcher has a process ready that knows the mounts of now.
    check(&default_in(directory.path()), "echo first", "first\n");
    let Some(mounted) = Mounted::at(&directory.path().join("mounted")) else {
        println!("skipped: only the superuser mounts");
        return;
    };
    fs::write(mounted.0.join("file"), "fresh").unwrap();
    check(&default_in(&mounted.0), "cat file", "fresh");
    check(&default_in(&mounted.0), "cat file", "fresh");
}
