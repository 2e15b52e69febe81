//! The file system's arrangement: mounts old and new, the root, and ways to open a file without a
//! path. The sandbox's root and Landlock's rules are both about paths.

use super::super::{Rule, call};
use super::{ENOSYS, EPERM};

pub(super) const RULES: &[Rule] = &[
    Rule::refuse(call::MOUNT, EPERM, "Could make a read-only directory writable again."),
    Rule::refuse(call::UMOUNT2, EPERM, "Could uncover what a mount hides."),
    Rule::refuse(call::PIVOT_ROOT, EPERM, "Changes the root."),
    Rule::refuse(
        call::CHROOT,
        EPERM,
        "Changes the root; with an open directory, a way out of one.",
    ),
    Rule::refuse(call::OPEN_TREE, EPERM, "Copies a mount without what is mounted on it."),
    Rule::refuse(
        call::OPEN_TREE_ATTR,
        EPERM,
        "Copies a mount and changes whether it is read-only.",
    ),
    Rule::refuse(call::MOVE_MOUNT, EPERM, "Puts a mount in place."),
    Rule::refuse(call::FSOPEN, EPERM, "Makes a file system; `mount` in steps."),
    Rule::refuse(call::FSCONFIG, EPERM, "Makes a file system; `mount` in steps."),
    Rule::refuse(call::FSMOUNT, EPERM, "Makes a file system; `mount` in steps."),
    Rule::refuse(call::FSPICK, EPERM, "Reconfigures a mounted file system."),
    Rule::refuse(call::MOUNT_SETATTR, EPERM, "Could make a read-only mount writable again."),
    Rule::refuse(
        call::STATMOUNT,
        ENOSYS,
        "Tells of mounts without a path, so that neither the root nor Landlock decides.",
    ),
    Rule::refuse(
        call::LISTMOUNT,
        ENOSYS,
        "Tells of mounts without a path, so that neither the root nor Landlock decides.",
    ),
    Rule::refuse(call::NAME_TO_HANDLE_AT, EPERM, "The first half of opening without a path."),
    Rule::refuse(
        call::OPEN_BY_HANDLE_AT,
        EPERM,
        "Opens a file by number, outside of the root too.",
    ),
    Rule::refuse(
        call::FANOTIFY_INIT,
        EPERM,
        "Watches whole file systems and hands out their files.",
    ),
];
