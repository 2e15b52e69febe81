//! An argv template: arguments with places that are filled in, and no shell.
//!
//! What is filled in stays in its argument, whatever it holds. A task alone in an argument could be
//! taken for a flag, so it may only stand behind `--`, or attached to the name of an option.

use std::ffi::OsString;

use crate::config::TaskDelivery;

/// The argument that becomes flags for the scope.
const ALLOW: &str = "{allow}";
/// The longest argument that Linux passes to a program, less the byte that ends it.
pub(crate) const MAX_ARGUMENT: usize = 128 * 1024 - 1;

/// Arguments with places.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    arguments: Vec<Argument>,
}

#[derive(Debug, Clone)]
enum Argument {
    /// The flags for the scope.
    Allow,
    Text(Vec<Piece>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Place(Place),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Task,
    TaskFile,
    Model,
    Workdir,
}

/// What is filled in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values<'a> {
    pub(crate) task: &'a str,
    pub(crate) task_file: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) workdir: &'a str,
    /// The capabilities of the scope, shortest form.
    pub(crate) allow: &'a [String],
}

/// A template that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error(
        "unknown place {0:?} (valid: {{task}}, {{task_file}}, {{model}}, {{workdir}}, and {{allow}} alone)"
    )]
    UnknownPlace(String),
    #[error(
        "{{task}} is an argument of its own, so a task could be taken for a flag: put \"--\" before it, attach it (--prompt={{task}}), or set task = \"stdin\""
    )]
    BareTask,
    #[error("task = {delivery:?} needs {place} in an argument")]
    NoPlace { delivery: &'static str, place: &'static str },
    #[error("{place} is of no use where task = {delivery:?}")]
    Unused { delivery: &'static str, place: &'static str },
}

impl Template {
    pub(crate) fn new(arguments: &[String]) -> Result<Self, TemplateError> {
        let arguments = arguments.iter().map(|text| argument(text)).collect::<Result<_, _>>()?;
        Ok(Self { arguments })
    }

    /// Whether the task can get through it in this way.
    pub(crate) fn check_task(&self, delivery: TaskDelivery) -> Result<(), TemplateError> {
        let (task, file) = (self.holds(Place::Task), self.holds(Place::TaskFile));
        let no_place = |delivery, place| Err(TemplateError::NoPlace { delivery, place });
        let unused = |delivery, place| Err(TemplateError::Unused { delivery, place });
        match delivery {
            TaskDelivery::Argument if !task => no_place("argument", "{task}"),
            TaskDelivery::File if !file => no_place("file", "{task_file}"),
            TaskDelivery::Stdin if task => unused("stdin", "{task}"),
            TaskDelivery::File if task => unused("file", "{task}"),
            TaskDelivery::Stdin if file => unused("stdin", "{task_file}"),
            TaskDelivery::Argument if file => unused("argument", "{task_file}"),
            TaskDelivery::Argument if self.has_bare_task() => Err(TemplateError::BareTask),
            _ => Ok(()),
        }
    }

    fn holds(&self, place: Place) -> bool {
        let holds = |argument: &Argument| match argument {
            Argument::Allow => false,
            Argument::Text(pieces) => pieces.contains(&Piece::Place(place)),
        };
        self.arguments.iter().any(holds)
    }

    /// Whether an argument begins with the task, with no `--` before it.
    fn has_bare_task(&self) -> bool {
        let ends_flags = |argument: &&Argument| {
            matches!(argument, Argument::Text(pieces)
            if *pieces == [Piece::Literal("--".to_owned())])
        };
        let is_bare = |argument: &Argument| {
            matches!(argument, Argument::Text(pieces)
            if pieces.first() == Some(&Piece::Place(Place::Task)))
        };
        let before = self.arguments.iter().take_while(|argument| !ends_flags(argument));
        before.into_iter().any(is_bare)
    }

    /// The arguments. One that asks for a model is left out where there is none.
    pub(crate) fn fill(&self, values: &Values<'_>) -> Vec<OsString> {
        let mut filled = Vec::new();
        for argument in &self.arguments {
            match argument {
                Argument::Allow => filled.extend(allow_flags(values.allow)),
                Argument::Text(pieces) => filled.extend(text(pieces, values).map(OsString::from)),
            }
        }
        filled
    }
}

/// One text with its places filled in; nothing where it asks for a model and there is none.
pub(crate) fn fill_text(text_: &str, values: &Values<'_>) -> Option<String> {
    match argument(text_) {
        Ok(Argument::Text(pieces)) => text(&pieces, values),
        _ => Some(text_.to_owned()),
    }
}

fn text(pieces: &[Piece], values: &Values<'_>) -> Option<String> {
    let mut filled = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => filled.push_str(text),
            Piece::Place(Place::Task) => filled.push_str(values.task),
            Piece::Place(Place::TaskFile) => filled.push_str(values.task_file),
            Piece::Place(Place::Workdir) => filled.push_str(values.workdir),
            Piece::Place(Place::Model) => filled.push_str(values.model?),
        }
    }
    Some(filled)
}

/// The scope as `remit agent` takes it. Nothing allowed is nothing executed.
fn allow_flags(allow: &[String]) -> Vec<OsString> {
    let execute = (!allow.is_empty()).then(|| "--execute-tools".into());
    let each = allow.iter().map(|name| format!("--allow-tool={name}").into());
    execute.into_iter().chain(each).collect()
}

fn argument(text: &str) -> Result<Argument, TemplateError> {
    if text == ALLOW {
        return Ok(Argument::Allow);
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        let place = match name {
            "task" => Place::Task,
            "task_file" => Place::TaskFile,
            "model" => Place::Model,
            "workdir" => Place::Workdir,
            other => return Err(TemplateError::UnknownPlace(format!("{{{other}}}"))),
        };
        if !before.is_empty() {
            pieces.push(Piece::Literal(before.to_owned()));
        }
        pieces.push(Piece::Place(place));
        rest = behind;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Literal(rest.to_owned()));
    }
    Ok(Argument::Text(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(arguments: &[&str]) -> Template {
        Template::new(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn what_is_filled_in_stays_in_its_argument() {
        let allow = ["lookup".to_owned(), "browser.extract".to_owned()];
        let task = "--help {workdir}\n$(touch x) 'a'";
        let values = Values { task, workdir: "/w d", allow: &allow, ..Values::default() };
        let all =
            template(&["run", "--in={workdir}", "--model={model}", "{allow}", "--", "{task}"]);
        let flags = ["--execute-tools", "--allow-tool=lookup", "--allow-tool=browser.extract"];
        let expected = [&["run", "--in=/w d"][..], &flags, &["--", task]].concat();
        assert_eq!(all.fill(&values), expected);
    }

    #[test]
    fn a_task_can_never_be_taken_for_a_flag() {
        let check = |arguments: &[&str]| template(arguments).check_task(TaskDelivery::Argument);
        assert_eq!(check(&["{task}"]), Err(TemplateError::BareTask));
        assert_eq!(check(&["-p", "{task}x"]), Err(TemplateError::BareTask));
        assert_eq!(check(&["--", "{task}"]), Ok(()));
        assert_eq!(check(&["--prompt={task}"]), Ok(()));
        assert!(matches!(check(&["x"]), Err(TemplateError::NoPlace { .. })));
        let stdin = template(&["--", "{task}"]).check_task(TaskDelivery::Stdin);
        assert!(matches!(stdin, Err(TemplateError::Unused { .. })));
    }
}
