//! Parts of the Python driver that most sessions never need: loaded by their first call, so that a plain
//! session does not carry them.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{DriverLink, HostCalls, VariableError};
use crate::protocol::{Event, Request};

/// A part may read a large file.
const PATIENCE: Duration = Duration::from_secs(60);

/// A part of the driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its text; it defines the class `Part`.
    pub(crate) code: &'static str,
}

impl DriverLink {
    /// Calls a function of a part with JSON arguments by their names, and gives its JSON value.
    pub(crate) async fn call_part(
        &mut self,
        part: Part,
        is_first: bool,
        call: &str,
        args: &Value,
    ) -> Result<Value, VariableError> {
        let id = self.next_id();
        let code = is_first.then_some(part.code);
        let request = Request::Part { id, name: part.name, code, call, args };
        match self.ask(id, &request, PATIENCE).await? {
            Event::Value { value, .. } => serde_json::from_str(&value)
                .map_err(|error| VariableError::Refused(format!("unreadable value: {error}"))),
            _ => Ok(Value::Null),
        }
    }

    /// Who answers the calls of code, from the next call on.
    pub(crate) fn set_host_calls(&mut self, host_calls: Arc<dyn HostCalls>) {
        self.host_calls = host_calls;
    }
}
