//! Messages with descriptors over a socket pair that keeps their borders.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// The most descriptors that the kernel takes in one message (`SCM_MAX_FD`).
pub(crate) const MAX_DESCRIPTORS: usize = 253;

/// Room for that many, with the header.
const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS));

/// A new pair of sockets.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends one message.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"));
    }
    let slices = [IoSlice::new(bytes)];
    retry(|| sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// Receives one message into `bytes`: its length (0 when the other end is closed) and descriptors.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> io::Result<(usize, Vec<OwnedFd>)> {
    receive_with(socket, bytes, RecvFlags::empty())
}

/// Receives one message in one of the ways there are.
fn receive_with(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
    how: RecvFlags,
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(bytes)];
    let message =
        retry(|| recvmsg(socket, &mut slices, &mut ancillary, how | RecvFlags::CMSG_CLOEXEC))?;
    let descriptors = ancillary
        .drain()
        .filter_map(|part| match part {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    Ok((message.bytes, descriptors))
}

/// Receives one message that has come already; nothing if none has.
pub(crate) fn receive_now(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> io::Result<Option<(usize, Vec<OwnedFd>)>> {
    match receive_with(socket, bytes, RecvFlags::DONTWAIT) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        answer => answer.map(Some),
    }
}

/// The longest value that travels in a message itself.
const INLINE_BYTES: usize = 8192;

/// Sends a value of any length with descriptors: in the message, or else as a memory file, which has
/// no limit as a message has.
pub(crate) fn send_long(
    socket: BorrowedFd<'_>,
    value: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if value.len() <= INLINE_BYTES {
        return send(socket, &[&[IN_MESSAGE], value].concat(), descriptors);
    }
    let file = super::memory_file(value)?;
    let all: Vec<_> = [file.as_fd()].into_iter().chain(descriptors.iter().copied()).collect();
    send(socket, &[IN_FILE], &all)
}

/// Receives such a value; an error when the other end is closed.
pub(crate) fn receive_long(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = [0; 1 + INLINE_BYTES];
    let (length, mut descriptors) = receive(socket, &mut bytes)?;
    match bytes.get(..length).and_then(<[u8]>::split_first) {
        Some((&IN_MESSAGE, value)) => Ok((value.to_vec(), descriptors)),
        Some((&IN_FILE, _)) if !descriptors.is_empty() => {
            let file = std::fs::File::from(descriptors.remove(0));
            Ok((read_whole(&file)?, descriptors))
        }
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The first byte of a message that holds the value.
const IN_MESSAGE: u8 = 0;

/// The first byte of a message whose first descriptor holds it.
const IN_FILE: u8 = 1;

/// The content of a memory file, whose position others may share.
pub(crate) fn read_whole(file: &std::fs::File) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Repeats a call that a signal interrupted, or that was only told that the other end was closed with
/// something unread in it: what that end had said before is still to be had.
fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR | Errno::CONNRESET) => {}
            answer => return Ok(answer?),
        }
    }
}
