//! Sockets made by someone else: the kernel's rings, and descriptors of the victim.

use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::{AsRawFd as _, OwnedFd};

use super::{PATIENCE, greeting};
use crate::attempt::{Attempt, Given, Stop, Tried, denied};
use crate::sys::{address, call, halves, map, owned};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("network.ring-setup", "makes an io_uring", ring_setup),
    Attempt::new("network.ring-connect", "opens and connects a socket by io_uring", ring_connect),
    Attempt::new("network.inherited-socket", "talks on an inherited connection", inherited),
];

fn ring_setup(_: &Given) -> Tried {
    Ring::new().map(|_| "a ring".to_owned())
}

/// A submission ring with the smallest of everything.
struct Ring {
    fd: OwnedFd,
    ring: &'static mut [u8],
    entries: &'static mut [u8],
    parameters: Vec<u8>,
}

/// `struct io_uring_params`: its size, and where the offsets of the two rings begin.
const PARAMETERS: usize = 120;
const SUBMISSION: usize = 40;
const COMPLETION: usize = 80;
/// `IORING_OFF_SQES`.
const ENTRIES: i64 = 0x1000_0000;
const OP_CONNECT: u32 = 16;
const OP_SOCKET: u32 = 45;

impl Ring {
    fn new() -> Result<Self, Stop> {
        let mut parameters = vec![0; PARAMETERS];
        let fd = owned(call!(libc::SYS_io_uring_setup, 4, &mut parameters[..]))?;
        // Both rings share one mapping, far smaller than this page's worth of entries.
        let ring = map(4096, Some((&fd, 0)))?;
        let entries = map(4096, Some((&fd, ENTRIES)))?;
        Ok(Self { fd, ring, entries, parameters })
    }

    /// Where a field lies in the ring, by the field's place in the parameters.
    fn place(&self, field: usize) -> Result<usize, Stop> {
        let word = read_word(&self.parameters, field).ok_or_else(|| denied("short parameters"))?;
        usize::try_from(word).map_err(|_| denied("a far offset"))
    }

    /// Submits one entry of 64 bytes and gives its result.
    fn submit(&mut self, entry: &[u8]) -> Result<i32, Stop> {
        let (tail, array) = (self.place(SUBMISSION + 4)?, self.place(SUBMISSION + 24)?);
        let (head, done) = (self.place(COMPLETION)?, self.place(COMPLETION + 20)?);
        let next = read_word(self.ring, tail).unwrap_or(0);
        let finished = read_word(self.ring, head).unwrap_or(0);
        self.entries[..entry.len()].copy_from_slice(entry);
        let slot = array + 4 * usize::try_from(next % 4).unwrap_or(0);
        write_word(self.ring, slot, 0);
        write_word(self.ring, tail, next + 1);
        const GETEVENTS: u32 = 1;
        call!(libc::SYS_io_uring_enter, &self.fd, 1, 1, GETEVENTS, 0, 0)?;
        let result = done + 16 * usize::try_from(finished % 8).unwrap_or(0) + 8;
        write_word(self.ring, head, finished + 1);
        match read_word(self.ring, result).unwrap_or(0).cast_signed() {
            errno @ ..0 => Err(std::io::Error::from_raw_os_error(-errno).into()),
            number => Ok(number),
        }
    }
}

fn read_word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn write_word(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_ne_bytes());
    }
}

/// `struct io_uring_sqe`: operation, descriptor, offset, address, length.
fn entry(operation: u32, fd: i32, offset: u64, address: u64, length: u32) -> Vec<u8> {
    let mut bytes = halves(&[operation, fd.cast_unsigned()]);
    bytes.extend(offset.to_ne_bytes());
    bytes.extend(address.to_ne_bytes());
    bytes.extend(length.to_ne_bytes());
    bytes.resize(64, 0);
    bytes
}

fn ring_connect(given: &Given) -> Tried {
    let port: u16 = given.number("tcp")?;
    let mut ring = Ring::new()?;
    let stream = u64::from(libc::SOCK_STREAM.cast_unsigned());
    let number = ring.submit(&entry(OP_SOCKET, libc::AF_INET, stream, 0, 0))?;
    let socket = TcpStream::from(owned(Ok(number.into()))?);
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut target = u16::try_from(libc::AF_INET).unwrap_or_default().to_ne_bytes().to_vec();
    target.extend(port.to_be_bytes());
    target.extend(Ipv4Addr::LOCALHOST.octets());
    target.resize(16, 0);
    ring.submit(&entry(OP_CONNECT, socket.as_raw_fd(), 16, address(&target), 0))?;
    greeting(socket)
}

/// Writes to a connection that the parent left open.
fn inherited(given: &Given) -> Tried {
    let number: i32 = given.number("sockfd")?;
    call!(libc::SYS_sendto, number, &b"from the probe"[..], 14, 0, 0, 0)?;
    Ok("sent".to_owned())
}
