//! Installing a seccomp filter.

use std::io;

use super::descriptors::check_long;

/// Installs a filter for this process and what it becomes; each entry is one instruction of
/// classic BPF (operation, jump if true, jump if false, value).
pub(crate) fn install_filter(instructions: &[(u16, u8, u8, u32)]) -> io::Result<()> {
    let mut filter: Vec<libc::sock_filter> = instructions
        .iter()
        .map(|&(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k })
        .collect();
    let len = libc::c_ushort::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len, filter: filter.as_mut_ptr() };
    // SAFETY: the program points to `len` instructions that live across the call; the kernel
    // copies and checks them.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    };
    check_long(answer)
}
