//! The system calls that rules name, with their numbers.
//!
//! Both architectures' numbers are written down here, so a filter for either can be made and
//! tested anywhere; a test compares those of the machine it runs on with the C library's. Calls
//! that no rule names need no number.
//!
//! Source: `arch/x86/entry/syscalls/syscall_64.tbl` and `scripts/syscall.tbl` of Linux 6.18.

use super::Arch;

/// A system call: its name, and its number on each architecture that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub(super) name: &'static str,
    pub(super) x86_64: Option<u32>,
    pub(super) aarch64: Option<u32>,
}

impl Call {
    /// The name, as in the call's manual page.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The number on an architecture, or `None` where there is no such call.
    #[must_use]
    pub const fn number(self, arch: Arch) -> Option<u32> {
        match arch {
            Arch::X86_64 => self.x86_64,
            Arch::Aarch64 => self.aarch64,
        }
    }
}

/// `CONSTANT: "name", number on x86_64, number on aarch64;` where `-` is no number.
macro_rules! calls {
    ($($constant:ident: $name:literal, $x86_64:tt, $aarch64:tt;)*) => {
        $(pub(super) const $constant: Call = Call {
            name: $name,
            x86_64: calls!(@number $x86_64),
            aarch64: calls!(@number $aarch64),
        };)*

        /// All of them.
        #[cfg(test)]
        pub(super) const ALL: &[Call] = &[$($constant),*];
    };
    (@number -) => { None };
    (@number $number:literal) => { Some($number) };
}

calls! {
    // Other processes.
    PTRACE: "ptrace", 101, 117;
    PROCESS_VM_READV: "process_vm_readv", 310, 270;
    PROCESS_VM_WRITEV: "process_vm_writev", 311, 271;
    PROCESS_MADVISE: "process_madvise", 440, 440;
    KCMP: "kcmp", 312, 272;
    PIDFD_GETFD: "pidfd_getfd", 438, 438;
    PRLIMIT64: "prlimit64", 302, 261;
    MOVE_PAGES: "move_pages", 279, 239;
    MIGRATE_PAGES: "migrate_pages", 256, 238;
    SETPRIORITY: "setpriority", 141, 140;
    SCHED_SETPARAM: "sched_setparam", 142, 118;
    SCHED_SETSCHEDULER: "sched_setscheduler", 144, 119;
    SCHED_SETATTR: "sched_setattr", 314, 274;
    SCHED_SETAFFINITY: "sched_setaffinity", 203, 122;
    IOPRIO_SET: "ioprio_set", 251, 30;
    PIDFD_OPEN: "pidfd_open", 434, 434;

    // Large interfaces of the kernel.
    BPF: "bpf", 321, 280;
    IO_URING_SETUP: "io_uring_setup", 425, 425;
    IO_URING_ENTER: "io_uring_enter", 426, 426;
    IO_URING_REGISTER: "io_uring_register", 427, 427;
    KEYCTL: "keyctl", 250, 219;
    ADD_KEY: "add_key", 248, 217;
    REQUEST_KEY: "request_key", 249, 218;
    USERFAULTFD: "userfaultfd", 323, 282;
    PERF_EVENT_OPEN: "perf_event_open", 298, 241;
    MEMFD_SECRET: "memfd_secret", 447, 447;
    MODIFY_LDT: "modify_ldt", 154, -;
    PERSONALITY: "personality", 135, 92;

    // Mounts and handles.
    MOUNT: "mount", 165, 40;
    UMOUNT2: "umount2", 166, 39;
    PIVOT_ROOT: "pivot_root", 155, 41;
    CHROOT: "chroot", 161, 51;
    OPEN_TREE: "open_tree", 428, 428;
    OPEN_TREE_ATTR: "open_tree_attr", 467, 467;
    MOVE_MOUNT: "move_mount", 429, 429;
    FSOPEN: "fsopen", 430, 430;
    FSCONFIG: "fsconfig", 431, 431;
    FSMOUNT: "fsmount", 432, 432;
    FSPICK: "fspick", 433, 433;
    MOUNT_SETATTR: "mount_setattr", 442, 442;
    STATMOUNT: "statmount", 457, 457;
    LISTMOUNT: "listmount", 458, 458;
    NAME_TO_HANDLE_AT: "name_to_handle_at", 303, 264;
    OPEN_BY_HANDLE_AT: "open_by_handle_at", 304, 265;
    FANOTIFY_INIT: "fanotify_init", 300, 262;

    // Namespaces.
    UNSHARE: "unshare", 272, 97;
    SETNS: "setns", 308, 268;
    CLONE: "clone", 56, 220;
    CLONE3: "clone3", 435, 435;

    // The machine.
    KEXEC_LOAD: "kexec_load", 246, 104;
    KEXEC_FILE_LOAD: "kexec_file_load", 320, 294;
    INIT_MODULE: "init_module", 175, 105;
    FINIT_MODULE: "finit_module", 313, 273;
    DELETE_MODULE: "delete_module", 176, 106;
    REBOOT: "reboot", 169, 142;
    SWAPON: "swapon", 167, 224;
    SWAPOFF: "swapoff", 168, 225;
    ACCT: "acct", 163, 89;
    QUOTACTL: "quotactl", 179, 60;
    QUOTACTL_FD: "quotactl_fd", 443, 443;
    SETTIMEOFDAY: "settimeofday", 164, 170;
    CLOCK_SETTIME: "clock_settime", 227, 112;
    ADJTIMEX: "adjtimex", 159, 171;
    CLOCK_ADJTIME: "clock_adjtime", 305, 266;
    SETHOSTNAME: "sethostname", 170, 161;
    SETDOMAINNAME: "setdomainname", 171, 162;
    IOPL: "iopl", 172, -;
    IOPERM: "ioperm", 173, -;
    SYSLOG: "syslog", 103, 116;
    VHANGUP: "vhangup", 153, 58;

    // Sockets, devices and files.
    SOCKET: "socket", 41, 198;
    SOCKETPAIR: "socketpair", 53, 199;
    IOCTL: "ioctl", 16, 29;
    CHMOD: "chmod", 90, -;
    FCHMOD: "fchmod", 91, 52;
    FCHMODAT: "fchmodat", 268, 53;
    FCHMODAT2: "fchmodat2", 452, 452;

    // System V IPC and message queues.
    SHMGET: "shmget", 29, 194;
    SHMAT: "shmat", 30, 196;
    SHMCTL: "shmctl", 31, 195;
    SEMGET: "semget", 64, 190;
    SEMOP: "semop", 65, 193;
    SEMTIMEDOP: "semtimedop", 220, 192;
    SEMCTL: "semctl", 66, 191;
    MSGGET: "msgget", 68, 186;
    MSGSND: "msgsnd", 69, 189;
    MSGRCV: "msgrcv", 70, 188;
    MSGCTL: "msgctl", 71, 187;
    MQ_OPEN: "mq_open", 240, 180;
    MQ_UNLINK: "mq_unlink", 241, 181;

    // Obsolete.
    LOOKUP_DCOOKIE: "lookup_dcookie", 212, 18;
    NFSSERVCTL: "nfsservctl", 180, 42;
    USELIB: "uselib", 134, -;
    USTAT: "ustat", 136, -;
    SYSFS: "sysfs", 139, -;
    SYSCTL: "_sysctl", 156, -;
    REMAP_FILE_PAGES: "remap_file_pages", 216, 234;
}
