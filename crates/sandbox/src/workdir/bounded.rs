//! A list of JSON values that knows its written size.

use serde_json::Value;
use tool_core::ByteCount;

/// Bytes kept free for what stands around the list in a result.
const AROUND: usize = 512;

/// Collects values until the next one would not fit.
#[derive(Debug)]
pub(super) struct BoundedList {
    items: Vec<Value>,
    room: usize,
}

impl BoundedList {
    /// A list that leaves a result within `max_output`.
    pub(super) fn new(max_output: ByteCount) -> Self {
        Self { items: Vec::new(), room: max_output.as_usize().saturating_sub(AROUND) }
    }

    /// Adds a value; false where it does not fit, which changes nothing.
    pub(super) fn push(&mut self, item: Value) -> bool {
        let bytes = item.to_string().len() + ",".len();
        let fits = bytes <= self.room;
        if fits {
            self.room -= bytes;
            self.items.push(item);
        }
        fits
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn into_value(self) -> Value {
        Value::Array(self.items)
    }
}
