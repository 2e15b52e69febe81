//! Where the engine is on this machine: pipes of the host for the drivers of a container.
//!
//! A socket in a private directory is mounted into the container. The supervisor meets the host there
//! before any code of the session runs, and gives it a descriptor of the working directory; later the
//! host gives the pipes of each driver. Then a call costs what a local one costs: neither the engine
//! nor the supervisor carries its bytes. Nothing is read from the socket after that first descriptor,
//! and what it leads to is walked as any session's directory is: through no link, and only looked at.

use std::{
    fs::{self, Permissions},
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use rustix::{
    fs::{FileType, fstat},
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

use crate::local::Folder;

/// Where the directory of the socket is in the container.
pub(super) const INSIDE: &str = "/run/remit";
const SOCKET: &str = "meet";

/// A socket that waits for a supervisor.
#[derive(Debug)]
pub(super) struct Meeting {
    listener: UnixListener,
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
        let listener = UnixListener::bind(shared.join(SOCKET))?;
        fs::set_permissions(shared.join(SOCKET), Permissions::from_mode(0o666))?;
        listener.set_nonblocking(true)?;
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
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(true)?;
        let directory = receive_directory(&stream)?;
        Ok(Shared { stream: Mutex::new(stream), directory })
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
    stream: Mutex<UnixStream>,
    /// The session's working directory, by its path alone.
    pub(super) directory: OwnedFd,
}

impl Shared {
    /// Gives a driver its pipes; `announce` tells the supervisor whose they are, in the same order.
    pub(super) fn give(&self, pipes: [BorrowedFd<'_>; 4], announce: impl FnOnce()) -> io::Result<()> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(&pipes)) {
            return Err(io::Error::other("four descriptors have no room"));
        }
        let flags = SendFlags::NOSIGNAL;
        sendmsg(stream.as_fd(), &[IoSlice::new(b"d")], &mut ancillary, flags)?;
        announce();
        Ok(())
    }
}

fn receive_directory(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0_u8];
    recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
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
