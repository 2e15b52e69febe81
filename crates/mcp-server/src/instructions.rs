//! What a model is told about the server as a whole.

use crate::catalogue::Catalogue;

const ALWAYS: &str = "Tools executed on the operator's machine, within what the operator allowed and \
    confined by the kernel. A call that fails is answered with isError and a text that says what was \
    wrong and what would be accepted. Long output is cut, and the result says how much was left out.";

const SESSIONS: &str = " Code and commands run in sessions that remember: variables, imports and the \
    working directory last from call to call. Leave session_id out to use the default session of this \
    connection, or give the session_id that a result named. A call that takes long can be given \
    timeout_ms; it is then interrupted, and the session is kept. Sessions and their files end with the \
    connection.";

/// The instructions for the tools of this list.
pub(crate) fn of(catalogue: &Catalogue) -> String {
    let has_sessions = catalogue.names().any(|name| name.starts_with("sandbox_execute_"));
    format!("{ALWAYS}{}", if has_sessions { SESSIONS } else { "" })
}
