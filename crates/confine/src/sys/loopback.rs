//! The loopback interface of a new network namespace starts down; this brings it up.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::descriptors::check;

/// Brings `lo` up, by any socket of the namespace.
pub(crate) fn bring_up_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    let up = libc::c_short::try_from(libc::IFF_UP).map_err(io::Error::other)?;
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: up },
    };
    for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
        *place = byte as libc::c_char;
    }
    // SAFETY: SIOCSIFFLAGS reads a name that ends with NUL and the flags, both set, from a
    // structure that lives across the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })?;
    Ok(())
}
