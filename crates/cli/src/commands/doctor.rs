//! `remit doctor`: what this machine can enforce on a child process, mechanism by mechanism.

use std::process::ExitCode;

use confine::{Confinement, ConfinementReport, Limits, Mechanism, PrepareError, Status};
use serde::Serialize;
use spawner::{Preset, presets};

use crate::{args::DoctorArgs, env, failure::Failure, out};

/// A directory that every machine has: what is in it is looked through.
const SMALL: &str = "/bin";

/// One mechanism of this machine.
#[derive(Debug, Serialize)]
struct Finding<'a> {
    mechanism: Mechanism,
    #[serde(flatten)]
    status: &'a Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    how_to_enable: Option<&'static str>,
}

/// One agent program that `[subagent]` knows.
#[derive(Debug, Serialize)]
struct AgentProgram<'a> {
    agent: &'a str,
    title: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    how_to_install: Option<&'a str>,
}

/// Ends with 0 where child processes can be confined here, and with 1 where they can't.
pub(super) fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    // What nobody asks for is not looked for: a share of processor time is asked for here alone.
    let mut limits = Limits::default();
    limits.cpu_share = Some(100);
    match Confinement::builder(SMALL).read_only_workdir().limits(limits).prepare() {
        Ok(prepared) => {
            show(prepared.report(), args.json)?;
            show_agents(args.json)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ PrepareError::Missing { .. }) => {
            Err(Failure::Broken(format!("child processes can't be confined here: {error}")))
        }
        Err(error) => Err(Failure::broken(&error)),
    }
}

fn show(report: &ConfinementReport, is_json: bool) -> Result<(), Failure> {
    let findings = report.iter().map(|(mechanism, status)| Finding {
        mechanism,
        status,
        how_to_enable: is_missing(status).then(|| mechanism.how_to_enable()),
    });
    for finding in findings {
        if is_json {
            out::json_line(&finding)?;
        } else {
            out::text_out(&line(&finding))?;
        }
    }
    Ok(())
}

/// Which of the known agent programs are installed.
fn show_agents(is_json: bool) -> Result<(), Failure> {
    for (name, preset) in presets() {
        let found = agent(name, preset);
        if is_json {
            out::json_line(&found)?;
        } else {
            let said = match &found.path {
                Some(path) => format!("installed: {path}"),
                None => format!("not installed\n{:22}  to install: {}", "", preset.install),
            };
            let label = format!("agent {name}");
            out::text_out(&format!("{label:22}  {} {said}\n", preset.title))?;
        }
    }
    Ok(())
}

fn agent<'a>(name: &'a str, preset: &'a Preset) -> AgentProgram<'a> {
    let own = (name == "remit").then(|| std::env::current_exe().ok()).flatten();
    let path = own.or_else(|| preset.installed(env::named("PATH")));
    AgentProgram {
        agent: name,
        title: &preset.title,
        status: if path.is_some() { "installed" } else { "not_installed" },
        how_to_install: path.is_none().then_some(preset.install.as_str()),
        path: path.map(|path| path.display().to_string()),
    }
}

fn is_missing(status: &Status) -> bool {
    matches!(status, Status::Unavailable { .. } | Status::Partial { .. })
}

fn line(finding: &Finding<'_>) -> String {
    let said = match finding.status {
        Status::Enforced => "available".to_owned(),
        Status::Partial { missing } => format!("in part: {missing}"),
        Status::Unavailable { why } => format!("not available: {why}"),
        Status::NotRequested => "available, not used by default".to_owned(),
        _ => "unknown".to_owned(),
    };
    let remedy = finding.how_to_enable.map(|how| format!("\n{:22}  to enable: {how}", ""));
    format!("{:22}  {said}{}\n", finding.mechanism.to_string(), remedy.unwrap_or_default())
}
