//! A command line with placeholders, and how arguments fill it.
//!
//! `{name}` stands for the argument `name`; `{{` and `}}` are braces. A text goes in as it is, a number
//! or a boolean as JSON writes it. An element that is a placeholder and nothing else takes an array as
//! several elements. An element whose argument is absent or null is left out.
//!
//! A value can't become an option: where a placeholder begins an element, a value that begins with `-`
//! is refused unless the literal element `--` stood before.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A command line, ready to be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    elements: Vec<Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Placeholder(String),
}

/// A command line that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is no program.
    #[error("argv is empty; its first element is the program")]
    Empty,
    /// The program depends on a model.
    #[error("argv[0] is {0:?}; the program can't hold a placeholder")]
    Program(String),
    /// A brace that opens or closes nothing.
    #[error(
        "argv[{index}] is {element:?}: a brace without its other; write {{{{ or }}}} for a brace"
    )]
    Brace {
        /// Which element.
        index: usize,
        /// The element.
        element: String,
    },
    /// A placeholder that the schema has no property for.
    #[error("argv[{index}] names {name:?}, which is no property of the parameters")]
    Unknown {
        /// Which element.
        index: usize,
        /// The placeholder.
        name: String,
    },
    /// A NUL byte.
    #[error("argv[{0}] holds a NUL byte")]
    Nul(usize),
}

impl Template {
    /// Reads a command line; every placeholder must be one of `names`.
    pub(super) fn parse(argv: &[String], names: &BTreeSet<String>) -> Result<Self, TemplateError> {
        let program = argv.first().filter(|p| !p.is_empty()).ok_or(TemplateError::Empty)?;
        let mut elements = Vec::with_capacity(argv.len());
        for (index, element) in argv.iter().enumerate() {
            if element.contains('\0') {
                return Err(TemplateError::Nul(index));
            }
            let brace = || TemplateError::Brace { index, element: element.clone() };
            let pieces = pieces(element).ok_or_else(brace)?;
            if let Some(name) = placeholders(&pieces).find(|name| !names.contains(*name)) {
                return Err(TemplateError::Unknown { index, name: name.to_owned() });
            }
            elements.push(pieces);
        }
        if placeholders(&elements[0]).next().is_some() {
            return Err(TemplateError::Program(program.clone()));
        }
        Ok(Self { elements })
    }

    /// The command line for these arguments: at least the program.
    ///
    /// # Errors
    /// A value that can't stand where it is asked for, in words for the model.
    pub(super) fn fill(&self, arguments: &Map<String, Value>) -> Result<Vec<String>, String> {
        let mut filled: Vec<String> = Vec::with_capacity(self.elements.len());
        let mut is_after_options = false;
        for pieces in &self.elements {
            let is_literal = placeholders(pieces).next().is_none();
            let Some(texts) = fill_element(pieces, arguments)? else { continue };
            let begins_with_value = matches!(pieces.first(), Some(Piece::Placeholder(_)));
            if begins_with_value && !is_after_options {
                refuse_options(pieces, &texts)?;
            }
            is_after_options |= is_literal && texts == ["--"];
            filled.extend(texts);
        }
        Ok(filled)
    }
}

fn refuse_options(pieces: &[Piece], texts: &[String]) -> Result<(), String> {
    let name = placeholders(pieces).next().unwrap_or_default();
    match texts.iter().find(|text| text.starts_with('-')) {
        None => Ok(()),
        Some(text) => Err(format!(
            "{name} is {:?}; a value that begins with \"-\" is not accepted here",
            tool_core::clip(text, 80)
        )),
    }
}

/// The texts of one element: one, or several for an array; `None` where an argument is absent.
fn fill_element(
    pieces: &[Piece],
    arguments: &Map<String, Value>,
) -> Result<Option<Vec<String>>, String> {
    if let [Piece::Placeholder(name)] = pieces {
        return match arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => {
                items.iter().map(|item| plain(name, item)).collect::<Result<_, _>>().map(Some)
            }
            Some(value) => plain(name, value).map(|text| Some(vec![text])),
        };
    }
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Placeholder(name) => match arguments.get(name) {
                None | Some(Value::Null) => return Ok(None),
                Some(value) => text.push_str(&plain(name, value)?),
            },
        }
    }
    Ok(Some(vec![text]))
}

fn plain(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if text.contains('\0') => Err(format!("{name} holds a NUL character")),
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(format!("{name} can't be put on a command line; a text or a number is accepted"))
        }
    }
}

fn placeholders(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Placeholder(name) => Some(name.as_str()),
        Piece::Literal(_) => None,
    })
}

/// The pieces of an element; `None` for a brace without its other.
fn pieces(element: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = element;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let brace = &rest[at..];
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            literal.push_str(&brace[..1]);
            rest = after;
            continue;
        }
        let (name, after) = brace.strip_prefix('{')?.split_once('}')?;
        if name.is_empty() || name.contains('{') {
            return None;
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Placeholder(name.to_owned()));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn template(argv: &[&str]) -> Result<Template, TemplateError> {
        let argv: Vec<_> = argv.iter().map(ToString::to_string).collect();
        Template::parse(&argv, &["path", "n", "all"].map(str::to_owned).into())
    }

    fn fill(argv: &[&str], arguments: Value) -> Result<Vec<String>, String> {
        template(argv).unwrap().fill(arguments.as_object().unwrap())
    }

    #[test]
    fn placeholders_are_filled_and_nothing_is_split() {
        let check = |argv: &[&str], arguments: Value, expected: &[&str]| {
            assert_eq!(fill(argv, arguments).unwrap(), expected, "{argv:?}");
        };
        check(
            &["wc", "{path}"],
            json!({"path": "a b; rm -rf $(x)\n"}),
            &["wc", "a b; rm -rf $(x)\n"],
        );
        check(&["head", "-n{n}", "{path}"], json!({"n": 3, "path": "a"}), &["head", "-n3", "a"]);
        check(&["head", "-n{n}", "{path}"], json!({"path": "a"}), &["head", "a"]);
        check(
            &["ls", "--", "{all}"],
            json!({"all": ["-a", "b", 3]}),
            &["ls", "--", "-a", "b", "3"],
        );
        check(&["ls", "{all}"], json!({"all": []}), &["ls"]);
        check(&["echo", "{{x}}", ""], json!({}), &["echo", "{x}", ""]);
        check(&["t", "--file={path}"], json!({"path": "-x"}), &["t", "--file=-x"]);
    }

    #[test]
    fn a_value_never_becomes_an_option() {
        for (argv, arguments) in [
            (&["rm", "{path}"][..], json!({"path": "-rf"})),
            (&["rm", "{all}"], json!({"all": ["a", "--no-preserve-root"]})),
            (&["rm", "{path}x"], json!({"path": "-"})),
            (&["rm", "{path}", "--"], json!({"path": "-rf"})),
            // Only a literal "--" of the operator ends the options.
            (&["rm", "{all}"], json!({"all": ["--", "-rf"]})),
        ] {
            let error = fill(argv, arguments).unwrap_err();
            assert!(error.contains("begins with"), "{argv:?}: {error}");
        }
        assert!(fill(&["x", "{path}"], json!({"path": "a\0b"})).unwrap_err().contains("NUL"));
        assert!(fill(&["x", "{path}"], json!({"path": {"a": 1}})).is_err());
        assert!(fill(&["x", "a{path}"], json!({"path": [1]})).is_err());
    }

    #[test]
    fn a_command_line_that_is_none_names_its_element() {
        let check = |argv: &[&str], message: &str| {
            let error = template(argv).unwrap_err().to_string();
            assert!(error.contains(message), "{argv:?}: {error}");
        };
        check(&[], "argv is empty");
        check(&["", "x"], "argv is empty");
        check(&["{path}"], "the program can't hold a placeholder");
        check(&["x", "{path"], "argv[1] is \"{path\"");
        check(&["x", "path}"], "argv[1]");
        check(&["x", "{}"], "argv[1]");
        check(&["x", "{other}"], "names \"other\"");
        check(&["x", "a\0"], "argv[1] holds a NUL");
    }

    proptest! {
        #[test]
        fn a_text_arrives_unchanged(text in "[^\0-]\\PC{0,40}") {
            let filled = fill(&["x", "{path}"], json!({"path": text})).unwrap();
            prop_assert_eq!(filled, vec!["x".to_owned(), text]);
        }
    }
}
