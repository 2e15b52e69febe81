//! `cargo xtask bfcl FOLDER [--write]`: stages 1 to 4 on the Berkeley Function Calling Leaderboard.
//!
//! Runs every question of the single-turn categories (see `testkit::bfcl`) and prints what became of
//! its calls and their mutations. The calls that contradict their own definitions must be exactly
//! those of `data/bfcl/contradictions.json`; anything else that is not as expected fails the command.
//! With `--write` that list and the selection for the tests are written anew.

mod selection;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::bfcl::{Category, Contradiction, Question, Summary, check_question, read_folder};

use crate::error::Error;

/// The result of one category.
struct Checked {
    category: Category,
    questions: Vec<Question>,
    summary: Summary,
}

/// Runs the command.
///
/// # Errors
/// A wrong command line, data that can't be read, or a result that is not as expected.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (folder, is_writing) = options(arguments)?;
    let checked = Category::ALL
        .into_iter()
        .map(|category| check(&folder, category))
        .collect::<Result<Vec<_>, _>>()?;
    let mut total = Summary::default();
    checked.iter().for_each(|one| total.merge(&one.summary));
    print!("{}", table::render(&checked, &total));
    if is_writing {
        selection::write(&data_folder(), &checked)?;
        write_contradictions(&total.contradictions)?;
    }
    verdict(&total, &known_contradictions()?)
}

fn options(arguments: &[String]) -> Result<(PathBuf, bool), Error> {
    match arguments {
        [folder] if !folder.starts_with('-') => Ok((folder.into(), false)),
        [folder, flag] if !folder.starts_with('-') && flag == "--write" => {
            Ok((folder.into(), true))
        }
        _ => Err(Error::usage(
            "expected the folder that holds BFCL_v4_*.json and possible_answer/, and perhaps \
             --write after it",
        )),
    }
}

fn check(folder: &Path, category: Category) -> Result<Checked, Error> {
    let questions =
        read_folder(folder, category).map_err(|error| Error::failed(with_cause(&error)))?;
    let mut summary = Summary::default();
    for question in &questions {
        summary.add(question, check_question(question));
    }
    Ok(Checked { category, questions, summary })
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn data_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/bfcl")
}

fn known_contradictions() -> Result<Vec<Contradiction>, Error> {
    let path = data_folder().join("contradictions.json");
    let text = fs::read(&path).map_err(|e| Error::failed(format!("{}: {e}", path.display())))?;
    serde_json::from_slice(&text).map_err(|e| Error::failed(format!("{}: {e}", path.display())))
}

fn write_contradictions(contradictions: &[Contradiction]) -> Result<(), Error> {
    let path = data_folder().join("contradictions.json");
    let failed = |error: String| Error::failed(format!("{}: {error}", path.display()));
    let mut text =
        serde_json::to_string_pretty(contradictions).map_err(|error| failed(error.to_string()))?;
    text.push('\n');
    fs::write(&path, text).map_err(|error| failed(error.to_string()))
}

/// Compares with what is known; an error lists every difference.
fn verdict(total: &Summary, known: &[Contradiction]) -> Result<(), Error> {
    let mut wrong = total.unexpected.clone();
    let found = &total.contradictions;
    for one in found.iter().filter(|one| !known.contains(one)) {
        wrong.push(format!("not a known contradiction: {}", table::contradiction(one)));
    }
    for one in known.iter().filter(|one| !found.contains(one)) {
        wrong.push(format!("a known contradiction is gone: {}", table::contradiction(one)));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::failed(format!("{} unexpected:\n  {}", wrong.len(), wrong.join("\n  "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contradiction(id: &str) -> Contradiction {
        let (id, function) = (id.to_owned(), "f".to_owned());
        Contradiction { id, call: 0, function, reasons: vec!["/a: too short".to_owned()] }
    }

    #[test]
    fn the_command_line_is_a_folder_and_perhaps_a_flag() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(options(&words("data")).unwrap(), ("data".into(), false));
        assert_eq!(options(&words("data --write")).unwrap(), ("data".into(), true));
        for wrong in ["--write", "data --wrote", "data more --write"] {
            assert_eq!(options(&words(wrong)).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }

    #[test]
    fn every_difference_from_the_known_list_fails() {
        let total =
            |found: Vec<Contradiction>| Summary { contradictions: found, ..Summary::default() };
        let (a, b) = (contradiction("a"), contradiction("b"));
        assert!(verdict(&total(vec![a.clone()]), std::slice::from_ref(&a)).is_ok());
        let error = verdict(&total(vec![a.clone()]), std::slice::from_ref(&b)).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("not a known contradiction: a[0] f"), "{error}");
        assert!(error.to_string().contains("a known contradiction is gone: b[0] f"), "{error}");
        let mut unexpected = total(Vec::new());
        unexpected.unexpected.push("c: it passed".to_owned());
        assert!(verdict(&unexpected, &[]).unwrap_err().to_string().contains("c: it passed"));
    }
}
