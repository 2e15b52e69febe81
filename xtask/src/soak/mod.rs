//! `cargo xtask soak NAME [COUNT]`: the long form of a test that runs briefly in `cargo test`.
//!
//! It is the same program with a larger number, built with the release profile. A test that has a long
//! form takes its number from its command line, and prints what it measured; it fails by its own
//! judgement.

mod table;

use self::table::{SOAKS, Soak};
use crate::{error::Error, process::Program};

/// Runs the chore.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (soak, count) = choose(arguments)?;
    println!("soak {}: {} ({count})", soak.name, soak.about);
    let args = ["test", "--locked", "--release", "--package", soak.package, "--test", soak.test];
    Program::new("cargo").args(args).args(["--", soak.flag, &count.to_string()]).run()
}

fn choose(arguments: &[String]) -> Result<(&'static Soak, u64), Error> {
    let (name, count) = match arguments {
        [name] => (name, None),
        [name, count] => (name, Some(count)),
        _ => return Err(usage("expected a name, and perhaps a number")),
    };
    let soak = SOAKS.iter().find(|soak| soak.name == name);
    let soak = soak.ok_or_else(|| usage(&format!("there is no soak {name:?}")))?;
    match count.map(|count| count.parse::<u64>()) {
        None => Ok((soak, soak.count)),
        Some(Ok(count)) if count > 0 => Ok((soak, count)),
        Some(_) => Err(usage("the number has to be above 0")),
    }
}

fn usage(problem: &str) -> Error {
    let mut text = format!("{problem}\n\ncargo xtask soak NAME [COUNT]\n");
    for Soak { name, about, count, .. } in SOAKS {
        text.push_str(&format!("\n  {name:<10} {about} ({count})"));
    }
    Error::usage(text)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;
    use crate::process::root;

    fn chosen(line: &str) -> Result<(&'static str, u64), Error> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        choose(&words).map(|(soak, count)| (soak.name, count))
    }

    #[test]
    fn a_soak_has_its_own_count_or_the_one_that_is_asked_for() {
        assert_eq!(chosen("flood").unwrap(), ("flood", 10_000_000_000));
        assert_eq!(chosen("sessions 7").unwrap(), ("sessions", 7));
        for line in ["", "none", "flood 0", "flood x", "flood 1 2"] {
            let error = chosen(line).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains("survive"), "{line}: {error}");
        }
    }

    #[test]
    fn every_soak_is_a_test_that_takes_its_flag() {
        let names: BTreeSet<_> = SOAKS.iter().map(|soak| soak.name).collect();
        assert_eq!(names.len(), SOAKS.len());
        for soak in SOAKS {
            let file = format!("crates/{}/tests/{}/main.rs", soak.package, soak.test);
            let text = fs::read_to_string(root().join(&file)).unwrap();
            assert!(text.contains(&format!("\"{}\"", soak.flag)), "{file} knows no {}", soak.flag);
        }
    }
}
