//! The first half: every attempt gets out where nothing confines it.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::attempts::{Attempt, Said, table};
use crate::exceptions;
use crate::stage::{Role, command};
use crate::world::World;

/// Makes every attempt that `role` can make, and expects it to get out.
pub(crate) fn prove(role: Role, probe: &Path) {
    let mut world = World::new(probe);
    let mut failures = Vec::new();
    let (mut proved, mut excepted) = (0, 0);
    for attempt in table(probe) {
        if attempt.needs_root && role == Role::User {
            continue;
        }
        let (said, breaches) = tried(probe, &attempt, &mut world);
        if got_out(&attempt, &said, &breaches) {
            proved += 1;
        } else if let Some(reason) = exceptions::find(&attempt.name, role, &said) {
            excepted += 1;
            println!("not proved here: {}: {reason}", attempt.name);
        } else {
            failures.push(format!("{} ({}): {said:?} {breaches:?}", attempt.name, attempt.about));
        }
    }
    println!("{role:?}: {proved} attempts get out unconfined, {excepted} cannot be proved here");
    assert!(failures.is_empty(), "cannot succeed even unconfined:\n{}", failures.join("\n"));
}

/// How often an attempt may fail to get out: on a busy machine one can come too late, or a call out
/// to it. What can't get out fails each time.
const TRIES: usize = 3;

/// The first run that got out, or the last.
fn tried(probe: &Path, attempt: &Attempt, world: &mut World) -> (Said, Vec<String>) {
    for _ in 1..TRIES {
        let (said, breaches) = run(probe, attempt, world);
        if got_out(attempt, &said, &breaches) || !can_come_too_late(&said) {
            return (said, breaches);
        }
    }
    run(probe, attempt, world)
}

/// Whether another run could end otherwise: an errno that a machine answers with is its last word.
fn can_come_too_late(said: &Said) -> bool {
    !matches!(said, Said::Denied(Some(_), _) | Said::Untried(_))
}

/// Whether the attempt succeeded, by its own word or, where that counts for nothing, by the world.
fn got_out(attempt: &Attempt, said: &Said, breaches: &[String]) -> bool {
    let says_so = matches!(said, Said::Reached(_));
    if attempt.judged_by_world { !breaches.is_empty() } else { says_so }
}

/// Runs one attempt as a plain child of a bad parent.
fn run(probe: &Path, attempt: &Attempt, world: &mut World) -> (Said, Vec<String>) {
    world.reset();
    let callers = attempt.name.contains("bind").then(|| world.call_out());
    let mut child = command(probe)
        .arg("--worsen")
        .arg(probe)
        .arg(&attempt.name)
        .args(world.arguments())
        .current_dir(world.path("outside"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the probe starts");
    let input = child.stdin.take().map(|mut stdin| stdin.write_all(b"canary-input"));
    drop(input);
    let output = child.wait_with_output().expect("the probe ends");
    let breaches = world.breaches(attempt, &output.stdout, None);
    drop(callers);
    (Said::of(output.status, &output.stdout), breaches)
}
