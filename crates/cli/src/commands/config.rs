//! `remit config`.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolset::{Setting, config_schema};

use crate::{args::ConfigCommand, failure::Failure, out, settings::Layers};

pub(super) fn run(command: ConfigCommand) -> Result<ExitCode, Failure> {
    match command {
        ConfigCommand::Schema => out::text_out(&format!("{:#}\n", config_schema()))?,
        ConfigCommand::Show { settings, execution, json } => {
            let settings = Layers::read(&settings, &execution)?.finish()?.layered.settings();
            if json { show_json(&settings)? } else { out::text_out(&table(&settings))? }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_json(settings: &[Setting]) -> Result<(), Failure> {
    settings.iter().try_for_each(|Setting { key, value, origin }| {
        out::json_line(&json!({ "key": key, "value": value, "from": origin.to_string() }))
    })
}

fn table(settings: &[Setting]) -> String {
    let shown = |value: &Value| if value.is_null() { "-".to_owned() } else { value.to_string() };
    let width = |text: &dyn Fn(&Setting) -> String| {
        settings.iter().map(|setting| text(setting).chars().count()).max().unwrap_or(0).min(48)
    };
    let (keys, values) = (width(&|s| s.key.clone()), width(&|s| shown(&s.value)));
    let row = |setting: &Setting| {
        let (key, value) = (&setting.key, shown(&setting.value));
        format!("{key:keys$}  {value:values$}  {}\n", setting.origin)
    };
    settings.iter().map(row).collect()
}
