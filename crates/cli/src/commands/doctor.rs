//! `remit doctor`: what this machine can enforce on a child process, mechanism by mechanism.

use std::process::ExitCode;

use confine::{Confinement, ConfinementReport, Limits, Mechanism, PrepareError, Status};
use serde::Serialize;

use crate::{args::DoctorArgs, failure::Failure, out};

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

/// Ends with 0 where child processes can be confined here, and with 1 where they can't.
pub(super) fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    // What nobody asks for is not looked for: a share of processor time is asked for here alone.
    let mut limits = Limits::default();
    limits.cpu_share = Some(100);
    match Confinement::builder(SMALL).read_only_workdir().limits(limits).prepare() {
        Ok(prepared) => {
            show(prepared.report(), args.json)?;
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
