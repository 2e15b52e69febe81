//! What an earlier run planted in the workdir must not lead the launch itself astray.
//!
//! The launch makes mount points and opens directories as the host's user, before anything is
//! confined: a link in its way would be followed with the host's rights.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use confine::{Command, Confinement, Outcome};

use crate::snapshot::Snapshot;
use crate::stage::Role;
use crate::world::World;

/// Places in the workdir that a launch may touch.
const PLACES: [&str; 10] =
    ["tmp", "dev", "proc", "etc", "usr", "lib", ".claude", ".vscode", ".envrc", "vendor2"];

/// Nothing is made or changed where the links lead, whether the launch is refused or not.
pub(crate) fn links_lead_nowhere(_: Role, probe: &Path) {
    let world = World::new(probe);
    let before = seen(&world);
    for place in PLACES {
        symlink(world.path("outside"), world.path("work").join(place)).expect("a link");
    }
    let bare = bare(&world.path("work"), probe);
    let guarded = [".claude/settings.json", ".vscode", ".envrc", "vendor2/sub/.git"];
    for path in guarded {
        // A refusal is as good as a launch; what counts is the world.
        run(&bare.clone().protect(path), probe);
        run(&bare.clone().hide(path), probe);
    }
    assert!(run(&bare, probe), "a workdir with links in it can still be used");
    assert_eq!(before.differences(&seen(&world)), Vec::<String>::new());
}

/// A workdir that is named by a link is the directory that the link leads to, and no more.
pub(crate) fn a_linked_workdir_grants_its_target_alone(_: Role, probe: &Path) {
    let world = World::new(probe);
    let before = seen(&world);
    let link = world.path("link");
    symlink("work", &link).expect("a link");
    let prepared = bare(&link, probe).prepare().expect("a linked workdir");
    for name in ["files.write-dotdot", "files.write-absolute", "files.home-list"] {
        let command = Command::new(probe).arg(name).args(world.arguments());
        let mut child = prepared.spawn(command).expect("the probe starts");
        assert_eq!(child.wait().expect("it ends").outcome, Outcome::Code(10), "{name}");
    }
    assert_eq!(before.differences(&seen(&world)), Vec::<String>::new());
}

fn bare(work: &Path, probe: &Path) -> Confinement {
    Confinement::builder(work).readable(probe.parent().expect("a directory"))
}

/// Starts something harmless; whether it ran.
fn run(confinement: &Confinement, probe: &Path) -> bool {
    let Ok(prepared) = confinement.prepare() else { return false };
    let Ok(mut child) = prepared.spawn(Command::new(probe).arg("--list")) else { return false };
    drop(child.take_stdout());
    child.wait().expect("it ends").outcome == Outcome::Code(0)
}

fn seen(world: &World) -> Snapshot {
    let places: Vec<PathBuf> = ["home", "outside", "ro"].map(|name| world.path(name)).into();
    assert!(places.iter().all(|place| fs::metadata(place).is_ok()));
    Snapshot::of(places)
}
