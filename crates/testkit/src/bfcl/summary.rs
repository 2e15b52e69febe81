//! The counts of one category, and the answers in it that contradict their own definitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CallOutcome, Fitted, Mutation, Question, QuestionReport, Tally};

/// An answer that does not fit the schema of its own function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contradiction {
    /// The question.
    pub id: String,
    /// Which call of its answer, from 0.
    pub call: usize,
    /// The function.
    pub function: String,
    /// What does not fit, each with its place; sorted.
    pub reasons: Vec<String>,
}

/// What became of the questions of one category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many questions.
    pub questions: usize,
    /// How many definitions they have.
    pub definitions: usize,
    /// How many calls their answers have.
    pub calls: usize,
    /// How many calls passed stages 1 to 4.
    pub passed: usize,
    /// How many of these have a later value than the first somewhere.
    pub with_later_value: usize,
    /// How many of these leave something out whose values do not fit.
    pub with_left_out: usize,
    /// How many of these have an argument that their definition does not declare.
    pub with_undeclared: usize,
    /// How many mutations were refused as expected, by mutation.
    pub refused: BTreeMap<Mutation, usize>,
    /// The calls that contradict their own definitions.
    pub contradictions: Vec<Contradiction>,
    /// Everything that should not be, with its place.
    pub unexpected: Vec<String>,
    /// The translations that were made.
    pub translations: Tally,
}

impl Summary {
    /// Counts one question.
    pub fn add(&mut self, question: &Question, report: QuestionReport) {
        self.questions += 1;
        self.definitions += report.definitions;
        self.translations.add(&report.translations);
        if let Some(reason) = report.unloadable {
            self.unexpected.push(format!("{}: {reason}", question.id));
        }
        for (index, call) in report.calls.into_iter().enumerate() {
            self.calls += 1;
            let place = format!("{}[{index}] {}", question.id, call.function);
            match call.outcome {
                CallOutcome::Contradiction(reasons) => self.contradictions.push(Contradiction {
                    id: question.id.clone(),
                    call: index,
                    function: call.function,
                    reasons,
                }),
                CallOutcome::Unexpected(reason) => {
                    self.unexpected.push(format!("{place}: {reason}"));
                }
                passed @ CallOutcome::Passed { .. } => self.add_passed(&place, passed),
            }
        }
    }

    fn add_passed(&mut self, place: &str, outcome: CallOutcome) {
        let CallOutcome::Passed { fitted, has_undeclared, mutations } = outcome else { return };
        self.passed += 1;
        self.with_later_value += usize::from(fitted == Fitted::Later);
        self.with_left_out += usize::from(fitted == Fitted::LeftOut);
        self.with_undeclared += usize::from(has_undeclared);
        for report in mutations {
            match report.unexpected {
                None => *self.refused.entry(report.mutation).or_default() += 1,
                Some(reason) => self.unexpected.push(format!("{place}: {reason}")),
            }
        }
    }

    /// Adds the counts of another category.
    pub fn merge(&mut self, other: &Self) {
        self.questions += other.questions;
        self.definitions += other.definitions;
        self.calls += other.calls;
        self.passed += other.passed;
        self.with_later_value += other.with_later_value;
        self.with_left_out += other.with_left_out;
        self.with_undeclared += other.with_undeclared;
        for (mutation, count) in &other.refused {
            *self.refused.entry(*mutation).or_default() += count;
        }
        self.contradictions.extend_from_slice(&other.contradictions);
        self.unexpected.extend_from_slice(&other.unexpected);
        self.translations.add(&other.translations);
    }

    /// How many mutations were refused as expected in all.
    #[must_use]
    pub fn refused_total(&self) -> usize {
        self.refused.values().sum()
    }
}
