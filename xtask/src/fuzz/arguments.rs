//! What was asked for: which target, for how long, for how many runs at most.

use super::targets::Target;
use crate::error::Error;

/// A request, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked<'a> {
    pub(super) target: &'a Target,
    /// The most seconds.
    pub(super) seconds: u64,
    /// The most inputs; no bound where absent.
    pub(super) runs: Option<u64>,
}

/// Reads `TARGET SECONDS [--runs N]`.
pub(super) fn parse<'a>(arguments: &[String], targets: &'a [Target]) -> Result<Asked<'a>, Error> {
    let (mut words, mut runs) = (Vec::new(), None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--runs" => {
                let value = rest.next().ok_or_else(|| usage("--runs needs a number", targets))?;
                runs = Some(number("--runs", value, targets)?);
            }
            flag if flag.starts_with('-') => {
                return Err(usage(&format!("there is no flag {flag:?}"), targets));
            }
            word => words.push(word),
        }
    }
    let [name, seconds] = words[..] else {
        return Err(usage(&format!("expected TARGET SECONDS, found {words:?}"), targets));
    };
    let target = targets
        .iter()
        .find(|target| target.name == name)
        .ok_or_else(|| usage(&format!("there is no target {name:?}"), targets))?;
    Ok(Asked { target, seconds: number("SECONDS", seconds, targets)?, runs })
}

fn number(what: &str, text: &str, targets: &[Target]) -> Result<u64, Error> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(usage(&format!("{what}: expected a number above 0, found {text:?}"), targets)),
    }
}

fn usage(problem: &str, targets: &[Target]) -> Error {
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    Error::usage(format!(
        "{problem}\n\ncargo xtask fuzz TARGET SECONDS [--runs N]\n\nTargets: {}",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets() -> Vec<Target> {
        vec![Target { name: "parse".to_owned(), folder: "fuzz".into() }]
    }

    fn parsed(line: &str) -> Result<(u64, Option<u64>), Error> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words, &targets()).map(|asked| (asked.seconds, asked.runs))
    }

    #[test]
    fn what_is_asked_is_understood() {
        assert_eq!(parsed("parse 30").unwrap(), (30, None));
        assert_eq!(parsed("--runs 5 parse 30").unwrap(), (30, Some(5)));
        assert_eq!(parsed("parse 30 --runs 5").unwrap(), (30, Some(5)));
    }

    #[test]
    fn what_is_not_understood_is_refused_with_what_would_be() {
        for (line, problem) in [
            ("", "expected TARGET SECONDS"),
            ("parse", "expected TARGET SECONDS"),
            ("parse 1 2", "expected TARGET SECONDS"),
            ("print 1", "there is no target"),
            ("parse 0", "above 0"),
            ("parse -1", "no flag"),
            ("parse 1 --runs", "--runs needs"),
            ("parse 1 --runs x", "--runs: expected"),
        ] {
            let error = parsed(line).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            let text = error.to_string();
            assert!(text.contains(problem) && text.contains("Targets: parse"), "{line}: {text}");
        }
    }
}
