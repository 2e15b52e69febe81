//! Tool calls put together from the fragments of a stream.
//!
//! A fragment has an index, an id, a name and a piece of arguments, each of which may be missing:
//!
//! - by the book, the first fragment of a call has index, id and name, the others the index alone;
//! - some servers repeat id and name in every fragment, or send the name in pieces;
//! - some send whole calls, without an index, or all of them under the same index;
//! - ids may be empty, or the same for several calls.
//!
//! So a fragment goes on with the last call of its index (or, without one, with the last call of all)
//! unless something shows that it begins a new one: another id that comes with a name, or a name
//! where the arguments before are already closed, and more of them. No map has an id for its key.

use std::collections::BTreeSet;

use serde_json::Value;
use tool_core::ToolCall;

use super::reply::WireCall;
use crate::{Delta, ToolNames, balance::Balance, http::OnDelta};

/// The calls of one reply, as far as they came.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    calls: Vec<Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    balance: Balance,
    extra: Option<Value>,
    is_announced: bool,
}

impl Fragments {
    /// Takes one fragment. `is_first` says whether it is the first of its chunk: the others of a chunk
    /// belong to other calls where no index says so.
    pub(super) fn take(&mut self, mut fragment: WireCall, is_first: bool) {
        let id = fragment.id();
        let function = fragment.function.take().unwrap_or_default();
        let name = function.name.as_deref().unwrap_or_default();
        let last = match fragment.index {
            Some(_) => self.calls.iter().rposition(|call| call.index == fragment.index),
            None if is_first || name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        let arguments = function.arguments();
        let is_going_on = |at: &usize| self.calls[*at].goes_on_with(&id, name, &arguments);
        let at = last.filter(is_going_on).unwrap_or_else(|| {
            self.calls.push(Partial { index: fragment.index, ..Partial::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        call.extend(id, name, &arguments);
        if fragment.extra_content.is_some() {
            call.extra = fragment.extra_content;
        }
    }

    /// Tells of calls whose names are known: those with arguments, or with a call after them, and all
    /// of them at the end.
    pub(super) fn announce(&mut self, names: &ToolNames, is_end: bool, on_delta: OnDelta<'_>) {
        let count = self.calls.len();
        let indices: BTreeSet<Option<u64>> = self.calls.iter().map(|call| call.index).collect();
        let has_own_indices = indices.len() == count && !indices.contains(&None);
        for (position, call) in self.calls.iter_mut().enumerate() {
            let is_known = is_end || position + 1 < count || !call.arguments.is_empty();
            if is_known && !call.is_announced {
                call.is_announced = true;
                let name = names.original(&call.name).to_owned();
                let own = call.index.and_then(|index| usize::try_from(index).ok());
                let index = own.filter(|_| has_own_indices).unwrap_or(position);
                on_delta(Delta::CallStarted { index, name });
            }
        }
    }

    /// The calls, in the order of their indices where all have one, else as they came.
    pub(super) fn finish(mut self, names: &ToolNames) -> Vec<(ToolCall, Option<Value>)> {
        if self.calls.iter().all(|call| call.index.is_some()) {
            self.calls.sort_by_key(|call| call.index);
        }
        let whole = |call: Partial| {
            (ToolCall::from_text(call.id, names.original(&call.name), call.arguments), call.extra)
        };
        self.calls.into_iter().map(whole).collect()
    }
}

impl Partial {
    /// Whether a fragment with this id, name and arguments belongs to this call.
    fn goes_on_with(&self, id: &str, name: &str, arguments: &str) -> bool {
        if name.is_empty() {
            return true;
        }
        let is_other_id = !id.is_empty() && !self.id.is_empty() && id != self.id;
        let says_nothing_new = name == self.name && arguments.trim().is_empty();
        !is_other_id && (says_nothing_new || !self.balance.is_closed())
    }

    fn extend(&mut self, id: String, name: &str, arguments: &str) {
        if self.id.is_empty() {
            self.id = id;
        }
        // A name that comes again is the same name; another piece of one goes on with it.
        if self.name != name {
            self.name.push_str(name);
        }
        self.balance.push(arguments);
        self.arguments.push_str(arguments);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every chunk is a list of fragments; every call is (id, name, arguments).
    fn check(chunks: Value, expected: &[(&str, &str, &str)]) {
        let mut fragments = Fragments::default();
        for chunk in chunks.as_array().unwrap() {
            for (at, fragment) in chunk.as_array().unwrap().iter().enumerate() {
                let fragment = serde_json::from_str(&fragment.to_string()).unwrap();
                fragments.take(fragment, at == 0);
            }
        }
        let calls = fragments.finish(&ToolNames::default());
        let found: Vec<_> = calls
            .iter()
            .map(|(c, _)| (c.id.as_str(), c.name.as_str(), c.arguments.to_text().into_owned()))
            .collect();
        let own: Vec<_> =
            expected.iter().map(|(id, name, a)| (*id, *name, a.to_string())).collect();
        assert_eq!(found, own, "{chunks}");
    }

    fn piece(index: u64, arguments: &str) -> Value {
        json!({"index": index, "function": {"arguments": arguments}})
    }

    fn begin(index: Option<u64>, id: Option<&str>, name: &str, arguments: &str) -> Value {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn fragments_by_the_book_and_interleaved() {
        check(
            json!([
                [begin(Some(0), Some("a"), "f", "")],
                [piece(0, "{\"x\"")],
                [begin(Some(1), Some("b"), "g", "")],
                [piece(1, "{"), piece(0, ":1}")],
                [piece(1, "}")],
            ]),
            &[("a", "f", "{\"x\":1}"), ("b", "g", "{}")],
        );
        check(
            json!([[begin(Some(1), Some("b"), "g", "{}")], [begin(Some(0), Some("a"), "f", "{}")]]),
            &[("a", "f", "{}"), ("b", "g", "{}")],
        );
    }

    #[test]
    fn what_is_repeated_is_not_doubled() {
        check(
            json!([
                [begin(Some(0), Some("a"), "exec", "{\"x\"")],
                [begin(Some(0), Some("a"), "exec", ":1")],
                [begin(Some(0), Some("a"), "exec", "}")],
            ]),
            &[("a", "exec", "{\"x\":1}")],
        );
        // Servers that repeat the name do so in a last, empty fragment too.
        check(
            json!([[begin(Some(0), Some("a"), "f", "{}")], [begin(Some(0), None, "f", "\n")]]),
            &[("a", "f", "{}\n")],
        );
        check(
            json!([[begin(None, Some("a"), "f", "{")], [begin(None, Some("a"), "f", "}")]]),
            &[("a", "f", "{}")],
        );
        check(
            json!([[begin(Some(0), Some("a"), "read_", "")], [begin(Some(0), None, "file", "{}")]]),
            &[("a", "read_file", "{}")],
        );
    }

    #[test]
    fn whole_calls_without_an_index_or_under_the_same_one() {
        let same = [("", "f", "{}"), ("", "f", "{}"), ("", "g", "{}")];
        check(
            json!([[
                begin(None, None, "f", "{}"),
                begin(None, None, "f", "{}"),
                begin(None, None, "g", "{}")
            ]]),
            &same,
        );
        check(
            json!([
                [begin(None, None, "f", "{}")],
                [begin(None, None, "f", "{}")],
                [begin(None, None, "g", "{}")],
            ]),
            &same,
        );
        check(
            json!([[begin(None, None, "f", ""), begin(None, None, "f", "")]]),
            &[("", "f", ""), ("", "f", "")],
        );
        check(
            json!([[begin(Some(0), Some("a"), "f", "{}")], [begin(Some(0), Some("b"), "f", "{}")]]),
            &[("a", "f", "{}"), ("b", "f", "{}")],
        );
    }

    #[test]
    fn ids_may_be_double_and_arguments_malformed() {
        check(
            json!([
                [begin(Some(0), Some("a"), "f", "{\"x\":"), begin(Some(1), Some("a"), "f", "{}")],
                [piece(0, "oops")],
            ]),
            &[("a", "f", "{\"x\":oops"), ("a", "f", "{}")],
        );
        check(
            json!([[{"index": 0, "id": 7, "function": {"name": "f", "arguments": {"x": 1}}}]]),
            &[("7", "f", "{\"x\":1}")],
        );
        check(json!([[{"index": 0}]]), &[("", "", "")]);
    }
}
