//! `remit sessions`: what is left of sessions in containers.

use std::process::ExitCode;

use rlm_backend::{DockerBackend, Reaped};

use crate::{
    args::{GcArgs, SessionsCommand, SettingsArgs},
    failure::Failure,
    out, printable,
    settings::Layers,
};

pub(super) fn run(command: &SessionsCommand) -> Result<ExitCode, Failure> {
    match command {
        SessionsCommand::Gc(args) => gc(args),
    }
}

fn gc(args: &GcArgs) -> Result<ExitCode, Failure> {
    let settings = SettingsArgs { config: args.config.clone(), ..SettingsArgs::default() };
    let settings = Layers::read(&settings, &Default::default())?.finish()?;
    let backend = DockerBackend::new(settings.config().sandbox.clone());
    let reaped = backend.reap().map_err(|error| Failure::broken(&error))?;
    if args.json {
        out::json_line(&reaped)?;
    } else {
        out::text_out(&in_words(&reaped))?;
    }
    Ok(if reaped.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn in_words(reaped: &Reaped) -> String {
    let removed = reaped.removed.iter().map(|name| format!("removed  {name}"));
    let failed = reaped.failed.iter().map(|what| format!("not removed  {what}"));
    let kept = match (reaped.kept, reaped.removed.len() + reaped.failed.len()) {
        (0, 0) => Some("no container of a session is there".to_owned()),
        (0, _) => None,
        (kept, _) => Some(format!("left alone: {kept}, whose program may still run")),
    };
    let lines = removed.chain(failed).chain(kept);
    lines.map(|line| format!("{}\n", printable::one_line(&line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_each_is_told() {
        let reaped =
            Reaped { removed: vec!["a".to_owned()], kept: 2, failed: vec!["b: in use".to_owned()] };
        assert_eq!(
            in_words(&reaped),
            "removed  a\nnot removed  b: in use\nleft alone: 2, whose program may still run\n"
        );
        assert_eq!(in_words(&Reaped::default()), "no container of a session is there\n");
    }
}
