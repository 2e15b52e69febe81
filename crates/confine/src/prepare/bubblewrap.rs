//! `bwrap` as the maker of namespaces, where this process may make none: which one, and whether it
//! can.
//!
//! Only an installed one is used: in a system directory, a plain file that nobody but the superuser
//! can change. `PATH` is not looked at, because what a model has written may be on it.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::bytes;
use crate::plan::Plan;

/// Where distributions and administrators install it.
const PLACES: [&str; 2] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

/// How long what failed is not tried again.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was found by trying.
#[derive(Debug, Clone)]
pub(super) struct Bubblewrap {
    pub(super) program: CString,
    /// Whether it can make a network namespace too.
    pub(super) network: Result<(), String>,
}

/// What the last look found, and when that was.
static FOUND: Mutex<Option<(Result<Bubblewrap, String>, Instant)>> = Mutex::new(None);

/// Looks for it and tries it; what succeeded is remembered. `plan` makes what is tried: with or
/// without a network of its own, by a certain program.
pub(super) fn look(
    plan: impl Fn(bool, CString) -> Plan,
    rehearse: impl Fn(&Plan) -> io::Result<Result<(), String>>,
) -> io::Result<Result<Bubblewrap, String>> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((answer, at)) = &*found
        && (answer.is_ok() || at.elapsed() < PATIENCE)
    {
        return Ok(answer.clone());
    }
    let answer = match installed() {
        Ok(program) => match rehearse(&plan(false, program.clone()))? {
            Ok(()) => Ok(Bubblewrap { network: rehearse(&plan(true, program.clone()))?, program }),
            Err(why) => Err(format!("bwrap can't make them either: {why}")),
        },
        Err(why) => Err(why),
    };
    *found = Some((answer.clone(), Instant::now()));
    Ok(answer)
}

/// The program, if it is to be trusted.
fn installed() -> Result<CString, String> {
    let Some(path) = PLACES.iter().map(Path::new).find(|path| path.exists()) else {
        return Err("bwrap is not installed".to_owned());
    };
    let mut on_the_way = path.ancestors();
    let program = on_the_way.next().and_then(|path| path.symlink_metadata().ok());
    let is_plain = program.is_some_and(|it| it.is_file() && it.mode() & 0o6000 == 0);
    if !is_plain || !path.ancestors().all(belongs_to_the_superuser) {
        return Err(format!(
            "{} is not used: it must be a plain file that only the superuser can change, without \
             the set-user-ID bit",
            path.display()
        ));
    }
    CString::new(bytes(path)).map_err(|error| error.to_string())
}

fn belongs_to_the_superuser(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.uid() == 0 && it.mode() & 0o022 == 0)
}
