//! The selection of questions that is checked in for the tests: one file of lines a category.
//!
//! From each category, questions at even distances, and the first few that have a contradiction, in
//! the order of the folder. What a person asked is left out; the rest is as published.

use std::{collections::BTreeSet, fs, path::Path};

use testkit::bfcl::{Question, Summary};

use super::Checked;
use crate::error::Error;

/// How many questions of a category are chosen at even distances.
const EVENLY: usize = 36;
/// How many questions with a contradiction are chosen of a category.
const CONTRADICTING: usize = 6;

/// Writes the selection into the folder.
pub(super) fn write(folder: &Path, checked: &[Checked]) -> Result<(), Error> {
    for one in checked {
        let path = folder.join(format!("{}.jsonl", one.category.name()));
        let lines = chosen(&one.questions, &one.summary);
        let text: String = lines.iter().map(|question| question.to_line() + "\n").collect();
        fs::write(&path, text).map_err(|e| Error::failed(format!("{}: {e}", path.display())))?;
    }
    Ok(())
}

fn chosen<'a>(questions: &'a [Question], summary: &Summary) -> Vec<&'a Question> {
    let count = EVENLY.min(questions.len());
    let mut indexes: BTreeSet<usize> = (0..count).map(|n| n * questions.len() / count).collect();
    let contradicting: BTreeSet<&str> =
        summary.contradictions.iter().map(|one| one.id.as_str()).collect();
    let contradicting = questions.iter().enumerate().filter_map(|(index, question)| {
        contradicting.contains(question.id.as_str()).then_some(index)
    });
    indexes.extend(contradicting.take(CONTRADICTING));
    indexes.into_iter().map(|index| &questions[index]).collect()
}

#[cfg(test)]
mod tests {
    use testkit::bfcl::Contradiction;

    use super::*;

    #[test]
    fn questions_at_even_distances_and_the_first_contradictions() {
        let question =
            |n: usize| Question { id: format!("q{n}"), functions: Vec::new(), truths: Vec::new() };
        let questions: Vec<_> = (0..EVENLY * 10).map(question).collect();
        let contradiction = |n: usize| Contradiction {
            id: format!("q{n}"),
            call: 0,
            function: "f".to_owned(),
            reasons: Vec::new(),
        };
        let contradictions = [0, 0, 1, 2, 3, 4, 5, 6, 7].map(contradiction).to_vec();
        let summary = Summary { contradictions, ..Summary::default() };
        let ids: Vec<_> =
            chosen(&questions, &summary).iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids[..8], ["q0", "q1", "q2", "q3", "q4", "q5", "q10", "q20"]);
        assert_eq!(ids.len(), EVENLY + CONTRADICTING - 1);
        assert_eq!(chosen(&questions[..3], &Summary::default()).len(), 3);
        assert!(chosen(&[], &Summary::default()).is_empty());
    }
}
