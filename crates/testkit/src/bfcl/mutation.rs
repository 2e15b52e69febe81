//! Ways to spoil a call that passes, each of which one stage must refuse.
//!
//! A mutation changes one thing. Where the change could be refused for another reason than its own,
//! it comes with a line that must pass, and with the reason that the refusal must give.

use serde_json::{Map, Value, json};
use tool_core::{ArgumentsProblem, Gate, Stage, ToolError};

use super::loaded::{Loaded, admit};

/// An argument that no definition has.
const UNDECLARED: &str = "argument that nobody declared";

/// One way to spoil a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutation {
    /// The line ends in its middle.
    CutLine,
    /// The name carries a namespace, so that no tool has it.
    UnknownName,
    /// The scope holds every other tool.
    OutOfScope,
    /// Spaces after the arguments make them one byte larger than the ceiling.
    OverCeiling,
    /// The arguments lack their last byte.
    CutArguments,
    /// The first required argument is left out.
    MissingRequired,
    /// The first argument that declares a type has a value of another one.
    WrongType,
    /// There is one argument more, where the schema forbids that.
    Undeclared,
}

impl Mutation {
    /// Every mutation, in the order of the stages.
    pub const ALL: [Self; 8] = [
        Self::CutLine,
        Self::UnknownName,
        Self::OutOfScope,
        Self::OverCeiling,
        Self::CutArguments,
        Self::MissingRequired,
        Self::WrongType,
        Self::Undeclared,
    ];

    /// What was done, for reports.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::CutLine => "line cut in its middle",
            Self::UnknownName => "unknown name",
            Self::OutOfScope => "name not in the scope",
            Self::OverCeiling => "arguments over the ceiling",
            Self::CutArguments => "arguments without their last byte",
            Self::MissingRequired => "required argument left out",
            Self::WrongType => "value of a wrong type",
            Self::Undeclared => "argument not in a closed schema",
        }
    }

    /// The stage that has to refuse it.
    #[must_use]
    pub fn stage(self) -> Stage {
        match self {
            Self::CutLine => Stage::Parse,
            Self::UnknownName => Stage::Allowlist,
            Self::OutOfScope => Stage::Authorization,
            Self::OverCeiling => Stage::ArgumentSize,
            Self::CutArguments | Self::MissingRequired | Self::WrongType | Self::Undeclared => {
                Stage::Schema
            }
        }
    }

    /// Spoils a call and asks the gates. `None` where the call has nothing to spoil in this way;
    /// the error says what was not as expected.
    pub(super) fn attempt(self, loaded: &Loaded, call: &Call<'_>) -> Option<Result<(), String>> {
        match self {
            Self::CutLine => {
                let line = call.line();
                Some(self.refused(&loaded.open, &line.as_bytes()[..line.len() / 2]))
            }
            Self::UnknownName => {
                let name = format!("functions.{}", call.function);
                Some(self.refused(&loaded.open, line(&name, &call.text()).as_bytes()))
            }
            Self::OutOfScope => Some(
                loaded
                    .without(call.function)
                    .and_then(|gate| self.refused(&gate, call.line().as_bytes())),
            ),
            Self::OverCeiling => Some(self.over_ceiling(&loaded.open, call)),
            Self::CutArguments => {
                let mut text = call.text();
                text.pop();
                Some(self.refused(&loaded.open, line(call.function, &text).as_bytes()))
            }
            Self::MissingRequired => {
                let mut arguments = call.arguments.clone();
                arguments.remove(call.first_required()?)?;
                Some(self.refused(&loaded.open, call.with(&arguments).as_bytes()))
            }
            Self::WrongType => {
                let (name, wrong) = call.wrong_value()?;
                let mut arguments = call.arguments.clone();
                arguments.insert(name.to_owned(), wrong);
                Some(self.refused(&loaded.open, call.with(&arguments).as_bytes()))
            }
            Self::Undeclared => Some(self.undeclared(loaded, call)),
        }
    }

    fn over_ceiling(self, gate: &Gate, call: &Call<'_>) -> Result<(), String> {
        let mut text = call.text();
        let padding = gate.limits().max_args().as_usize().saturating_sub(text.len());
        text.push_str(&" ".repeat(padding));
        admit(gate, line(call.function, &text).as_bytes())
            .map_err(|error| format!("{}: exactly the ceiling: {error}", self.label()))?;
        text.push(' ');
        self.refused(gate, line(call.function, &text).as_bytes())
    }

    fn undeclared(self, loaded: &Loaded, call: &Call<'_>) -> Result<(), String> {
        let mut arguments = call.arguments.clone();
        arguments.insert(UNDECLARED.to_owned(), json!(1));
        let line = call.with(&arguments);
        admit(&loaded.open, line.as_bytes())
            .map_err(|error| format!("{}: an open schema: {error}", self.label()))?;
        self.refused(&loaded.closed, line.as_bytes())
    }

    /// Whether the gate refuses the line at the right stage and for the right reason.
    fn refused(self, gate: &Gate, line: &[u8]) -> Result<(), String> {
        let Err(error) = admit(gate, line) else {
            return Err(format!("{}: it passed", self.label()));
        };
        let stage = Stage::of(error.kind());
        if stage != self.stage() || !self.is_reason(&error) {
            return Err(format!("{}: refused at {stage:?}: {error}", self.label()));
        }
        Ok(())
    }

    fn is_reason(self, error: &ToolError) -> bool {
        let keyword = match self {
            Self::MissingRequired => "required",
            Self::WrongType => "type",
            Self::Undeclared => "additionalProperties",
            Self::CutArguments => {
                return matches!(
                    error,
                    ToolError::InvalidArguments { problem: ArgumentsProblem::Json(_), .. }
                );
            }
            _ => return true,
        };
        match error {
            ToolError::InvalidArguments { problem: ArgumentsProblem::Schema(all), .. } => {
                all.shown().iter().any(|violation| violation.keyword == keyword)
            }
            _ => false,
        }
    }
}

/// A call that passes, and the schema it fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The function.
    pub(super) function: &'a str,
    /// Its arguments.
    pub(super) arguments: &'a Map<String, Value>,
    /// Its translated parameters.
    pub(super) parameters: &'a Value,
}

impl Call<'_> {
    /// The call as a line in the OpenAI shape.
    pub(super) fn line(&self) -> String {
        self.with(self.arguments)
    }

    fn with(&self, arguments: &Map<String, Value>) -> String {
        line(self.function, &json!(arguments).to_string())
    }

    fn text(&self) -> String {
        json!(self.arguments).to_string()
    }

    fn first_required(&self) -> Option<&str> {
        let required = self.parameters.get("required")?.as_array()?;
        let mut names = required.iter().filter_map(Value::as_str);
        names.find(|name| self.arguments.contains_key(*name))
    }

    /// The first argument that declares a type, and a value of another type.
    fn wrong_value(&self) -> Option<(&str, Value)> {
        let properties = self.parameters.get("properties")?;
        self.arguments.keys().find_map(|name| {
            let wrong = match properties.get(name)?.get("type")?.as_str()? {
                "string" => json!(7),
                "integer" | "number" => json!("7"),
                "boolean" => json!("true"),
                "array" => json!({}),
                "object" => json!([]),
                _ => return None,
            };
            Some((name.as_str(), wrong))
        })
    }
}

fn line(function: &str, arguments: &str) -> String {
    let function = json!({"name": function, "arguments": arguments});
    json!({"id": "call_1", "type": "function", "function": function}).to_string()
}
