//! Questions and their right answers, read from the published folder or from a selection of it.
//!
//! The folder holds JSON lines: `BFCL_v4_CATEGORY.json` with `{"id", "question", "function"}`, and
//! under `possible_answer/` a file of the same name with `{"id", "ground_truth"}`, in the same
//! order. A selection is one file of lines that hold both: `{"id", "function", "ground_truth"}`; what
//! a person asked is not part of it. JSON is read strictly: a key that stands twice is an error.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};
use tool_core::{JsonProblem, parse_strict};

/// A category whose questions are answered in a single turn, by calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// One Python function, one call.
    SimplePython,
    /// One Java function, one call.
    SimpleJava,
    /// One JavaScript function, one call.
    SimpleJavascript,
    /// Several functions, one call.
    Multiple,
    /// One function, several calls.
    Parallel,
    /// Several functions, several calls.
    ParallelMultiple,
    /// As simple, given by users.
    LiveSimple,
    /// As multiple, given by users.
    LiveMultiple,
    /// As parallel, given by users.
    LiveParallel,
    /// As parallel multiple, given by users.
    LiveParallelMultiple,
}

impl Category {
    /// Every category, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::SimplePython,
        Self::SimpleJava,
        Self::SimpleJavascript,
        Self::Multiple,
        Self::Parallel,
        Self::ParallelMultiple,
        Self::LiveSimple,
        Self::LiveMultiple,
        Self::LiveParallel,
        Self::LiveParallelMultiple,
    ];

    /// The name in file names and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SimplePython => "simple_python",
            Self::SimpleJava => "simple_java",
            Self::SimpleJavascript => "simple_javascript",
            Self::Multiple => "multiple",
            Self::Parallel => "parallel",
            Self::ParallelMultiple => "parallel_multiple",
            Self::LiveSimple => "live_simple",
            Self::LiveMultiple => "live_multiple",
            Self::LiveParallel => "live_parallel",
            Self::LiveParallelMultiple => "live_parallel_multiple",
        }
    }
}

/// One right call: the function, and for each parameter the values that are acceptable.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// The function's name.
    pub function: String,
    /// Parameter to list of acceptable values.
    pub acceptable: Map<String, Value>,
}

/// A question with its right answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The id, unique in a category.
    pub id: String,
    /// The definitions as published.
    pub functions: Vec<Value>,
    /// The calls that are the right answer.
    pub truths: Vec<Truth>,
}

/// Data that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The file can't be read.
    #[error("{}: can't be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line is no JSON.
    #[error("{place}: not JSON: {source}")]
    NotJson {
        /// File and line.
        place: String,
        /// What is wrong with it.
        #[source]
        source: JsonProblem,
    },
    /// A line has another shape.
    #[error("{place}: expected {expected}")]
    Shape {
        /// File and line.
        place: String,
        /// What should stand there.
        expected: &'static str,
    },
}

/// Reads the questions of one category from the published folder.
///
/// # Errors
/// A file that can't be read, or a line that is not as published.
pub fn read_folder(folder: &Path, category: Category) -> Result<Vec<Question>, DatasetError> {
    let name = format!("BFCL_v4_{}.json", category.name());
    let path = folder.join(&name);
    let questions = read_lines(&path)?;
    let answers = read_lines(&folder.join("possible_answer").join(&name))?;
    if questions.len() != answers.len() {
        return Err(shape(&path, questions.len(), "as many answers as questions"));
    }
    let pairs = questions.iter().zip(&answers).enumerate();
    pairs
        .map(|(index, (question, answer))| {
            if question.get("id") != answer.get("id") {
                return Err(shape(&path, index, "the id of the answer in the same line"));
            }
            let truths = answer.get("ground_truth").unwrap_or(&Value::Null);
            read_question(question, truths).map_err(|expected| shape(&path, index, expected))
        })
        .collect()
}

/// Reads a selection file.
///
/// # Errors
/// A file that can't be read, or a line that is not `{"id", "function", "ground_truth"}`.
pub fn read_selection(path: &Path) -> Result<Vec<Question>, DatasetError> {
    let lines = read_lines(path)?;
    let questions = lines.iter().enumerate().map(|(index, line)| {
        let truths = line.get("ground_truth").unwrap_or(&Value::Null);
        read_question(line, truths).map_err(|expected| shape(path, index, expected))
    });
    questions.collect()
}

fn read_lines(path: &Path) -> Result<Vec<Value>, DatasetError> {
    let text = fs::read_to_string(path)
        .map_err(|source| DatasetError::Io { path: path.to_owned(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            parse_strict(line)
                .map_err(|source| DatasetError::NotJson { place: place(path, index), source })
        })
        .collect()
}

fn place(path: &Path, index: usize) -> String {
    format!("{}:{}", path.display(), index + 1)
}

fn shape(path: &Path, index: usize, expected: &'static str) -> DatasetError {
    DatasetError::Shape { place: place(path, index), expected }
}

fn read_question(line: &Value, truths: &Value) -> Result<Question, &'static str> {
    let id = line.get("id").and_then(Value::as_str).ok_or("an id")?;
    let functions = line.get("function").and_then(Value::as_array).ok_or("a list of functions")?;
    let truths = truths.as_array().ok_or("a list of right calls")?;
    let truths = truths.iter().map(read_truth).collect::<Result<_, _>>()?;
    Ok(Question { id: id.to_owned(), functions: functions.clone(), truths })
}

fn read_truth(truth: &Value) -> Result<Truth, &'static str> {
    let expected = "an object of one function and its parameters";
    let mut functions = truth.as_object().ok_or(expected)?.iter();
    match (functions.next(), functions.next()) {
        (Some((function, Value::Object(acceptable))), None) => {
            Ok(Truth { function: function.clone(), acceptable: acceptable.clone() })
        }
        _ => Err(expected),
    }
}

impl Question {
    /// The question as one line of a selection file, without a line break.
    #[must_use]
    pub fn to_line(&self) -> String {
        let truths = self.truths.iter().map(|truth| json!({&truth.function: truth.acceptable}));
        let truths: Vec<_> = truths.collect();
        json!({"id": self.id, "function": self.functions, "ground_truth": truths}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_selection_of_it_are_the_same_questions() {
        let folder = tempfile::tempdir().unwrap();
        let answers = folder.path().join("possible_answer");
        fs::create_dir(&answers).unwrap();
        let name = "BFCL_v4_parallel.json";
        let question = r#"{"id":"p_0","question":[],"function":[{"name":"f"}]}"#;
        fs::write(folder.path().join(name), question).unwrap();
        let answer = r#"{"id":"p_0","ground_truth":[{"f":{"a":[1]}},{"f":{"a":[2]}}]}"#;
        fs::write(answers.join(name), answer).unwrap();
        let questions = read_folder(folder.path(), Category::Parallel).unwrap();
        assert_eq!(questions[0].truths.len(), 2);

        let selection = folder.path().join("parallel.jsonl");
        fs::write(&selection, format!("{}\n", questions[0].to_line())).unwrap();
        assert_eq!(read_selection(&selection).unwrap(), questions);

        fs::write(answers.join(name), answer.replace("p_0", "p_1")).unwrap();
        let error = read_folder(folder.path(), Category::Parallel).unwrap_err().to_string();
        assert!(error.ends_with("parallel.json:1: expected the id of the answer in the same line"));
        assert!(read_folder(folder.path(), Category::LiveSimple).is_err());
    }

    #[test]
    fn a_line_that_is_no_question_names_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let good = r#"{"id":"a","function":[],"ground_truth":[]}"#;
        let check = |line: &str, expected: &str| {
            fs::write(&path, format!("{good}\n{line}\n")).unwrap();
            let error = read_selection(&path).unwrap_err().to_string();
            assert!(error.contains("s.jsonl:2: ") && error.contains(expected), "{error}");
        };
        check("{", "not JSON");
        check(r#"{"id":"a","id":"b"}"#, "duplicate key");
        check(r#"{"function":[],"ground_truth":[]}"#, "an id");
        check(r#"{"id":"a","ground_truth":[]}"#, "a list of functions");
        check(r#"{"id":"a","function":[]}"#, "a list of right calls");
        check(r#"{"id":"a","function":[],"ground_truth":[{"f":{},"g":{}}]}"#, "of one function");
        check(r#"{"id":"a","function":[],"ground_truth":[{"f":[]}]}"#, "of one function");
    }
}
