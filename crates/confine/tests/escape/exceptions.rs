//! Attempts that this or another machine cannot show to work, each with the reason.
//!
//! A row holds only for the errors it names: an attempt that fails in another way has a fault of
//! its own, and the suite fails.

use rustix::io::Errno;

use crate::attempts::Said;
use crate::stage::Role;

struct Exception {
    name: &'static str,
    role: Option<Role>,
    errors: &'static [Errno],
    reason: &'static str,
}

/// For both roles.
const fn row(name: &'static str, errors: &'static [Errno], reason: &'static str) -> Exception {
    Exception { name, role: None, errors, reason }
}

/// For ordinary users only.
const fn user(name: &'static str, errors: &'static [Errno], reason: &'static str) -> Exception {
    Exception { name, role: Some(Role::User), errors, reason }
}

/// Errors of a socket family that the kernel was built without.
const NO_FAMILY: &[Errno] = &[Errno::AFNOSUPPORT, Errno::PROTONOSUPPORT, Errno::SOCKTNOSUPPORT];
const NO_FILE: &[Errno] = &[Errno::NOENT, Errno::NXIO, Errno::NODEV];
const NO_CALL: &[Errno] = &[Errno::NOSYS];
const REFUSED: &[Errno] = &[Errno::PERM, Errno::ACCESS];

const FAMILY: &str = "the kernel has no such sockets";
const FILE: &str = "the machine has no such file or device";
const CALL: &str = "the kernel was built without this call";
const SWITCH: &str = "a switch of this machine forbids it to ordinary users";

const EXCEPTIONS: &[Exception] = &[
    row("files.dev-mem", NO_FILE, FILE),
    row("files.proc-kcore", NO_FILE, FILE),
    row("files.sysrq", NO_FILE, FILE),
    row("files.modprobe-path", NO_FILE, FILE),
    row("files.binfmt-register", NO_FILE, FILE),
    row("files.uevent-helper", NO_FILE, FILE),
    row("files.release-agent", NO_FILE, FILE),
    row("files.block-device", NO_FILE, FILE),
    row("files.dev-tun", NO_FILE, FILE),
    row("files.dev-fuse", NO_FILE, FILE),
    row("files.dev-kvm", NO_FILE, FILE),
    row("files.dev-loop", NO_FILE, FILE),
    row("files.dev-userfaultfd", NO_FILE, FILE),
    row("files.securityfs", &[], "none of these file systems is mounted"),
    row("network.crypto", NO_FAMILY, FAMILY),
    row("network.key", NO_FAMILY, FAMILY),
    row("network.tipc", NO_FAMILY, FAMILY),
    row("network.bluetooth", NO_FAMILY, FAMILY),
    row("network.can", NO_FAMILY, FAMILY),
    row("network.rds", NO_FAMILY, FAMILY),
    row("network.smc", NO_FAMILY, FAMILY),
    row("network.sctp", NO_FAMILY, FAMILY),
    row("network.vsock", NO_FAMILY, FAMILY),
    row("network.xdp", NO_FAMILY, FAMILY),
    row("network.mptcp", NO_FAMILY, FAMILY),
    row("network.netlink-audit", NO_FAMILY, FAMILY),
    row("network.netlink-netfilter", NO_FAMILY, FAMILY),
    row("network.netlink-xfrm", NO_FAMILY, FAMILY),
    row("network.netlink-connector", NO_FAMILY, FAMILY),
    row(
        "network.dns",
        &[Errno::AGAIN, Errno::CONNREFUSED, Errno::NETUNREACH],
        "no name server answers here",
    ),
    row("kernel.setns-user", &[Errno::INVAL], "it is in that namespace already"),
    row("kernel.kexec", NO_CALL, CALL),
    row("kernel.module-load", NO_CALL, CALL),
    row("kernel.module-file", NO_CALL, CALL),
    row("kernel.module-remove", NO_CALL, CALL),
    row("kernel.io-level", NO_CALL, CALL),
    row("kernel.io-port", NO_CALL, CALL),
    row("kernel.quota", NO_CALL, CALL),
    row("kernel.secret-memory", NO_CALL, CALL),
    row("kernel.raise-limit", REFUSED, "this superuser has no CAP_SYS_RESOURCE"),
    row("kernel.x32-getpid", NO_CALL, CALL),
    row("kernel.x32-ptrace", NO_CALL, CALL),
    user("files.init-environ", REFUSED, "init belongs to another user"),
    user("files.dev-fuse", REFUSED, SWITCH),
    user("processes.advise", REFUSED, "to page out another's memory needs a capability"),
    user("kernel.perf-event", REFUSED, SWITCH),
    user("kernel.userfaultfd", REFUSED, SWITCH),
    user("kernel.unshare-user", REFUSED, SWITCH),
    user("kernel.clone-user", REFUSED, SWITCH),
    user("kernel.clone3-user", REFUSED, SWITCH),
    user("kernel.clone3-user-net", REFUSED, SWITCH),
];

/// The reason why this outcome is no fault of the attempt, if there is one.
pub(crate) fn find(name: &str, role: Role, said: &Said) -> Option<&'static str> {
    let fits = |row: &&Exception| {
        row.name == name && row.role.is_none_or(|only| only == role) && row.fits(said)
    };
    EXCEPTIONS.iter().find(fits).map(|row| row.reason)
}

/// The attempts that rows are about.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    EXCEPTIONS.iter().map(|row| row.name)
}

impl Exception {
    /// A row without errors is for a refusal that has no errno.
    fn fits(&self, said: &Said) -> bool {
        match said {
            Said::Denied(Some(errno), _) => {
                self.errors.iter().any(|error| error.raw_os_error() == *errno)
            }
            Said::Denied(None, _) => self.errors.is_empty(),
            _ => false,
        }
    }
}
