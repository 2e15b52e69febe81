//! System V IPC and POSIX message queues. Their names are not paths, so where the IPC namespace is
//! the host's nothing else decides who reaches which. `ENOSYS` is what a kernel built without them
//! answers; POSIX shared memory and semaphores are files and stay.

use super::super::{Call, Rule, When, call};
use super::ENOSYS;

const fn shared(call: Call, reason: &'static str) -> Rule {
    Rule::refuse(call, ENOSYS, reason).only(When::IpcShared)
}

pub(super) const RULES: &[Rule] = &[
    shared(call::SHMGET, "Finds or makes memory shared with the host's processes."),
    shared(call::SHMAT, "Maps the host's shared memory by its number."),
    shared(call::SHMCTL, "Lists, changes and removes the host's shared memory."),
    shared(call::SEMGET, "Finds the host's semaphores."),
    shared(call::SEMOP, "Changes the host's semaphores by their number."),
    shared(call::SEMTIMEDOP, "Changes the host's semaphores by their number."),
    shared(call::SEMCTL, "Lists, changes and removes the host's semaphores."),
    shared(call::MSGGET, "Finds the host's message queues."),
    shared(call::MSGSND, "Sends to the host's message queues by their number."),
    shared(call::MSGRCV, "Takes from the host's message queues by their number."),
    shared(call::MSGCTL, "Lists, changes and removes the host's message queues."),
    shared(call::MQ_OPEN, "Opens the host's message queues by name."),
    shared(call::MQ_UNLINK, "Removes the host's message queues."),
];
