//! The new root: assembled of detached mounts, entered, and the old one let go.
//!
//! Everything of the host is opened before the first mount is attached, by a path in which no
//! component may be a symbolic link, and must still be what it was when the plan was made. From
//! then on names are looked up beneath descriptors of the new root only. A mount point is made in
//! file systems that were made here, never in one of the host's.

use std::ffi::{CStr, CString, OsStr};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, chmodat, fstat, mkdirat, openat, openat2, symlinkat,
    unlinkat,
};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
    mount_change, move_mount, open_tree, unmount,
};
use rustix::process::{fchdir, pivot_root};

use super::{During, Failure, guards};
use crate::Step;
use crate::plan::{Bind, Root};
use crate::sys::{Attribute, set_attributes};

/// The device files that are bound, all harmless.
pub(super) const DEVICES: [&CStr; 5] =
    [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom"];

/// Links of `/dev` that programs expect.
pub(super) const DEVICE_LINKS: [(&CStr, &CStr); 4] = [
    (c"/dev/fd", c"/proc/self/fd"),
    (c"/dev/stdin", c"/proc/self/fd/0"),
    (c"/dev/stdout", c"/proc/self/fd/1"),
    (c"/dev/stderr", c"/proc/self/fd/2"),
];

/// Where the new root is attached for the moment before it becomes the root.
const FOOTHOLD: &CStr = c"/usr";

/// Room for what is made in the root file system itself.
const ROOT_SIZE: u64 = 1 << 20;

/// The size of `/dev/shm`.
pub(super) const SHARED_MEMORY_SIZE: u64 = 64 << 20;

/// Assembles the root and makes it this process's.
pub(super) fn enter(plan: &Root, made: Made) -> Result<(), Failure> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during(Step::BuildRoot)?;
    let trees: io::Result<Vec<_>> = plan.binds.iter().map(open_bind).collect();
    let trees = trees.during(Step::OpenTrees)?;
    let tmp = new_tmpfs(plan.tmp_size, c"1777").during(Step::BuildRoot)?;
    let root = NewRoot::attach(&made.root, &tmp).during(Step::BuildRoot)?;
    root.fill(plan, &trees, &tmp).during(Step::BuildRoot)?;
    root.fill_further(plan, &made).during(Step::BuildRoot)?;
    root.put(made.proc.as_fd(), c"/proc", Kind::Directory).during(Step::MountProc)?;
    guards::apply(&root, &plan.guards).during(Step::GuardPaths)?;
    root.become_root().during(Step::EnterRoot)
}

/// Detached mounts that are the same in every root.
pub(super) struct Made {
    root: OwnedFd,
    shared_memory: OwnedFd,
    proc: OwnedFd,
    devices: Vec<OwnedFd>,
}

impl Made {
    /// Makes them, in the namespaces of this process.
    pub(super) fn make() -> Result<Self, Failure> {
        let devices: io::Result<_> = DEVICES.iter().map(|path| open_device(path)).collect();
        Ok(Self {
            devices: devices.during(Step::OpenTrees)?,
            root: new_tmpfs(ROOT_SIZE, c"0755").during(Step::BuildRoot)?,
            shared_memory: new_tmpfs(SHARED_MEMORY_SIZE, c"1777").during(Step::BuildRoot)?,
            proc: new_proc().during(Step::MountProc)?,
        })
    }
}

/// Opens what a bind names, without following a link anywhere, as a detached copy of the mount.
fn open_bind(bind: &Bind) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = openat2(CWD, &bind.source, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let stat = fstat(&place)?;
    if (stat.st_dev, stat.st_ino) != bind.identity {
        return Err(io::Error::from_raw_os_error(libc::ESTALE));
    }
    let tree = copy_of_mount(place.as_fd(), bind.is_directory)?;
    let read_only = [Attribute::NoSetuid, Attribute::NoDevices, Attribute::ReadOnly];
    let attributes = if bind.writable { &read_only[..2] } else { &read_only };
    set_attributes(tree.as_fd(), attributes, bind.is_directory)?;
    Ok(tree)
}

/// A detached copy of what is mounted at a place, with all below it if it is a directory.
pub(super) fn copy_of_mount(place: BorrowedFd<'_>, is_directory: bool) -> io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    flags.set(OpenTreeFlags::AT_RECURSIVE, is_directory);
    Ok(open_tree(place, c"", flags)?)
}

/// A device file as a detached mount.
fn open_device(path: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(CWD, path, flags, Mode::empty())?;
    let tree = copy_of_mount(place.as_fd(), false)?;
    set_attributes(tree.as_fd(), &[Attribute::NoSetuid, Attribute::NoExecute], false)?;
    Ok(tree)
}

/// A new memory file system, detached.
fn new_tmpfs(size: u64, mode: &CStr) -> io::Result<OwnedFd> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"size", size.to_string())?;
    fsconfig_set_string(&context, c"mode", mode)?;
    mounted(&context, MountAttrFlags::empty())
}

/// A new view of the processes, detached; read-only, so that no kernel setting can be written.
fn new_proc() -> io::Result<OwnedFd> {
    let context = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    mounted(&context, MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// Makes a file system and mounts it, attached nowhere.
fn mounted(context: &OwnedFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(context)?;
    let always = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, always | attributes)?)
}

/// What a mount point is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    File,
}

/// The root that is being assembled.
pub(super) struct NewRoot {
    root: OwnedFd,
    /// The device numbers of file systems made here, in which mount points may be made.
    made: [u64; 2],
}

impl NewRoot {
    /// Attaches the root where it can be worked on.
    fn attach(root: &OwnedFd, tmp: &OwnedFd) -> io::Result<Self> {
        let root = root.try_clone()?;
        move_mount(&root, c"", CWD, FOOTHOLD, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        let made = [fstat(&root)?.st_dev, fstat(tmp)?.st_dev];
        Ok(Self { root, made })
    }

    /// Puts what is the host's in its place, parents first.
    fn fill(&self, plan: &Root, trees: &[OwnedFd], tmp: &OwnedFd) -> io::Result<()> {
        self.put(tmp.as_fd(), c"/tmp", Kind::Directory)?;
        for (path, target) in &plan.links {
            symlinkat(target, &self.root, relative(path)?)?;
        }
        for (bind, tree) in plan.binds.iter().zip(trees) {
            let kind = if bind.is_directory { Kind::Directory } else { Kind::File };
            self.put(tree.as_fd(), &bind.path, kind)?;
        }
        Ok(())
    }

    /// Puts what is in every root in its place.
    fn fill_further(&self, plan: &Root, made: &Made) -> io::Result<()> {
        self.put(made.shared_memory.as_fd(), c"/dev/shm", Kind::Directory)?;
        for (path, device) in DEVICES.iter().zip(&made.devices) {
            self.put(device.as_fd(), path, Kind::File)?;
        }
        for (path, target) in DEVICE_LINKS {
            symlinkat(target, &self.root, relative(path)?)?;
        }
        plan.files.iter().try_for_each(|(path, content)| self.write(path, content))
    }

    /// Attaches a mount at a path, which is made if it may be.
    fn put(&self, mount: BorrowedFd<'_>, path: &CStr, kind: Kind) -> io::Result<()> {
        let place = self.point(path, kind)?;
        attach(mount, place.as_fd())
    }

    /// Writes a small file.
    fn write(&self, path: &CStr, content: &[u8]) -> io::Result<()> {
        self.point(path, Kind::File)?;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat2(&self.root, relative(path)?, flags, Mode::empty(), INSIDE)?;
        rustix::io::write(&file, content)?;
        Ok(())
    }

    /// What is at a path beneath the root; nothing if it leads to nothing.
    pub(super) fn find(&self, path: &CStr) -> io::Result<Option<OwnedFd>> {
        match self.open(self.root.as_fd(), relative(path)?) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The place for a mount, made where that leaves nothing on the host.
    pub(super) fn point(&self, path: &CStr, kind: Kind) -> io::Result<OwnedFd> {
        self.point_below(Path::new(OsStr::from_bytes(relative(path)?.to_bytes())), kind)
    }

    /// The same for a path below the root: most are missing but for their last name.
    fn point_below(&self, path: &Path, kind: Kind) -> io::Result<OwnedFd> {
        let whole = CString::new(path.as_os_str().as_bytes())?;
        match self.open(self.root.as_fd(), &whole) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            answer => return answer,
        }
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let above = above.map(|above| self.point_below(above, Kind::Directory)).transpose()?;
        let parent = above.as_ref().unwrap_or(&self.root).as_fd();
        let name = CString::new(path.file_name().ok_or(ErrorKind::InvalidInput)?.as_bytes())?;
        self.make(parent, &name, kind)
    }

    /// Makes an empty directory or file, in a file system that was made here.
    fn make(&self, parent: BorrowedFd<'_>, name: &CStr, kind: Kind) -> io::Result<OwnedFd> {
        if !self.made.contains(&fstat(parent)?.st_dev) {
            return Err(io::Error::from_raw_os_error(libc::EROFS));
        }
        match kind {
            Kind::Directory => {
                mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
                self.open(parent, name)
            }
            Kind::File => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                Ok(openat(parent, name, flags, Mode::from_raw_mode(0o644))?)
            }
        }
    }

    /// Takes all permissions from something that was made here, and removes its name.
    pub(super) fn forbid_and_unlink(&self, path: &CStr, kind: Kind) -> io::Result<()> {
        let name = relative(path)?;
        chmodat(&self.root, name, Mode::empty(), AtFlags::empty())?;
        let how = if kind == Kind::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(unlinkat(&self.root, name, how)?)
    }

    /// Looks a name up, following no link.
    fn open(&self, parent: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
        Ok(openat2(parent, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), INSIDE)?)
    }

    /// Makes it the root of this process, read-only, and lets the old one go.
    fn become_root(&self) -> io::Result<()> {
        set_attributes(self.root.as_fd(), &[Attribute::ReadOnly], false)?;
        fchdir(&self.root)?;
        pivot_root(c".", c".")?;
        unmount(c".", UnmountFlags::DETACH)?;
        Ok(rustix::process::chdir(c"/")?)
    }
}

/// How names are looked up: below the given directory, through no symbolic link.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// Attaches a detached mount on a place.
pub(super) fn attach(mount: BorrowedFd<'_>, place: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, c"", place, c"", flags)?)
}

/// An absolute path as one below the root.
fn relative(path: &CStr) -> io::Result<&CStr> {
    let bytes = path.to_bytes_with_nul().strip_prefix(b"/").ok_or(ErrorKind::InvalidInput)?;
    CStr::from_bytes_with_nul(bytes).map_err(io::Error::other)
}
