//! What the operations on live pages take.

use serde_json::{Value, json};

use super::super::schema::Operation;

/// The operations, with what they take.
pub(in super::super) const OPERATIONS: [Operation; 7] = [
    Operation::new(
        "snapshot",
        "Shows a live page as a tree of its elements, each that can be used with a reference such as e12. \
         With `url` a page is opened in a real browser (or `page` goes there); the result names it.",
        &[],
        &["url", "page", "timeout_ms"],
    ),
    Operation::new(
        "screenshot",
        "Shows a live page as an image: what is in view, all of it with `whole`, or the element that `ref` or \
         `selector` names. With `url` a page is opened as snapshot does.",
        &[],
        &["url", "page", "ref", "selector", "whole", "image", "timeout_ms"],
    ),
    Operation::new(
        "click",
        "Clicks the element that `ref` or `selector` names in a live page.",
        &["page"],
        &["ref", "selector", "timeout_ms"],
    ),
    Operation::new(
        "type",
        "Types `text` into the element that `ref` or `selector` names, in place of what is there, or after \
         it with `append`; chooses the option `text` of a select. `submit` presses Enter afterwards.",
        &["page", "text"],
        &["ref", "selector", "append", "submit", "timeout_ms"],
    ),
    Operation::new(
        "press",
        "Presses `key` where the focus of a live page is: Enter, Tab, ArrowDown, Control+a, x, ...",
        &["page", "key"],
        &["timeout_ms"],
    ),
    Operation::new(
        "scroll",
        "Scrolls a live page: down by 600 pixels, by `dx` and `dy`, `to` its top or bottom, or to the element \
         that `ref` or `selector` names.",
        &["page"],
        &["ref", "selector", "dx", "dy", "to", "timeout_ms"],
    ),
    Operation::new("close", "Closes a live page.", &["page"], &[]),
];

/// Their arguments, beside those that the tool has anyway.
pub(in super::super) fn properties() -> Value {
    json!({
        "page": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "A live page, as the result that opened it names it.",
        },
        "ref": {
            "type": "string",
            "minLength": 1,
            "maxLength": 32,
            "description": "An element of a live page, as snapshot names it.",
        },
        "text": {"type": "string", "maxLength": 65_536, "description": "What type types."},
        "append": {"type": "boolean", "description": "Whether type keeps what is there."},
        "submit": {"type": "boolean", "description": "Whether type presses Enter afterwards."},
        "key": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "The key that press presses.",
        },
        "dx": {
            "type": "integer",
            "minimum": -1_000_000,
            "maximum": 1_000_000,
            "description": "How far scroll goes to the right, in CSS pixels.",
        },
        "dy": {
            "type": "integer",
            "minimum": -1_000_000,
            "maximum": 1_000_000,
            "description": "How far scroll goes down, in CSS pixels.",
        },
        "to": {"type": "string", "enum": ["top", "bottom"], "description": "Where scroll goes."},
        "whole": {"type": "boolean", "description": "Whether screenshot shows the whole page."},
        "image": {
            "type": "string",
            "enum": ["png", "jpeg"],
            "description": "The form of a screenshot; png by default, and jpeg where that is too large.",
        },
    })
}
