//! What can be wrong with an answer, before it becomes an error that people read.
//!
//! Texts in here come from the server and may hold anything, the key too; only [`Reporter`] makes
//! errors of them, and takes the key out.
//!
//! [`Reporter`]: super::reporter::Reporter

use serde_json::Value;

/// Why an answer is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It makes no sense.
    Nonsense(String),
    /// It reports an error, with a status that fits it.
    Reported {
        /// The HTTP status of such an error.
        status: u16,
        /// What it says.
        message: String,
    },
}

impl Fault {
    /// An answer that does not parse.
    pub(crate) fn unreadable(what: &str, error: &serde_json::Error) -> Self {
        Self::Nonsense(format!("{what} can't be read: {error}"))
    }
}

/// What an error body says: `error.message`, `error`, `message` or `detail`, else its text.
pub(crate) fn message_of(body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let places = ["/error/message", "/error", "/message", "/detail"];
    let found = places.iter().find_map(|place| value.pointer(place)?.as_str());
    let text = found.unwrap_or(body).trim();
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_where_servers_put_it() {
        let check = |body: &str, expected: &str| assert_eq!(message_of(body), expected, "{body}");
        check(r#"{"error": {"message": "no", "type": "x"}}"#, "no");
        check(r#"{"type": "error", "error": {"type": "x", "message": "no"}}"#, "no");
        check(r#"{"error": "no"}"#, "no");
        check(r#"{"object": "error", "message": "no"}"#, "no");
        check(r#"{"detail": "no"}"#, "no");
        check(r#"{"detail": [1]}"#, r#"{"detail": [1]}"#);
        check("<h1>Bad\nGateway</h1>\n", "<h1>Bad Gateway</h1>");
    }
}
