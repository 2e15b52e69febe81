//! Raw system calls with arguments whose pointers live as long as the call, and forks.
//!
//! The attempts need calls by number, in shapes no wrapper offers. Two things keep them sound:
//! buffers are lent as slices, so that a pointer is valid during the call, and callers pass lengths
//! that fit the slices. The process has one thread except where `races` says otherwise.
#![expect(unsafe_code, reason = "the attempts are raw system calls")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_long, pid_t};

/// One argument of a call.
#[derive(Debug)]
pub(crate) enum Arg<'a> {
    Number(c_long),
    Text(&'a CStr),
    In(&'a [u8]),
    Out(&'a mut [u8]),
}

impl Arg<'_> {
    fn into_register(self) -> c_long {
        match self {
            Self::Number(number) => number,
            Self::Text(text) => text.as_ptr() as c_long,
            Self::In(bytes) => bytes.as_ptr() as c_long,
            Self::Out(bytes) => bytes.as_mut_ptr() as c_long,
        }
    }
}

macro_rules! number_args {
    ($($kind:ty),*) => { $(
        impl From<$kind> for Arg<'_> {
            fn from(number: $kind) -> Self {
                Self::Number(number as c_long)
            }
        }
    )* };
}
number_args!(i32, i64, u32, u64, usize);

impl<'a> From<&'a CStr> for Arg<'a> {
    fn from(text: &'a CStr) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a CString> for Arg<'a> {
    fn from(text: &'a CString) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::In(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Arg<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::In(bytes)
    }
}

impl<'a> From<&'a mut [u8]> for Arg<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        Self::Out(bytes)
    }
}

impl<'a> From<&'a OwnedFd> for Arg<'a> {
    fn from(fd: &'a OwnedFd) -> Self {
        Self::from(fd.as_raw_fd())
    }
}

/// Makes the call `number`. Arguments may be numbers, texts, buffers and descriptors.
macro_rules! call {
    ($number:expr $(, $arg:expr)* $(,)?) => {
        $crate::sys::call_number($number, [$($crate::sys::Arg::from($arg)),*])
    };
}
pub(crate) use call;

/// What the macro `call` expands to.
pub(crate) fn call_number<const N: usize>(
    number: c_long,
    args: [Arg<'_>; N],
) -> io::Result<c_long> {
    let mut registers = [0; 6];
    for (register, arg) in registers.iter_mut().zip(args) {
        *register = arg.into_register();
    }
    let [a, b, c, d, e, f] = registers;
    // SAFETY: pointers among the registers come from borrows that outlive the call, and the
    // lengths passed with them are those of the borrowed buffers.
    checked(unsafe { libc::syscall(number, a, b, c, d, e, f) })
}

/// A call's result, or the errno it left.
pub(crate) fn checked<T: PartialOrd + From<i8>>(result: T) -> io::Result<T> {
    if result < T::from(0) { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The descriptor a call returned.
pub(crate) fn owned(result: io::Result<c_long>) -> io::Result<OwnedFd> {
    let number = RawFd::try_from(result?).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the number is a descriptor that the kernel has just made for us.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Words as the bytes of a kernel structure.
pub(crate) fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// Half words as the bytes of a kernel structure.
pub(crate) fn halves(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// The address of a buffer, for structures that hold pointers.
pub(crate) fn address(bytes: &[u8]) -> u64 {
    bytes.as_ptr() as u64
}

/// Runs `body` in a child and gives its process id; the child ends with what `body` returns.
pub(crate) fn fork(body: impl FnOnce() -> c_int) -> io::Result<pid_t> {
    // SAFETY: the attempts that fork have one thread, so the child may go on as it likes.
    let pid = checked(unsafe { libc::fork() })?;
    if pid == 0 {
        exit_now(body());
    }
    Ok(pid)
}

/// Ends this process at once, without destructors or exit handlers.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// Waits for a child and gives its wait status.
pub(crate) fn wait(pid: pid_t) -> io::Result<c_int> {
    let mut status = 0;
    // SAFETY: the status is ours for the time of the call.
    checked(unsafe { libc::waitpid(pid, &raw mut status, 0) })?;
    Ok(status)
}

/// The process number of a call that forks; the child itself ends here at once.
pub(crate) fn end_child(result: io::Result<c_long>) -> io::Result<pid_t> {
    match result? {
        0 => exit_now(0),
        pid => {
            let pid = pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidData)?;
            wait(pid)?;
            Ok(pid)
        }
    }
}

/// Anonymous memory, private, not touched yet; it stays for the life of the process.
pub(crate) fn map(
    bytes: usize,
    shared_fd: Option<(&OwnedFd, i64)>,
) -> io::Result<&'static mut [u8]> {
    let (flags, fd, offset) = match shared_fd {
        Some((fd, offset)) => (libc::MAP_SHARED, fd.as_raw_fd(), offset),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
    };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel picks a fresh range; nothing of ours lives there.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, fd, offset) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range is mapped, `bytes` long, readable, writable, zeroed, and never unmapped.
    Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), bytes) })
}

/// Becomes the program `arguments[0]` (a path) with this environment, and nothing reset, unlike
/// the standard library's `exec`; returns only to say why it could not.
pub(crate) fn exec(arguments: &[CString]) -> io::Error {
    let Some(program) = arguments.first() else { return io::ErrorKind::InvalidInput.into() };
    let ended = std::iter::once(std::ptr::null());
    let pointers: Vec<_> = arguments.iter().map(|text| text.as_ptr()).chain(ended).collect();
    // SAFETY: the pointers are to C strings that live here, and the list ends with a null.
    unsafe { libc::execv(program.as_ptr(), pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// Sets what happens on a signal: ignored, or the default.
pub(crate) fn ignore_signal(signal: c_int, ignored: bool) {
    let action = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: neither of the two runs code of ours.
    unsafe { libc::signal(signal, action) };
}

/// Whether SIGPIPE was ignored when this program was executed.
static PIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Run by the loader before `main`, and so before the runtime ignores the signal.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_PIPE: extern "C" fn() = look_at_pipe;

extern "C" fn look_at_pipe() {
    PIPE_WAS_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
}

/// Whether a signal is ignored.
pub(crate) fn is_ignored(signal: c_int) -> bool {
    // SAFETY: all-zero bytes are a valid value of the structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is changed, and the structure that is filled is ours.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// See the static of this name.
pub(crate) fn pipe_was_ignored() -> bool {
    PIPE_WAS_IGNORED.load(Ordering::Relaxed)
}

/// Sets the file mode mask and gives the old one.
pub(crate) fn umask(mask: libc::mode_t) -> libc::mode_t {
    // SAFETY: it takes and returns a number.
    unsafe { libc::umask(mask) }
}

/// The system call `number` by the entry for 32-bit programs, without arguments that are pointers.
#[cfg(target_arch = "x86_64")]
pub(crate) fn call_i386(number: u32, first: u32, second: u32, third: u32) -> i32 {
    let mut result = number;
    // SAFETY: the entry takes numbers in these registers and keeps all others; rbx may not be
    // named as an operand, so it is swapped in and out.
    unsafe {
        std::arch::asm!(
            "xchg {first:r}, rbx",
            "int 0x80",
            "xchg {first:r}, rbx",
            first = inout(reg) u64::from(first) => _,
            inout("eax") result,
            in("ecx") second,
            in("edx") third,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    result.cast_signed()
}
