//! One question, from its definitions to the verdict on each of its calls and their mutations.

use tool_core::{ArgumentsProblem, ToolError};

use super::{
    Arranged, Fitted, Mutation, Question, Tally, Truth, arrange,
    loaded::{Loaded, admit},
    mutation::Call,
};

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionReport {
    /// How many definitions were loaded.
    pub definitions: usize,
    /// The translations that its definitions needed.
    pub translations: Tally,
    /// What became of each call, in the order of the answer.
    pub calls: Vec<CallReport>,
    /// Why its definitions did not load. It then has no calls.
    pub unloadable: Option<String>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReport {
    /// The function.
    pub function: String,
    /// The verdict.
    pub outcome: CallOutcome,
}

/// The verdict on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// It passed stages 1 to 4, and its arguments came through as they were.
    Passed {
        /// How far the acceptable values had to be tried.
        fitted: Fitted,
        /// Whether it has an argument that its definition does not declare, so that a closed schema
        /// refuses it.
        has_undeclared: bool,
        /// What became of each mutation that was possible.
        mutations: Vec<MutationReport>,
    },
    /// The answer does not fit the schema of its own function: each violation, sorted.
    Contradiction(Vec<String>),
    /// Anything else.
    Unexpected(String),
}

/// What became of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutationReport {
    /// The mutation.
    pub mutation: Mutation,
    /// Why it was not refused as it should be.
    pub unexpected: Option<String>,
}

/// Runs a question through the real loader, registry and gate.
#[must_use]
pub fn check_question(question: &Question) -> QuestionReport {
    let mut translations = Tally::default();
    match Loaded::new(question, &mut translations) {
        Ok(loaded) => {
            let calls = question.truths.iter().map(|truth| CallReport {
                function: truth.function.clone(),
                outcome: check_call(&loaded, truth),
            });
            let (definitions, calls) = (loaded.len(), calls.collect());
            QuestionReport { definitions, translations, calls, unloadable: None }
        }
        Err(error) => QuestionReport {
            definitions: 0,
            translations,
            calls: Vec::new(),
            unloadable: Some(error),
        },
    }
}

fn check_call(loaded: &Loaded, truth: &Truth) -> CallOutcome {
    let Some(parameters) = loaded.parameters(&truth.function) else {
        return CallOutcome::Unexpected("the question does not define the function".to_owned());
    };
    let Arranged { arguments, fitted } = match arrange(truth, parameters) {
        Ok(arranged) => arranged,
        Err(error) => return CallOutcome::Unexpected(error.to_string()),
    };
    let call = Call { function: &truth.function, arguments: &arguments, parameters };
    let line = call.line();
    match admit(&loaded.open, line.as_bytes()) {
        Ok(admitted) if admitted.args().as_object() == &arguments => CallOutcome::Passed {
            fitted,
            has_undeclared: admit(&loaded.closed, line.as_bytes()).is_err(),
            mutations: mutations(loaded, &call),
        },
        Ok(_) => CallOutcome::Unexpected("the arguments came through changed".to_owned()),
        Err(ToolError::InvalidArguments { problem: ArgumentsProblem::Schema(all), .. }) => {
            let mut violations: Vec<_> = all.shown().iter().map(ToString::to_string).collect();
            violations.sort();
            CallOutcome::Contradiction(violations)
        }
        Err(error) => CallOutcome::Unexpected(error.to_string()),
    }
}

fn mutations(loaded: &Loaded, call: &Call<'_>) -> Vec<MutationReport> {
    let attempted = Mutation::ALL.into_iter().filter_map(|mutation| {
        let result = mutation.attempt(loaded, call)?;
        Some(MutationReport { mutation, unexpected: result.err() })
    });
    attempted.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn question(parameters: Value, truths: Value) -> Question {
        let functions = vec![json!({"name": "geo.area", "parameters": parameters})];
        let Value::Array(truths) = truths else { panic!("an array") };
        let truth = |truth: Value| match truth {
            Value::Object(acceptable) => Truth { function: "geo.area".to_owned(), acceptable },
            other => panic!("an object, not {other}"),
        };
        Question { id: "q".into(), functions, truths: truths.into_iter().map(truth).collect() }
    }

    fn area() -> Value {
        json!({
            "type": "dict",
            "properties": {"side": {"type": "integer"}, "unit": {"type": "String", "enum": ["m"]}},
            "required": ["side"],
        })
    }

    #[test]
    fn a_right_call_passes_and_all_its_mutations_are_refused() {
        let question = question(area(), json!([{"side": [5], "unit": ["", "m"]}]));
        let report = check_question(&question);
        let CallOutcome::Passed { fitted, has_undeclared, mutations } = &report.calls[0].outcome
        else {
            panic!("{report:?}")
        };
        assert_eq!((*fitted, *has_undeclared), (Fitted::First, false));
        assert!(mutations.iter().map(|m| m.mutation).eq(Mutation::ALL));
        for mutation in mutations {
            assert_eq!(mutation.unexpected, None);
        }
    }

    #[test]
    fn a_contradiction_lists_what_does_not_fit() {
        let report = check_question(&question(area(), json!([{"side": [0.5], "unit": ["ft"]}])));
        let CallOutcome::Contradiction(reasons) = &report.calls[0].outcome else {
            panic!("{report:?}")
        };
        assert_eq!(reasons.len(), 2);
        assert!(reasons[0].starts_with("/side: "), "{reasons:?}");
        assert!(reasons[1].starts_with("/unit: "), "{reasons:?}");
    }

    #[test]
    fn what_does_not_load_is_said_and_a_call_of_another_function_is_unexpected() {
        let report = check_question(&question(json!({"type": "Date"}), json!([{"a": [1]}])));
        assert!(report.unloadable.unwrap().contains("no such type"));
        let mut question = question(area(), json!([{"side": [5]}]));
        question.truths[0].function = "geo.volume".to_owned();
        let report = check_question(&question);
        assert!(matches!(report.calls[0].outcome, CallOutcome::Unexpected(_)));
    }

    #[test]
    fn a_mutation_that_is_let_through_is_unexpected() {
        let question = question(area(), json!([{"side": [5]}]));
        let loaded = Loaded::new(&question, &mut Tally::default()).unwrap();
        // Declared as required of a function that does not require it: leaving it out then passes.
        let parameters = json!({"required": ["unit"], "properties": {"side": {"type": "string"}}});
        let arguments = json!({"side": 5, "unit": "m"});
        let call = Call {
            function: "geo.area",
            arguments: arguments.as_object().unwrap(),
            parameters: &parameters,
        };
        let result = |mutation: Mutation| mutation.attempt(&loaded, &call).unwrap().unwrap_err();
        assert!(result(Mutation::MissingRequired).contains("it passed"));
        assert!(result(Mutation::WrongType).contains("it passed"));
    }
}
