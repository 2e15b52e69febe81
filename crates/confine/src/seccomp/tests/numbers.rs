//! The numbers written down here are those of the C library, and so are the layout and the values
//! that the kernel must understand. This checks the architecture it runs on.

use super::super::call::*;
use super::super::filter::op;
use super::super::{Arch, Errno, Instruction, Verdict};

/// Calls that both architectures have.
const EVERYWHERE: &[(Call, libc::c_long)] = &[
    (PTRACE, libc::SYS_ptrace),
    (PROCESS_VM_READV, libc::SYS_process_vm_readv),
    (PROCESS_VM_WRITEV, libc::SYS_process_vm_writev),
    (PROCESS_MADVISE, libc::SYS_process_madvise),
    (KCMP, libc::SYS_kcmp),
    (PIDFD_GETFD, libc::SYS_pidfd_getfd),
    (PRLIMIT64, libc::SYS_prlimit64),
    (MOVE_PAGES, libc::SYS_move_pages),
    (MIGRATE_PAGES, libc::SYS_migrate_pages),
    (SETPRIORITY, libc::SYS_setpriority),
    (SCHED_SETPARAM, libc::SYS_sched_setparam),
    (SCHED_SETSCHEDULER, libc::SYS_sched_setscheduler),
    (SCHED_SETATTR, libc::SYS_sched_setattr),
    (SCHED_SETAFFINITY, libc::SYS_sched_setaffinity),
    (IOPRIO_SET, libc::SYS_ioprio_set),
    (PIDFD_OPEN, libc::SYS_pidfd_open),
    (BPF, libc::SYS_bpf),
    (IO_URING_SETUP, libc::SYS_io_uring_setup),
    (IO_URING_ENTER, libc::SYS_io_uring_enter),
    (IO_URING_REGISTER, libc::SYS_io_uring_register),
    (KEYCTL, libc::SYS_keyctl),
    (ADD_KEY, libc::SYS_add_key),
    (REQUEST_KEY, libc::SYS_request_key),
    (USERFAULTFD, libc::SYS_userfaultfd),
    (PERF_EVENT_OPEN, libc::SYS_perf_event_open),
    (MEMFD_SECRET, libc::SYS_memfd_secret),
    (PERSONALITY, libc::SYS_personality),
    (MOUNT, libc::SYS_mount),
    (UMOUNT2, libc::SYS_umount2),
    (PIVOT_ROOT, libc::SYS_pivot_root),
    (CHROOT, libc::SYS_chroot),
    (OPEN_TREE, libc::SYS_open_tree),
    (MOVE_MOUNT, libc::SYS_move_mount),
    (FSOPEN, libc::SYS_fsopen),
    (FSCONFIG, libc::SYS_fsconfig),
    (FSMOUNT, libc::SYS_fsmount),
    (FSPICK, libc::SYS_fspick),
    (MOUNT_SETATTR, libc::SYS_mount_setattr),
    (NAME_TO_HANDLE_AT, libc::SYS_name_to_handle_at),
    (OPEN_BY_HANDLE_AT, libc::SYS_open_by_handle_at),
    (FANOTIFY_INIT, libc::SYS_fanotify_init),
    (UNSHARE, libc::SYS_unshare),
    (SETNS, libc::SYS_setns),
    (CLONE, libc::SYS_clone),
    (CLONE3, libc::SYS_clone3),
    (KEXEC_LOAD, libc::SYS_kexec_load),
    (INIT_MODULE, libc::SYS_init_module),
    (FINIT_MODULE, libc::SYS_finit_module),
    (DELETE_MODULE, libc::SYS_delete_module),
    (REBOOT, libc::SYS_reboot),
    (SWAPON, libc::SYS_swapon),
    (SWAPOFF, libc::SYS_swapoff),
    (ACCT, libc::SYS_acct),
    (QUOTACTL, libc::SYS_quotactl),
    (QUOTACTL_FD, libc::SYS_quotactl_fd),
    (SETTIMEOFDAY, libc::SYS_settimeofday),
    (CLOCK_SETTIME, libc::SYS_clock_settime),
    (ADJTIMEX, libc::SYS_adjtimex),
    (CLOCK_ADJTIME, libc::SYS_clock_adjtime),
    (SETHOSTNAME, libc::SYS_sethostname),
    (SETDOMAINNAME, libc::SYS_setdomainname),
    (SYSLOG, libc::SYS_syslog),
    (VHANGUP, libc::SYS_vhangup),
    (SOCKET, libc::SYS_socket),
    (SOCKETPAIR, libc::SYS_socketpair),
    (IOCTL, libc::SYS_ioctl),
    (FCHMOD, libc::SYS_fchmod),
    (FCHMODAT, libc::SYS_fchmodat),
    (SHMGET, libc::SYS_shmget),
    (SHMAT, libc::SYS_shmat),
    (SHMCTL, libc::SYS_shmctl),
    (SEMGET, libc::SYS_semget),
    (SEMOP, libc::SYS_semop),
    (SEMTIMEDOP, libc::SYS_semtimedop),
    (SEMCTL, libc::SYS_semctl),
    (MSGGET, libc::SYS_msgget),
    (MSGSND, libc::SYS_msgsnd),
    (MSGRCV, libc::SYS_msgrcv),
    (MSGCTL, libc::SYS_msgctl),
    (MQ_OPEN, libc::SYS_mq_open),
    (MQ_UNLINK, libc::SYS_mq_unlink),
    (LOOKUP_DCOOKIE, libc::SYS_lookup_dcookie),
    (NFSSERVCTL, libc::SYS_nfsservctl),
    (REMAP_FILE_PAGES, libc::SYS_remap_file_pages),
];

/// Calls that the C library knows on x86-64 only.
#[cfg(target_arch = "x86_64")]
const HERE: &[(Call, libc::c_long)] = &[
    (MODIFY_LDT, libc::SYS_modify_ldt),
    (KEXEC_FILE_LOAD, libc::SYS_kexec_file_load),
    (IOPL, libc::SYS_iopl),
    (IOPERM, libc::SYS_ioperm),
    (CHMOD, libc::SYS_chmod),
    (FCHMODAT2, libc::SYS_fchmodat2),
    (USELIB, libc::SYS_uselib),
    (USTAT, libc::SYS_ustat),
    (SYSFS, libc::SYS_sysfs),
    (SYSCTL, libc::SYS__sysctl),
];
#[cfg(not(target_arch = "x86_64"))]
const HERE: &[(Call, libc::c_long)] = &[];

/// Calls that the C library does not know yet; their numbers are the same everywhere.
const NEW: &[(Call, u32)] = &[(STATMOUNT, 457), (LISTMOUNT, 458), (OPEN_TREE_ATTR, 467)];

#[test]
fn numbers_are_those_of_the_c_library() {
    let Some(arch) = Arch::native() else { panic!("no table for this architecture") };
    for (call, number) in EVERYWHERE.iter().chain(HERE) {
        assert_eq!(call.number(arch).map(libc::c_long::from), Some(*number), "{}", call.name());
    }
    for (call, number) in NEW {
        assert_eq!((call.x86_64, call.aarch64), (Some(*number), Some(*number)));
    }
    if arch == Arch::X86_64 {
        assert_eq!(EVERYWHERE.len() + HERE.len() + NEW.len(), ALL.len(), "a call is not checked");
    }
}

#[test]
fn an_instruction_is_laid_out_as_the_kernels() {
    use std::mem::{align_of, offset_of, size_of};

    assert_eq!(size_of::<Instruction>(), size_of::<libc::sock_filter>());
    assert_eq!(align_of::<Instruction>(), align_of::<libc::sock_filter>());
    assert_eq!(offset_of!(Instruction, code), offset_of!(libc::sock_filter, code));
    assert_eq!(offset_of!(Instruction, jt), offset_of!(libc::sock_filter, jt));
    assert_eq!(offset_of!(Instruction, jf), offset_of!(libc::sock_filter, jf));
    assert_eq!(offset_of!(Instruction, k), offset_of!(libc::sock_filter, k));
}

#[test]
fn operations_are_the_kernels() {
    use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K};

    assert_eq!(u32::from(op::LOAD), libc::BPF_LD | libc::BPF_W | BPF_ABS);
    assert_eq!(u32::from(op::AND), BPF_ALU | BPF_AND | BPF_K);
    assert_eq!(u32::from(op::JUMP), BPF_JMP | BPF_JA);
    assert_eq!(u32::from(op::IF_EQUAL), BPF_JMP | BPF_JEQ | BPF_K);
    assert_eq!(u32::from(op::IF_AT_LEAST), BPF_JMP | BPF_JGE | BPF_K);
    assert_eq!(u32::from(op::IF_ANY_BIT), BPF_JMP | BPF_JSET | BPF_K);
    assert_eq!(u32::from(op::RETURN), libc::BPF_RET | BPF_K);
}

#[test]
fn answers_are_the_kernels() {
    assert_eq!(Verdict::Allow.code(), libc::SECCOMP_RET_ALLOW);
    assert_eq!(Verdict::Kill.code(), libc::SECCOMP_RET_KILL_PROCESS);
    let errors = [
        (Errno::Perm, libc::EPERM),
        (Errno::Access, libc::EACCES),
        (Errno::NoSys, libc::ENOSYS),
        (Errno::ProtoNoSupport, libc::EPROTONOSUPPORT),
        (Errno::AfNoSupport, libc::EAFNOSUPPORT),
    ];
    for (errno, number) in errors {
        assert_eq!(i32::from(errno.number()), number, "{errno}");
        let code = libc::SECCOMP_RET_ERRNO | u32::from(errno.number());
        assert_eq!(Verdict::Refuse(errno).code(), code);
    }
}
