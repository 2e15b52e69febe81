//! How a copy of the host's executable becomes the launcher: a constructor, run before `main`.
//!
//! The dynamic loader (or the C library's start code in a static program) calls every function in
//! `.init_array` before `main`. This one costs a program that is not the launcher a search of the
//! environment for two names. The program is the launcher only if it was started as one: the name
//! is there, and descriptor 0 is a socket that keeps the borders of messages. So it is with a stage,
//! the copy that `bwrap` starts.

use std::ffi::CStr;
use std::os::fd::AsFd;

use super::descriptors::adopt;
use crate::{inside, launcher};

/// The constructor. Whoever starts a launcher names it, so that no linker leaves it out.
#[used]
#[unsafe(link_section = ".init_array")]
pub(crate) static ENTRY: extern "C" fn() = enter;

/// Serves and ends if this process is a launcher; returns otherwise.
extern "C" fn enter() {
    let (is_launcher, is_stage) = (is_named(launcher::MARK), is_named(inside::STAGE_MARK));
    if !is_launcher && !is_stage {
        return;
    }
    let Ok(socket) = adopt(0) else { return };
    if launcher::is_message_socket(socket.as_fd()) {
        // Never on to `main`: the host that wanted a launcher may be gone already.
        if is_launcher {
            launcher::serve(socket);
        }
        // It takes the number over itself.
        std::mem::forget(socket);
        inside::run_as_stage();
    }
    // Not ours after all: the number stays open for the program that it belongs to.
    std::mem::forget(socket);
}

/// Whether the environment has a name.
fn is_named(name: &CStr) -> bool {
    // SAFETY: the name ends with NUL. Before `main` there is one thread, so nobody changes the
    // environment meanwhile, and the pointer is only compared with null.
    !unsafe { libc::getenv(name.as_ptr()) }.is_null()
}
