//! The second half: no attempt gets out of a confinement, at each level and as each role.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use confine::{Command, Confinement, Limits, Mechanism, NamespaceMaker, Outcome, Prepared};

use crate::attempts::{Attempt, Said, table};
use crate::open;
use crate::stage::{Role, skip};
use crate::world::World;

/// How much of the machine's mechanisms is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Everything, and what the workdir protects is named.
    Full,
    /// Everything, and nothing is named: what is protected is what the crate's lists say.
    Standard,
    /// The same, with `bwrap` as the maker of namespaces.
    Bubblewrap,
    /// What is left where namespaces are forbidden: Landlock, the filter, and limits.
    Landlock,
}

/// What the workdir protects, and what it hides.
const READ_ONLY: [&str; 7] =
    [".git", "vendor/sub/.git", ".claude", ".vscode", ".envrc", ".mcp.json", ".bashrc"];
const HIDDEN: &str = ".env";

/// Makes every attempt within a confinement, and expects that none gets out.
pub(crate) fn hold(level: Level, role: Role, probe: &Path) {
    let mut world = World::new(probe);
    if let Err(why) = bare(level, &world, probe).require(level.mechanism()).prepare() {
        return skip(&format!("{level:?} as {role:?}: {why}"));
    }
    let mut failures = Vec::new();
    let (mut held, mut known) = (0, 0);
    for attempt in table(probe).iter().filter(|attempt| level.offers(attempt)) {
        let escape = escape(level, attempt, probe, &mut world);
        match (escape, open::find(&attempt.name, level, role)) {
            (None, None) => held += 1,
            (Some(how), None) => {
                failures.push(format!("{} ({}): {how}", attempt.name, attempt.about));
            }
            (Some(_), Some(reason)) => {
                known += 1;
                println!("open: {}: {reason}", attempt.name);
            }
            (None, Some(_)) => {
                failures.push(format!("{}: held, but listed as open", attempt.name));
            }
        }
    }
    println!("{level:?} as {role:?}: {held} attempts are held, {known} are known to be open");
    assert!(failures.is_empty(), "{level:?} as {role:?}:\n{}", failures.join("\n"));
}

impl Level {
    /// The mechanism that it cannot do without.
    fn mechanism(self) -> Mechanism {
        match self {
            Self::Full | Self::Standard | Self::Bubblewrap => Mechanism::Namespaces,
            Self::Landlock => Mechanism::Landlock,
        }
    }

    /// Whether the attempt is made at this level. Landlock can't hide what is in the workdir: a call
    /// that wants it is refused (a test of its own).
    fn offers(self, attempt: &Attempt) -> bool {
        match self {
            Self::Full | Self::Bubblewrap => true,
            Self::Standard => attempt.wants_guards() || attempt.name == "network.unix-read-only",
            Self::Landlock => attempt.name != "files.hidden-in-workdir",
        }
    }

    /// Whether an attempt on what the host would run later may succeed as long as it is found.
    fn only_finds(self, attempt: &Attempt) -> bool {
        !matches!(self, Self::Full | Self::Bubblewrap) && attempt.wants_guards()
    }
}

/// Without namespaces nothing within the workdir can be guarded, so a call that asks is refused.
pub(crate) fn refuse_guards(_: Role, probe: &Path) {
    let world = World::new(probe);
    for guarded in READ_ONLY.iter().chain([&HIDDEN]) {
        let bare = bare(Level::Landlock, &world, probe);
        assert!(bare.clone().protect(guarded).prepare().is_err(), "{guarded} protected");
        assert!(bare.hide(guarded).prepare().is_err(), "{guarded} hidden");
    }
}

/// A confinement that guards nothing within the workdir.
fn bare(level: Level, world: &World, probe: &Path) -> Confinement {
    let programs = probe.parent().expect("the probe is in a directory");
    let confinement =
        Confinement::builder(world.path("work")).readable(world.path("ro")).readable(programs);
    match level {
        Level::Full | Level::Standard => confinement,
        Level::Bubblewrap => confinement.namespaces_by(NamespaceMaker::Bubblewrap),
        Level::Landlock => {
            confinement.without(Mechanism::Namespaces).without(Mechanism::NetworkNamespace)
        }
    }
}

fn prepared(level: Level, attempt: &Attempt, world: &World, probe: &Path) -> Prepared {
    let mut confinement = bare(level, world, probe).limits(limits(attempt));
    if matches!(level, Level::Full | Level::Bubblewrap) {
        confinement = READ_ONLY.iter().fold(confinement, Confinement::protect);
    }
    if level != Level::Landlock {
        confinement = confinement.hide(HIDDEN);
    }
    confinement.prepare().expect("this machine can confine")
}

/// Small limits where they are what is tried, room for everything else.
fn limits(attempt: &Attempt) -> Limits {
    let mut limits = Limits::default();
    let seconds = if attempt.name == "limits.wall-clock" { 2 } else { 20 };
    limits.wall_clock = Some(Duration::from_secs(seconds));
    if attempt.name.starts_with("limits.") {
        limits.memory = Some(128 << 20);
        // Where a user's processes are counted, those of the suite are among them.
        let crowd = matches!(attempt.name.as_str(), "limits.processes" | "limits.threads");
        limits.processes = Some(if crowd { 30 } else { 100 });
        limits.cpu_time = Some(Duration::from_secs(1));
        let files = if attempt.name == "limits.file-size" { 64 << 20 } else { 1 << 30 };
        limits.file_size = Some(files);
        limits.open_files = Some(256);
        limits.tmp_size = 64 << 20;
    }
    limits
}

/// Makes one attempt; what it reached, in words.
fn escape(level: Level, attempt: &Attempt, probe: &Path, world: &mut World) -> Option<String> {
    world.reset();
    let prepared = prepared(level, attempt, world, probe);
    for _ in 0..2 {
        // From the second launch on, the next child is built ahead: the attempt is made by that one.
        let mut child = prepared.spawn(Command::new("true")).expect("true starts");
        child.wait().expect("it ends");
    }
    let callers = attempt.name.contains("bind").then(|| world.call_out());
    let command = Command::new(probe).arg(&attempt.name).args(world.arguments());
    let mut child = prepared.spawn(command).expect("the probe starts");
    let mut stdout = Vec::new();
    child.take_stdout().expect("a pipe").read_to_end(&mut stdout).expect("it is read");
    let outcome = child.wait().expect("it ends").outcome;
    let found = child.changes().filter(|_| level.only_finds(attempt));
    let breaches = world.breaches(attempt, &stdout, found.as_ref());
    drop(callers);
    let code = match outcome {
        Outcome::Code(code) => Some(code),
        _ => None,
    };
    match Said::new(code, &format!("{outcome:?}"), &stdout) {
        _ if !breaches.is_empty() => Some(breaches.join(", ")),
        Said::Reached(_) if attempt.judged_by_world => None,
        Said::Reached(_) if found.is_some_and(|it| !it.executable_configuration.is_empty()) => None,
        Said::Reached(what) => Some(format!("it says that it reached: {what}")),
        Said::Denied(..) => None,
        // The filter, a limit or the end of the child's time ended it.
        Said::Ended(_) if code.is_none() => None,
        Said::Ended(how) | Said::Untried(how) => Some(format!("it was not tried: {how}")),
    }
}
