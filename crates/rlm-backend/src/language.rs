//! The two languages of a session: what to start for each, and how a request looks on its wire.

use crate::protocol::Request;

/// What the command line has; the program itself would cost memory there for as long as the process
/// lives. SIZE and PARTS stand for the length of the program and the number of its parts.
const PYTHON_BOOTSTRAP: &str = include_str!("drivers/python/bootstrap.py");
/// One program in several files; each goes on where the one before ended. They are compiled one by
/// one, which takes less memory at once.
const PYTHON: &str = concat!(
    include_str!("drivers/python/start.py"),
    "\0",
    include_str!("drivers/python/channel.py"),
    "\0",
    include_str!("drivers/python/streams.py"),
    "\0",
    include_str!("drivers/python/show.py"),
    "\0",
    include_str!("drivers/python/cells.py"),
    "\0",
    include_str!("drivers/python/main.py"),
);
const BASH: &str = include_str!("drivers/bash.sh");
const BASH_LOOP: &str = include_str!("drivers/bash_loop.sh");

/// What a session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python 3.9 or later.
    Python,
    /// Bash 5 or later.
    Bash,
}

impl Language {
    /// The program to start.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Bash => "bash",
        }
    }

    /// The arguments after the program's name, for a process that inherits the control channel as
    /// the descriptors `control_in` (it reads) and `control_out` (it writes). A link sends the rest of
    /// the driver over the channel.
    ///
    /// The process needs standard input empty, standard output and error as pipes, and SIGINT and
    /// SIGPIPE neither ignored nor blocked.
    #[must_use]
    pub fn arguments(self, control_in: i32, control_out: i32) -> Vec<String> {
        let fds = [control_in.to_string(), control_out.to_string()];
        let fixed = match self {
            Self::Python => {
                let parts = PYTHON.split('\0').count().to_string();
                let text = PYTHON_BOOTSTRAP.replace("SIZE", &PYTHON.len().to_string());
                vec!["-c".to_owned(), text.replace("PARTS", &parts)]
            }
            Self::Bash => ["--norc", "--noprofile", "-c", BASH_LOOP.trim_ascii_end(), "bash", BASH]
                .map(str::to_owned)
                .to_vec(),
        };
        fixed.into_iter().chain(fds).collect()
    }

    /// What a driver reads before the first request.
    pub(crate) const fn program_text(self) -> &'static str {
        match self {
            Self::Python => PYTHON,
            Self::Bash => "",
        }
    }

    /// A request as the driver reads it.
    ///
    /// Python reads one JSON object a line. Bash cannot parse JSON, and gets the token as a line,
    /// then `run ID BYTES` and that many bytes for each call.
    pub(crate) fn encode(self, request: &Request<'_>) -> Option<Vec<u8>> {
        match self {
            Self::Python => {
                let mut line = serde_json::to_vec(request).ok()?;
                line.push(b'\n');
                Some(line)
            }
            Self::Bash => match request {
                Request::Hello { token, .. } => Some(format!("{token}\n").into_bytes()),
                Request::Run { id, code } => {
                    let mut bytes = format!("run {id} {}\n", code.len()).into_bytes();
                    bytes.extend_from_slice(code.as_bytes());
                    Some(bytes)
                }
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_gets_the_length_in_bytes_and_the_text_as_it_is() {
        let request = Request::Run { id: 7, code: "echo é\n" };
        assert_eq!(Language::Bash.encode(&request).unwrap(), "run 7 8\necho é\n".as_bytes());
    }

    #[test]
    fn python_gets_one_line_whatever_the_code_holds() {
        let request = Request::Run { id: 7, code: "a\nb\u{2028}" };
        let line = Language::Python.encode(&request).unwrap();
        assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1);
        assert!(line.starts_with(br#"{"op":"run","id":7"#));
    }

    #[test]
    fn bash_has_no_variables_to_set() {
        assert!(Language::Bash.encode(&Request::List { id: 1 }).is_none());
    }
}
