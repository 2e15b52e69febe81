//! A plan as `bwrap` takes it: arguments, and the descriptors that they name.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, SeekFrom, fstat, openat2, seek};
use rustix::io::fcntl_dupfd_cloexec;

use super::{FREE, path_of};
use crate::inside::HOST_NAME;
use crate::inside::root::{DEVICE_LINKS, DEVICES, SHARED_MEMORY_SIZE};
use crate::launcher::memory_file;
use crate::plan::{Bind, Guard, Namespaces};

/// Arguments in the making.
pub(super) struct Arguments<'a> {
    namespaces: &'a Namespaces,
    words: Vec<CString>,
    kept: Vec<OwnedFd>,
}

impl<'a> Arguments<'a> {
    /// What does not depend on the file system.
    pub(super) fn new(program: &CStr, namespaces: &'a Namespaces) -> Self {
        let mut new = Self { namespaces, words: vec![program.to_owned()], kept: Vec::new() };
        new.add(&[c"--unshare-user", c"--unshare-pid", c"--unshare-ipc", c"--unshare-uts"]);
        if namespaces.network {
            new.add(&[c"--unshare-net"]);
        }
        new.add(&[c"--as-pid-1", c"--die-with-parent", c"--cap-drop", c"ALL"]);
        let (user, group) = (namespaces.identity.user, namespaces.identity.group);
        new.option(c"--uid", &number(user.into()));
        new.option(c"--gid", &number(group.into()));
        new.option(c"--hostname", &CString::new(HOST_NAME).unwrap_or_default());
        new
    }

    /// The file system, parents before what is in them.
    pub(super) fn describe(&mut self) -> io::Result<()> {
        let root = &self.namespaces.root;
        self.directory(c"/tmp", c"1777", root.tmp_size);
        for (path, target) in &root.links {
            self.add(&[c"--symlink", target, path]);
        }
        for bind in &root.binds {
            self.bind(bind)?;
        }
        self.directory(c"/dev/shm", c"1777", SHARED_MEMORY_SIZE);
        for device in DEVICES {
            self.add(&[c"--dev-bind", device, device]);
        }
        for (path, target) in DEVICE_LINKS {
            self.add(&[c"--symlink", target, path]);
        }
        for (path, content) in &root.files {
            let content = memory_file(content)?;
            // It is copied from where it stands.
            seek(&content, SeekFrom::Start(0))?;
            let content = self.keep(content)?;
            self.add(&[c"--perms", c"0644", c"--file", &number_of(&content), path]);
        }
        self.add(&[c"--proc", c"/proc", c"--remount-ro", c"/proc"]);
        self.guards(&root.guards)?;
        self.add(&[c"--remount-ro", c"/"]);
        Ok(())
    }

    /// Keeps a descriptor for `bwrap` or the stage; gives its path there.
    pub(super) fn keep(&mut self, descriptor: OwnedFd) -> io::Result<CString> {
        let moved = fcntl_dupfd_cloexec(&descriptor, FREE)?;
        let path = path_of(&moved)?;
        self.kept.push(moved);
        Ok(path)
    }

    /// The words, with what is started, and the descriptors to pass.
    pub(super) fn finish(mut self, stage: &CStr) -> (Vec<CString>, Vec<OwnedFd>) {
        self.add(&[c"--chdir", c"/", c"--", stage]);
        (self.words, self.kept)
    }

    /// One path of the host.
    fn bind(&mut self, bind: &Bind) -> io::Result<()> {
        let place = open(&bind.source)?;
        let stat = fstat(&place)?;
        if (stat.st_dev, stat.st_ino) != bind.identity {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        self.attach(place, &bind.path, bind.writable)
    }

    /// Parents are pinned by copies of themselves, then what is in them is covered.
    fn guards(&mut self, guards: &[Guard]) -> io::Result<()> {
        for parent in guards.iter().flat_map(|guard| &guard.parents) {
            if let Some(place) = found(parent)? {
                self.attach(place, parent, true)?;
            }
        }
        for guard in guards {
            let Some(place) = found(&guard.path)? else { continue };
            if !guard.hidden {
                self.attach(place, &guard.path, false)?;
            } else if FileType::from_raw_mode(fstat(&place)?.st_mode) == FileType::Directory {
                self.add(&[c"--perms", c"0000", c"--tmpfs", &guard.path]);
                self.add(&[c"--remount-ro", &guard.path]);
            } else {
                let nothing = self.keep(memory_file(b"")?)?;
                let number = number_of(&nothing);
                self.add(&[c"--perms", c"0000", c"--ro-bind-data", &number, &guard.path]);
            }
        }
        Ok(())
    }

    /// Attaches what a descriptor names.
    fn attach(&mut self, place: OwnedFd, path: &CStr, writable: bool) -> io::Result<()> {
        let how = if writable { c"--bind-fd" } else { c"--ro-bind-fd" };
        let place = self.keep(place)?;
        self.add(&[how, &number_of(&place), path]);
        Ok(())
    }

    /// A new directory in memory.
    fn directory(&mut self, path: &CStr, mode: &CStr, size: u64) {
        self.add(&[c"--perms", mode, c"--size", &number(size), c"--tmpfs", path]);
    }

    /// An option with a value.
    fn option(&mut self, name: &CStr, value: &CStr) {
        self.add(&[name, value]);
    }

    /// Words as they are.
    fn add(&mut self, words: &[&CStr]) {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
    }
}

/// What a path of the host names, followed through no link.
fn open(path: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// The same; nothing where there is nothing.
fn found(path: &CStr) -> io::Result<Option<OwnedFd>> {
    match open(path) {
        Ok(place) => Ok(Some(place)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A number as a word.
fn number(value: u64) -> CString {
    CString::new(value.to_string()).unwrap_or_default()
}

/// The number at the end of a descriptor's path.
fn number_of(path: &CStr) -> CString {
    let bytes = path.to_bytes();
    let start = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    CString::new(&bytes[start..]).unwrap_or_default()
}
