//! Where the engine is on this machine: pipes of the host for the drivers of a container.
//!
//! A socket in a private directory is mounted into the container. The supervisor meets the host there
//! before any code of the session runs, and gives it a descriptor of the working directory; later the
//! host gives the pipes of each driver, and signals it, a message each. Then a call costs what a local
//! one costs: neither the engine nor the supervisor carries its bytes, and an interrupt waits for no
//! engine. Nothing is read from the socket after that first descriptor, and what it leads to is walked
//! as any session's directory is: through no link, and only looked at.

use std::{
    fs::{self, Permissions},
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::fs::PermissionsExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, fstat},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with,
        bind, listen, recvmsg, sendmsg, socket_with,
    },
};

use super::frames::Frame;
use crate::local::Folder;

/// Where the directory of the socket is in the container.
pub(super) const INSIDE: &str = "/run/remit";
const SOCKET: &str = "meet";

/// A socket that waits for a supervisor.
#[derive(Debug)]
pub(super) struct Meeting {
    listener: OwnedFd,
    shared: PathBuf,
    folder: Option<Folder>,
}

impl Meeting {
    /// Makes the directory and the socket.
    pub(super) fn new() -> io::Result<Self> {
        // Only this user can enter the outer directory; the user of the container is another one.
        let folder = Folder::private()?;
        let shared = folder.path().join("shared");
        fs::create_dir(&shared)?;
        fs::set_permissions(&shared, Permissions::from_mode(0o755))?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&listener, &SocketAddrUnix::new(shared.join(SOCKET))?)?;
        fs::set_permissions(shared.join(SOCKET), Permissions::from_mode(0o666))?;
        listen(&listener, 1)?;
        Ok(Self { listener, shared, folder: Some(folder) })
    }

    /// The directory, to be mounted at [`INSIDE`].
    pub(super) fn shared(&self) -> &Path {
        &self.shared
    }

    /// The socket, as the container names it.
    pub(super) fn socket() -> String {
        format!("{INSIDE}/{SOCKET}")
    }

    /// Takes the supervisor that has said that it is there; nobody else is let in later.
    pub(super) fn take(&self) -> io::Result<Shared> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = accept_with(&self.listener, flags)?;
        let directory = receive_directory(&socket)?;
        Ok(Shared { socket, directory })
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            // What is left of it is deleted by the next program.
            let _ = folder.remove();
        }
    }
}

/// A container that shares this machine's kernel with us.
#[derive(Debug)]
pub(super) struct Shared {
    socket: OwnedFd,
    /// The session's working directory, by its path alone.
    pub(super) directory: OwnedFd,
}

impl Shared {
    /// Says something to the supervisor, and gives it descriptors along; in the order of the calls.
    pub(super) fn say(&self, frame: &Frame, pipes: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !pipes.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(pipes)) {
            return Err(io::Error::other("there are more descriptors than have room"));
        }
        let message = [IoSlice::new(frame.bytes())];
        sendmsg(&self.socket, &message, &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

fn receive_directory(socket: &OwnedFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0_u8];
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut received = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let directory = received.next().and_then(|mut descriptors| descriptors.next());
    let directory = directory.ok_or_else(|| io::Error::other("no directory was given"))?;
    let kind = FileType::from_raw_mode(fstat(&directory)?.st_mode);
    (kind == FileType::Directory)
        .then_some(directory)
        .ok_or_else(|| io::Error::other("what was given is no directory"))
}
