//! The escape suite: every attempt of `probe`, without confinement and with it.
//!
//! `probe` (a helper program of `testkit`) tries one way out of a sandbox a run. Here is the world
//! that it tries to reach: canary files, listeners, a process to attack, a parent that has
//! everything it should not pass on. Without confinement every attempt must get out, or a row in
//! `exceptions` says why this machine cannot show it: an attempt that cannot succeed proves
//! nothing. With confinement none may, and that is judged by the world, not by what the attempt
//! says alone: files compared, connections counted, processes looked for.
//!
//! The suite runs as the superuser and as an ordinary user. As the superuser it first makes a
//! stage (`stage`): a PID and mount namespace in which the attempts can hurt nobody but itself.
#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it could not prove"
)]

mod attempts;
mod confined;
mod exceptions;
mod listeners;
mod open;
mod planted;
mod snapshot;
mod stage;
mod unconfined;
mod world;

use std::path::Path;

use confined::Level;
use stage::Role;

#[test]
fn every_attempt_works_unconfined_as_root() {
    stage::play(Role::Root, "every_attempt_works_unconfined_as_root", unconfined::prove);
}

#[test]
fn every_attempt_works_unconfined_as_a_user() {
    stage::play(Role::User, "every_attempt_works_unconfined_as_a_user", unconfined::prove);
}

#[test]
fn no_attempt_gets_out_fully_confined_as_root() {
    let hold = |role, probe: &Path| confined::hold(Level::Full, role, probe);
    stage::play(Role::Root, "no_attempt_gets_out_fully_confined_as_root", hold);
}

#[test]
fn no_attempt_gets_out_fully_confined_as_a_user() {
    let hold = |role, probe: &Path| confined::hold(Level::Full, role, probe);
    stage::play(Role::User, "no_attempt_gets_out_fully_confined_as_a_user", hold);
}

#[test]
fn what_the_host_would_run_later_is_held_or_found_as_root() {
    let hold = |role, probe: &Path| confined::hold(Level::Standard, role, probe);
    stage::play(Role::Root, "what_the_host_would_run_later_is_held_or_found_as_root", hold);
}

#[test]
fn what_the_host_would_run_later_is_held_or_found_as_a_user() {
    let hold = |role, probe: &Path| confined::hold(Level::Standard, role, probe);
    stage::play(Role::User, "what_the_host_would_run_later_is_held_or_found_as_a_user", hold);
}

#[test]
fn no_attempt_gets_out_confined_through_bwrap_as_a_user() {
    let hold = |role, probe: &Path| confined::hold(Level::Bubblewrap, role, probe);
    stage::play(Role::User, "no_attempt_gets_out_confined_through_bwrap_as_a_user", hold);
}

#[test]
fn no_attempt_gets_out_confined_by_landlock_as_root() {
    let hold = |role, probe: &Path| confined::hold(Level::Landlock, role, probe);
    stage::play(Role::Root, "no_attempt_gets_out_confined_by_landlock_as_root", hold);
}

#[test]
fn no_attempt_gets_out_confined_by_landlock_as_a_user() {
    let hold = |role, probe: &Path| confined::hold(Level::Landlock, role, probe);
    stage::play(Role::User, "no_attempt_gets_out_confined_by_landlock_as_a_user", hold);
}

#[test]
fn landlock_alone_refuses_to_guard_paths() {
    stage::play(Role::User, "landlock_alone_refuses_to_guard_paths", confined::refuse_guards);
}

#[test]
fn planted_links_lead_the_launch_nowhere_as_root() {
    let name = "planted_links_lead_the_launch_nowhere_as_root";
    stage::play(Role::Root, name, planted::links_lead_nowhere);
}

#[test]
fn planted_links_lead_the_launch_nowhere_as_a_user() {
    let name = "planted_links_lead_the_launch_nowhere_as_a_user";
    stage::play(Role::User, name, planted::links_lead_nowhere);
}

#[test]
fn a_linked_workdir_grants_its_target_alone() {
    let act = planted::a_linked_workdir_grants_its_target_alone;
    stage::play(Role::User, "a_linked_workdir_grants_its_target_alone", act);
}
