//! Calls as they stand in a file or on a pipe: three shapes, one JSON object each.
//!
//! | shape | looks like | arguments |
//! | --- | --- | --- |
//! | OpenAI | `{"id", "type": "function", "function": {"name", "arguments"}}` | JSON in a string |
//! | flat | `{"id" or "call_id", "name", "arguments"}` | an object |
//! | Anthropic | `{"type": "tool_use", "id", "name", "input"}` | an object |
//!
//! Only the envelope is read here. The arguments stay text until a gate has measured them. A text
//! that is no call still gives the id it had, where one could be read before it broke.

use std::{borrow::Cow, fmt};

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{CallId, JsonProblem, RawArguments, ToolCall, ToolError, clip};

/// The longest id that is passed on, in bytes.
const MAX_ID: usize = 256;

/// A text that is no call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MalformedCall {
    /// The id, where the text had one; otherwise empty.
    pub id: CallId,
    /// The name, where the text had one; otherwise empty.
    pub name: String,
    /// What was wrong, and what a call looks like.
    pub message: String,
}

impl From<&MalformedCall> for ToolError {
    fn from(malformed: &MalformedCall) -> Self {
        Self::MalformedCall { message: malformed.message.clone() }
    }
}

const EXPECTED: &str = "expected one JSON object with a name and arguments: {\"id\": …, \"name\": …, \
                        \"arguments\": {…}}, or the OpenAI or Anthropic shape of it";

/// Reads one call in any of the three shapes.
///
/// # Errors
/// [`MalformedCall`] says what was wrong, and has the id where it could be read.
///
/// ```
/// let call = tool_core::parse_call(br#"{"id": "c1", "name": "add", "arguments": {"a": 1}}"#)?;
/// assert_eq!((call.id.as_str(), call.name.as_str()), ("c1", "add"));
/// # Ok::<(), tool_core::MalformedCall>(())
/// ```
pub fn parse_call(text: &[u8]) -> Result<ToolCall, MalformedCall> {
    let mut fields = Fields::default();
    let read = str::from_utf8(text).map_err(|error| {
        format!("the text is not UTF-8 at byte {}; {EXPECTED}", error.valid_up_to())
    });
    let call = read
        .and_then(|text| fields.read(text).map_err(|problem| format!("{problem}; {EXPECTED}")))
        .and_then(|()| fields.call());
    call.map_err(|message| fields.malformed(message))
}

/// The fields of a call, as far as they were read.
#[derive(Default)]
struct Fields<'a> {
    id: Option<Cow<'a, str>>,
    name: Option<&'a RawValue>,
    arguments: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    function: Option<&'a RawValue>,
}

impl<'a> Fields<'a> {
    fn read(&mut self, text: &'a str) -> Result<(), JsonProblem> {
        let mut reader = serde_json::Deserializer::from_str(text);
        reader
            .deserialize_map(FieldsVisitor(self))
            .and_then(|()| reader.end())
            .map_err(|error| JsonProblem::from_serde(text, &error))
    }

    fn call(&self) -> Result<ToolCall, String> {
        if self.function.is_some() && (self.name.is_some() || self.input.is_some()) {
            return Err(format!("\"function\" stands beside \"name\" or \"input\"; {EXPECTED}"));
        }
        let (name, arguments) = match self.function {
            Some(function) => function_fields(function)?,
            None => (self.name, self.flat_arguments()?),
        };
        let name = name.ok_or_else(|| format!("the name is missing; {EXPECTED}"))?;
        let name: String = serde_json::from_str(name.get())
            .map_err(|_| format!("the name is not a string; {EXPECTED}"))?;
        let id = self.id.as_deref().unwrap_or_default();
        if id.len() > MAX_ID {
            return Err(format!("the id is longer than {MAX_ID} bytes"));
        }
        Ok(ToolCall { id: CallId::new(id), name, arguments })
    }

    fn flat_arguments(&self) -> Result<RawArguments, String> {
        match (self.arguments, self.input) {
            (Some(_), Some(_)) => Err(format!("both \"arguments\" and \"input\"; {EXPECTED}")),
            (Some(raw), None) | (None, Some(raw)) => Ok(RawArguments::Text(raw.get().to_owned())),
            (None, None) => Ok(RawArguments::Text(String::new())),
        }
    }

    fn malformed(&self, message: String) -> MalformedCall {
        let id = clip(self.id.as_deref().unwrap_or_default(), MAX_ID);
        let name = self.name.or_else(|| function_fields(self.function?).ok()?.0);
        let name = name.and_then(|name| serde_json::from_str::<String>(name.get()).ok());
        let name = clip(&name.unwrap_or_default(), MAX_ID).to_owned();
        MalformedCall { id: CallId::new(id), name, message }
    }

    fn set(&mut self, key: &str, value: &'a RawValue) -> Result<(), String> {
        let slot = match key {
            "id" | "call_id" => return self.set_id(value),
            "name" => &mut self.name,
            "arguments" => &mut self.arguments,
            "input" => &mut self.input,
            "type" => &mut self.kind,
            "function" => &mut self.function,
            _ => return Ok(()),
        };
        match slot.replace(value) {
            None => Ok(()),
            Some(_) => Err(format!("duplicate key {key:?}")),
        }
    }

    /// An id is a string; a number and null are taken as what they say.
    fn set_id(&mut self, value: &'a RawValue) -> Result<(), String> {
        let text = value.get();
        let id = match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str::<Cow<'_, str>>(text).map_err(|e| e.to_string())?,
            Some(b'0'..=b'9' | b'-') => Cow::Borrowed(text),
            Some(b'n') => Cow::Borrowed(""),
            _ => return Err("the id is not a string".to_owned()),
        };
        match self.id.replace(id) {
            None => Ok(()),
            Some(_) => Err("duplicate key \"id\"".to_owned()),
        }
    }
}

/// Name and arguments of the OpenAI shape, whose arguments are JSON inside a string.
fn function_fields(function: &RawValue) -> Result<(Option<&RawValue>, RawArguments), String> {
    let mut inner = Fields::default();
    inner.read(function.get()).map_err(|problem| format!("in \"function\": {problem}"))?;
    let arguments = match inner.arguments.map(RawValue::get) {
        None => String::new(),
        Some(text) if text.starts_with('"') => {
            serde_json::from_str(text).map_err(|error| format!("in \"arguments\": {error}"))?
        }
        Some(text) => text.to_owned(),
    };
    Ok((inner.name, RawArguments::Text(arguments)))
}

/// Fills the fields one by one, so that what came before a break is kept.
struct FieldsVisitor<'f, 'a>(&'f mut Fields<'a>);

impl<'a> Visitor<'a> for FieldsVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Cow<'a, str>>()? {
            let value = entries.next_value::<&'a RawValue>()?;
            self.0.set(&key, value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, String, String) {
        let call = parse_call(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
        (call.id.to_string(), call.name, call.arguments.to_text().into_owned())
    }

    #[test]
    fn three_shapes_are_one_call() {
        let expected = ("c1".to_owned(), "add".to_owned(), r#"{"a": 1}"#.to_owned());
        for text in [
            r#"{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 1}"}}"#,
            r#"{"id":"c1","function":{"name":"add","arguments":{"a": 1}}}"#,
            r#"{"id":"c1","name":"add","arguments":{"a": 1}}"#,
            r#"{"call_id":"c1","type":"function_call","name":"add","arguments":{"a": 1}}"#,
            r#"{"type":"tool_use","id":"c1","name":"add","input":{"a": 1}}"#,
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(read(r#"{"name":"now"}"#), (String::new(), "now".into(), String::new()));
        assert_eq!(read(r#"{"id":7,"name":"now"}"#).0, "7");
        assert_eq!(read(r#"{"id":null,"name":"now"}"#).0, "");
    }

    #[test]
    fn a_text_that_is_no_call_keeps_the_id_it_had() {
        let check = |text: &[u8], id: &str, message: &str| {
            let error = parse_call(text).unwrap_err();
            assert_eq!(error.id.as_str(), id, "{error}");
            assert!(error.message.contains(message), "{error}");
        };
        check(br#"{"id":"c7","name":"add","arguments":{"a":"#, "c7", "EOF");
        check(br#"{"id":"c8","arguments":{}}"#, "c8", "name is missing");
        check(br#"{"id":"c9","name":5}"#, "c9", "not a string");
        check(br#"{"id":"d1","name":"a","name":"b"}"#, "d1", "duplicate key");
        check(br#"{"id":"d2","id":"d3","name":"b"}"#, "d3", "duplicate key");
        check(br#"{"id":"d4","name":"a","arguments":{},"input":{}}"#, "d4", "both");
        check(br#"{"id":"d5","name":"a","function":{}}"#, "d5", "beside");
        check(br#"{"id":"d6","function":{"name":"a","arguments":"\ud800"}}"#, "d6", "hex escape");
        check(b"not json", "", "expected one JSON object");
        check(b"[]", "", "expected a JSON object");
        check(b"\"x\"", "", "expected a JSON object");
        check(b"{\"id\":\"e1\",\"name\":\"\xff\"}", "", "not UTF-8");
        check(br#"{"id":"e2","name":"a"} {}"#, "e2", "trailing");
    }
}
