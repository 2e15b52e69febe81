//! What programs write while they run, for a person at a terminal: line by line, above the spinners.
//!
//! Only shown where standard error is a terminal. Control characters are escaped; what a progress bar
//! repaints with carriage returns is a line each time. A line that does not end is shown when the call
//! does, or in parts where it is long.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use tool_core::{CallId, OutputKind, Progress, ProgressSink};

use crate::{out, printable::one_line, screen::Screen};

/// How much of a line without an end is held back, in bytes.
const MAX_LINE: usize = 1000;

/// Shows output on the screen.
#[derive(Debug)]
pub(crate) struct LiveOutput {
    screen: Screen,
    /// The lines that have not ended, by call: of standard output and of standard error.
    begun: Mutex<BTreeMap<CallId, [String; 2]>>,
}

impl LiveOutput {
    /// On a terminal; `None` where nobody sees it.
    pub(crate) fn on(screen: &Screen) -> Option<Self> {
        let begun = Mutex::default();
        out::is_terminal_err().then(|| Self { screen: screen.clone(), begun })
    }
}

impl ProgressSink for LiveOutput {
    fn progress(&self, call: &CallId, progress: Progress<'_>) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = match progress {
            Progress::Output { kind, text } => {
                let [out, err] = begun.entry(call.clone()).or_default();
                lines(if kind == OutputKind::Stdout { out } else { err }, text)
            }
            Progress::Ended => begun.remove(call).into_iter().flatten().collect(),
            _ => return,
        };
        for line in lines.iter().filter(|line| !line.is_empty()) {
            self.screen.say(&format!("  │ {}", one_line(line)));
        }
    }
}

/// Adds a piece to a line; gives the lines that are whole, or too long to wait for.
fn lines(begun: &mut String, text: &str) -> Vec<String> {
    begun.push_str(text);
    let mut lines = Vec::new();
    while let Some(at) = begun.find(['\n', '\r']) {
        let rest = begun.split_off(at + 1);
        let mut line = std::mem::replace(begun, rest);
        line.pop();
        lines.push(line);
    }
    if begun.len() > MAX_LINE {
        lines.push(std::mem::take(begun));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let mut begun = String::new();
        assert_eq!(lines(&mut begun, "a"), Vec::<String>::new());
        assert_eq!(lines(&mut begun, "b\nc\r10%\rd"), ["ab", "c", "10%"]);
        assert_eq!(begun, "d");
        assert_eq!(lines(&mut begun, &"e".repeat(MAX_LINE)).len(), 1);
        assert!(begun.is_empty());
    }
}
