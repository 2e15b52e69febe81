//! Calls and the error each must get.
//!
//! The arguments are such that without the filter a call does nothing: it fails, with another error
//! than the filter's wherever the kernel allows that, or it is harmless.

/// A call that must be refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) number: libc::c_long,
    pub(crate) args: [u64; 6],
    pub(crate) errno: i32,
}

/// A case with the first arguments; the others are 0.
const fn case(name: &'static str, number: libc::c_long, first: &[u64], errno: i32) -> Case {
    let mut args = [0; 6];
    let mut i = 0;
    while i < first.len() {
        args[i] = first[i];
        i += 1;
    }
    Case { name, number, args, errno }
}

/// No descriptor, no such number, no such flags.
const NONE: u64 = u64::MAX;
/// A process that does not exist.
const NOBODY: u64 = 0x7fff_fff0;
/// An address that is not null and not valid.
const BAD: u64 = 1;

const NEWUSER: u64 = 0x1000_0000;
const NEWNET: u64 = 0x4000_0000;
const NEWNS: u64 = 0x0002_0000;
const NEWTIME: u64 = 0x80;
/// Can't be together with a new user or mount namespace.
const SHARED_FS: u64 = 0x200;

/// Refused in every profile.
pub(crate) const ALWAYS: &[Case] = &[
    case("ptrace", libc::SYS_ptrace, &[2, NOBODY], libc::EPERM),
    case("process_vm_readv", libc::SYS_process_vm_readv, &[1, 0, 0, 0, 0, 1], libc::EPERM),
    case("process_vm_writev", libc::SYS_process_vm_writev, &[1, 0, 0, 0, 0, 1], libc::EPERM),
    case("process_madvise", libc::SYS_process_madvise, &[NONE, 0, 0, 0, NONE], libc::EPERM),
    case("kcmp", libc::SYS_kcmp, &[NOBODY, NOBODY], libc::EPERM),
    case("pidfd_getfd", libc::SYS_pidfd_getfd, &[NONE, 0, 0], libc::EPERM),
    case("prlimit64", libc::SYS_prlimit64, &[NOBODY, 7, BAD], libc::EPERM),
    case("move_pages", libc::SYS_move_pages, &[NOBODY, 0, 0, 0, 0, 1], libc::EPERM),
    case("migrate_pages", libc::SYS_migrate_pages, &[NOBODY], libc::EPERM),
    case("bpf", libc::SYS_bpf, &[NONE], libc::EPERM),
    case("io_uring_setup", libc::SYS_io_uring_setup, &[0, 0], libc::ENOSYS),
    case("io_uring_enter", libc::SYS_io_uring_enter, &[NONE], libc::ENOSYS),
    case("io_uring_register", libc::SYS_io_uring_register, &[NONE], libc::ENOSYS),
    case("keyctl", libc::SYS_keyctl, &[NONE], libc::EPERM),
    case("add_key", libc::SYS_add_key, &[], libc::EPERM),
    case("request_key", libc::SYS_request_key, &[], libc::EPERM),
    case("userfaultfd", libc::SYS_userfaultfd, &[NONE], libc::EPERM),
    case("perf_event_open", libc::SYS_perf_event_open, &[], libc::EPERM),
    case("memfd_secret", libc::SYS_memfd_secret, &[NONE], libc::ENOSYS),
    case("personality", libc::SYS_personality, &[0x40000], libc::EPERM),
    case("personality", libc::SYS_personality, &[0x400000], libc::EPERM),
    case("personality", libc::SYS_personality, &[0x1_0000_0000 | 0x40000], libc::EPERM),
    case("mount", libc::SYS_mount, &[], libc::EPERM),
    case("umount2", libc::SYS_umount2, &[0, NONE], libc::EPERM),
    case("pivot_root", libc::SYS_pivot_root, &[], libc::EPERM),
    case("chroot", libc::SYS_chroot, &[], libc::EPERM),
    case("open_tree", libc::SYS_open_tree, &[NONE, 0, NONE], libc::EPERM),
    case("open_tree_attr", 467, &[NONE, 0, NONE], libc::EPERM),
    case("move_mount", libc::SYS_move_mount, &[NONE, 0, NONE, 0, NONE], libc::EPERM),
    case("fsopen", libc::SYS_fsopen, &[0, NONE], libc::EPERM),
    case("fsconfig", libc::SYS_fsconfig, &[NONE, NONE], libc::EPERM),
    case("fsmount", libc::SYS_fsmount, &[NONE, NONE, NONE], libc::EPERM),
    case("fspick", libc::SYS_fspick, &[NONE, 0, NONE], libc::EPERM),
    case("mount_setattr", libc::SYS_mount_setattr, &[NONE, 0, NONE], libc::EPERM),
    case("statmount", 457, &[0, 0, 0, NONE], libc::ENOSYS),
    case("listmount", 458, &[0, 0, 0, NONE], libc::ENOSYS),
    case("name_to_handle_at", libc::SYS_name_to_handle_at, &[NONE, 0, 0, 0, NONE], libc::EPERM),
    case("open_by_handle_at", libc::SYS_open_by_handle_at, &[NONE], libc::EPERM),
    case("fanotify_init", libc::SYS_fanotify_init, &[NONE, NONE], libc::EPERM),
    case("unshare", libc::SYS_unshare, &[NEWUSER | 1], libc::EPERM),
    case("unshare", libc::SYS_unshare, &[NEWNET | 1], libc::EPERM),
    case("unshare", libc::SYS_unshare, &[NEWTIME | 1], libc::EPERM),
    case("unshare", libc::SYS_unshare, &[0x1_0000_0000 | NEWUSER | 1], libc::EPERM),
    case("clone", libc::SYS_clone, &[NEWUSER | SHARED_FS], libc::EPERM),
    case("clone", libc::SYS_clone, &[NEWNS | SHARED_FS], libc::EPERM),
    case("clone3", libc::SYS_clone3, &[], libc::ENOSYS),
    case("setns", libc::SYS_setns, &[NONE], libc::EPERM),
    case("kexec_load", libc::SYS_kexec_load, &[0, 0, 0, NONE], libc::EPERM),
    case("kexec_file_load", libc::SYS_kexec_file_load, &[NONE, NONE, 0, 0, NONE], libc::EPERM),
    case("init_module", libc::SYS_init_module, &[], libc::EPERM),
    case("finit_module", libc::SYS_finit_module, &[NONE, 0, NONE], libc::EPERM),
    case("delete_module", libc::SYS_delete_module, &[], libc::EPERM),
    case("reboot", libc::SYS_reboot, &[], libc::EPERM),
    case("swapon", libc::SYS_swapon, &[0, NONE], libc::EPERM),
    case("swapoff", libc::SYS_swapoff, &[], libc::EPERM),
    case("acct", libc::SYS_acct, &[BAD], libc::EPERM),
    case("quotactl", libc::SYS_quotactl, &[NONE], libc::EPERM),
    case("quotactl_fd", libc::SYS_quotactl_fd, &[NONE], libc::EPERM),
    case("settimeofday", libc::SYS_settimeofday, &[BAD], libc::EPERM),
    case("clock_settime", libc::SYS_clock_settime, &[NONE], libc::EPERM),
    case("adjtimex", libc::SYS_adjtimex, &[], libc::EPERM),
    case("clock_adjtime", libc::SYS_clock_adjtime, &[], libc::EPERM),
    case("sethostname", libc::SYS_sethostname, &[0, NONE], libc::EPERM),
    case("setdomainname", libc::SYS_setdomainname, &[0, NONE], libc::EPERM),
    case("syslog", libc::SYS_syslog, &[99], libc::EPERM),
    case("socket", libc::SYS_socket, &[40, 1], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[0x1_0000_0000 | 40, 1], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[38, 5], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[17, 3], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[44, 3], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[15, 3, 2], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[31, 3, 1], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[29, 3, 1], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[30, 5], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[43, 1], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[21, 5], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[24, 2], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[41, 2], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[45, 2], libc::EAFNOSUPPORT),
    case("socket", libc::SYS_socket, &[2, 3, 1], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[10, 3, 58], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[2, 10, 0x300], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[2, 1, 262], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[2, 5, 132], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[2, 2, 115], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[16, 3, 9], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[16, 3, 12], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[16, 3, 15], libc::EPROTONOSUPPORT),
    case("socket", libc::SYS_socket, &[16, 3, 6], libc::EPROTONOSUPPORT),
    case("socketpair", libc::SYS_socketpair, &[30, 5, 0, 0], libc::EAFNOSUPPORT),
    case("ioctl", libc::SYS_ioctl, &[NONE, 0x5412], libc::EPERM),
    case("ioctl", libc::SYS_ioctl, &[NONE, 0x1_0000_0000 | 0x5412], libc::EPERM),
    case("ioctl", libc::SYS_ioctl, &[NONE, 0x541c], libc::EPERM),
    case("ioctl", libc::SYS_ioctl, &[NONE, 0x8000_0000_0000_0000 | 0x541c], libc::EPERM),
    case("ioctl", libc::SYS_ioctl, &[NONE, 0x5423], libc::EPERM),
    case("fchmod", libc::SYS_fchmod, &[NONE, 0o4755], libc::EPERM),
    case("fchmodat", libc::SYS_fchmodat, &[NONE, 0, 0o4755], libc::EPERM),
    case("fchmodat2", 452, &[NONE, 0, 0o4755], libc::EPERM),
    case("lookup_dcookie", libc::SYS_lookup_dcookie, &[NONE], libc::ENOSYS),
    case("nfsservctl", libc::SYS_nfsservctl, &[NONE], libc::ENOSYS),
    case("remap_file_pages", libc::SYS_remap_file_pages, &[0, 0, 1], libc::ENOSYS),
];

/// The same, for calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
pub(crate) const X86: &[Case] = &[
    case("iopl", libc::SYS_iopl, &[9], libc::EPERM),
    case("ioperm", libc::SYS_ioperm, &[0, NONE], libc::EPERM),
    case("modify_ldt", libc::SYS_modify_ldt, &[], libc::ENOSYS),
    case("chmod", libc::SYS_chmod, &[0, 0o4755], libc::EPERM),
    case("ustat", libc::SYS_ustat, &[NONE], libc::ENOSYS),
    case("sysfs", libc::SYS_sysfs, &[3], libc::ENOSYS),
    case("uselib", libc::SYS_uselib, &[], libc::ENOSYS),
    case("_sysctl", libc::SYS__sysctl, &[], libc::ENOSYS),
];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const X86: &[Case] = &[];

/// Refused where no namespace stands behind the process.
pub(crate) const WITHOUT_NAMESPACES: &[Case] = &[
    case("socket", libc::SYS_socket, &[2, 1], libc::EACCES),
    case("socket", libc::SYS_socket, &[2, 2, 17], libc::EACCES),
    case("socket", libc::SYS_socket, &[2, 3, 1], libc::EACCES),
    case("socket", libc::SYS_socket, &[10, 1], libc::EACCES),
    case("socket", libc::SYS_socket, &[10, 2], libc::EACCES),
    case("socket", libc::SYS_socket, &[16, 3], libc::EACCES),
    case("socket", libc::SYS_socket, &[16, 3, 12], libc::EACCES),
    case("socket", libc::SYS_socket, &[1, 1], libc::EACCES),
    case("socket", libc::SYS_socket, &[1, 0o2_000_002], libc::EACCES),
    case("socket", libc::SYS_socket, &[0x1_0000_0000 | 1, 5], libc::EACCES),
    case("socketpair", libc::SYS_socketpair, &[1, 2], libc::EACCES),
    case("socketpair", libc::SYS_socketpair, &[1, 3], libc::EACCES),
    case("socketpair", libc::SYS_socketpair, &[1, 0o2_000_002], libc::EACCES),
    case("shmget", libc::SYS_shmget, &[0x5ec0, 0, 0], libc::ENOSYS),
    case("shmat", libc::SYS_shmat, &[NONE], libc::ENOSYS),
    case("shmctl", libc::SYS_shmctl, &[NONE, NONE], libc::ENOSYS),
    case("semget", libc::SYS_semget, &[0x5ec0, NONE], libc::ENOSYS),
    case("semop", libc::SYS_semop, &[NONE], libc::ENOSYS),
    case("semtimedop", libc::SYS_semtimedop, &[NONE], libc::ENOSYS),
    case("semctl", libc::SYS_semctl, &[NONE, NONE], libc::ENOSYS),
    case("msgget", libc::SYS_msgget, &[0x5ec0], libc::ENOSYS),
    case("msgsnd", libc::SYS_msgsnd, &[NONE], libc::ENOSYS),
    case("msgrcv", libc::SYS_msgrcv, &[NONE], libc::ENOSYS),
    case("msgctl", libc::SYS_msgctl, &[NONE, NONE], libc::ENOSYS),
    case("mq_open", libc::SYS_mq_open, &[], libc::ENOSYS),
    case("mq_unlink", libc::SYS_mq_unlink, &[], libc::ENOSYS),
    case("setpriority", libc::SYS_setpriority, &[0, NOBODY], libc::EPERM),
    case("setpriority", libc::SYS_setpriority, &[1, NOBODY], libc::EPERM),
    case("setpriority", libc::SYS_setpriority, &[2, NOBODY], libc::EPERM),
    case("setpriority", libc::SYS_setpriority, &[0, 0x1_0000_0000 | NOBODY], libc::EPERM),
    case("sched_setparam", libc::SYS_sched_setparam, &[NOBODY, BAD], libc::EPERM),
    case("sched_setscheduler", libc::SYS_sched_setscheduler, &[NOBODY, 3, BAD], libc::EPERM),
    case("sched_setattr", libc::SYS_sched_setattr, &[NOBODY, BAD], libc::EPERM),
    case("sched_setaffinity", libc::SYS_sched_setaffinity, &[NOBODY, 8, BAD], libc::EPERM),
    case("ioprio_set", libc::SYS_ioprio_set, &[1, NOBODY, 0x4000], libc::EPERM),
    case("ioprio_set", libc::SYS_ioprio_set, &[3, NOBODY, 0x4000], libc::EPERM),
    case("pidfd_open", libc::SYS_pidfd_open, &[NOBODY], libc::ENOSYS),
];
