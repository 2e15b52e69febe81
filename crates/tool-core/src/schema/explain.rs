//! What does not fit, in words: every violation with its place, what was expected, what was there.

use std::fmt;

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde::Serialize;
use serde_json::Value;

use super::kind_of;
use crate::{clip, text::clip_with_ellipsis};

/// How many violations a message lists.
const MAX_VIOLATIONS: usize = 16;
/// How much of what is expected a violation says, in bytes.
const MAX_EXPECTED: usize = 140;
/// How much of what was there a violation shows, in bytes.
const MAX_FOUND: usize = 60;

/// All errors of a validation, the first ones explained and the others counted.
pub(super) fn violations<'a>(
    schema: &Value,
    errors: impl Iterator<Item = ValidationError<'a>>,
) -> Violations {
    let mut violations = Violations::default();
    for error in errors {
        if violations.shown.len() < MAX_VIOLATIONS {
            violations.shown.push(explain(schema, &error));
        } else {
            violations.omitted += 1;
        }
    }
    violations
}

/// One violation in words.
fn explain(schema: &Value, error: &ValidationError<'_>) -> Violation {
    let expected = expected(schema, error);
    let found = match error.kind() {
        ValidationErrorKind::Required { .. } => "nothing".to_owned(),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            listed(unexpected.iter().map(String::as_str), MAX_FOUND)
        }
        _ => found(error.instance()),
    };
    Violation {
        pointer: clip_with_ellipsis(error.instance_path().to_string(), 120),
        keyword: error.kind().keyword().to_owned(),
        expected: clip_with_ellipsis(expected, MAX_EXPECTED),
        found,
    }
}

/// What would fit.
fn expected(schema: &Value, error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind: TypeKind::Single(kind) } => kind.to_string(),
        Kind::Type { kind: TypeKind::Multiple(kinds) } => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
        Kind::Required { property } => format!("the required property {property}"),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            known_properties(schema, error)
        }
        Kind::Enum { options } => match options.as_array().map(Vec::as_slice) {
            Some([only]) => only.to_string(),
            Some(options) => {
                let options: Vec<_> = options.iter().map(Value::to_string).collect();
                format!("one of {}", options.join(", "))
            }
            None => format!("one of {options}"),
        },
        Kind::Constant { expected_value } => expected_value.to_string(),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("at most {limit} properties"),
        Kind::UniqueItems => "items that differ".to_owned(),
        Kind::Pattern { pattern } => format!("a string that matches {pattern}"),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(context),
        Kind::OneOfMultipleValid { .. } => "exactly one of the alternatives".to_owned(),
        Kind::PropertyNames { error } => format!("property names that fit: {}", error.masked()),
        Kind::FalseSchema => "nothing here".to_owned(),
        _ => error.masked().to_string(),
    }
}

/// The properties that the object does accept, from the schema beside the keyword that refused.
fn known_properties(schema: &Value, error: &ValidationError<'_>) -> String {
    let path = error.schema_path().to_string();
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let known = schema
        .pointer(parent)
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object)
        .map(|properties| listed(properties.keys().map(String::as_str), 100))
        .filter(|known| !known.is_empty());
    match known {
        Some(known) => format!("no properties but {known}"),
        None => "no further properties".to_owned(),
    }
}
fn alternatives(context: &[Vec<ValidationError<'static>>]) -> String {
    let reasons: Vec<_> = context
        .iter()
        .filter_map(|errors| errors.first())
        .take(3)
        .map(|error| clip(&error.masked().to_string(), 40).to_owned())
        .collect();
    format!("one of {} alternatives ({})", context.len(), reasons.join("; "))
}

/// Names in quotes with commas between, at most `max` bytes.
fn listed<'a>(names: impl Iterator<Item = &'a str>, max: usize) -> String {
    let mut list = String::new();
    for name in names {
        if list.len() > max {
            break;
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&format!("{:?}", clip(name, max)));
    }
    clip_with_ellipsis(list, max)
}

fn found(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => {
            format!("{} {}", kind_of(value), clip_with_ellipsis(value.to_string(), MAX_FOUND))
        }
        Value::Null => "null".to_owned(),
        _ => format!("{} {}", kind_of(value), clip_with_ellipsis(value.to_string(), MAX_FOUND)),
    }
}

/// One thing in the arguments that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Where, as a JSON Pointer (RFC 6901); empty for the whole.
    pub pointer: String,
    /// The keyword of the schema that refused.
    pub keyword: String,
    /// What would fit.
    pub expected: String,
    /// What was there.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "(root)" } else { &self.pointer };
        write!(f, "{place}: expected {}, found {}", self.expected, self.found)
    }
}

/// Everything in the arguments that does not fit, up to a bound. As text, one line each and less
/// than 4 KiB.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations {
    shown: Vec<Violation>,
    omitted: usize,
}

impl Violations {
    /// The first violations, at least one.
    #[must_use]
    pub fn shown(&self) -> &[Violation] {
        &self.shown
    }

    /// How many more there are.
    #[must_use]
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl From<Violation> for Violations {
    /// One violation, of what a schema can't say.
    fn from(violation: Violation) -> Self {
        Self { shown: vec![violation], omitted: 0 }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut bytes, mut left) = (0, self.shown.len());
        for violation in &self.shown {
            let line = violation.to_string();
            bytes += line.len() + 3;
            if bytes > 3800 {
                break;
            }
            let end = if left == 1 && self.omitted == 0 { "" } else { "\n" };
            write!(f, "- {line}{end}")?;
            left -= 1;
        }
        match self.omitted + left {
            0 => Ok(()),
            more => write!(f, "- and {more} more"),
        }
    }
}
