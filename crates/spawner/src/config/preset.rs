//! The command-line agents that people have: their flags, as data.
//!
//! `presets.toml` is the one place that knows them: how each is started, how it takes its task, where
//! it keeps what it needs, and where in its output the answer stands.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::LazyLock};

use serde::Deserialize;

use super::TaskDelivery;

/// What is known of one program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Preset {
    /// Its name for people.
    pub title: String,
    /// The program's name.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How it takes its task.
    pub task: TaskDelivery,
    /// Whether it asks a model over the network.
    pub network: bool,
    /// The variable that usually holds its key. Only a name: it is passed on where the operator says so.
    pub credential: Option<String>,
    /// Variables that it needs.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How to get it.
    pub install: String,
    /// Where its answer stands, where it prints JSON.
    #[serde(default)]
    pub(crate) output: Vec<ResultShape>,
}

/// Where facts stand in a JSON document that is printed, as JSON pointers; in places of numbers `*` is
/// every member. Where several lines fit, texts are the last one's, and numbers are added.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ResultShape {
    /// A place, and the text that must stand there for the rest to count.
    pub(crate) when: Option<(String, String)>,
    /// The answer.
    pub(crate) text: Option<String>,
    /// Whether it went wrong.
    pub(crate) is_error: Option<String>,
    /// Tokens read, all places added.
    pub(crate) input_tokens: Vec<String>,
    /// Tokens written, all places added.
    pub(crate) output_tokens: Vec<String>,
    /// What it cost, in US dollars.
    pub(crate) cost_usd: Option<String>,
    /// The name under which the program can go on.
    pub(crate) session: Option<String>,
}

impl Preset {
    /// Where its program is, looked for in a `PATH`.
    #[must_use]
    pub fn installed(&self, path: Option<OsString>) -> Option<PathBuf> {
        crate::agent::find_program(&self.program, path)
    }
}

static PRESETS: LazyLock<BTreeMap<String, Preset>> =
    // A test reads the same text, so a build of ours never falls back.
    LazyLock::new(|| toml::from_str(include_str!("presets.toml")).unwrap_or_default());

/// Every preset by its name.
#[must_use]
pub fn presets() -> &'static BTreeMap<String, Preset> {
    &PRESETS
}

pub(super) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    #[test]
    fn the_data_file_is_read_and_every_preset_can_be_started() {
        let read: Result<BTreeMap<String, Preset>, _> =
            toml::from_str(include_str!("presets.toml"));
        assert_eq!(read.unwrap().len(), presets().len());
        let names: Vec<_> = presets().keys().map(String::as_str).collect();
        assert_eq!(names, ["aider", "claude", "codex", "gemini", "goose", "opencode", "remit"]);
        for (name, preset) in presets() {
            let template = Template::new(&preset.args).unwrap();
            template.check_task(preset.task).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}
