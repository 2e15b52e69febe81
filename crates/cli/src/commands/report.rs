//! `remit report`: a trajectory as a page for a browser.

use std::process::ExitCode;

use rlm_backend::{read_trajectory, render_report};

use crate::{args::ReportArgs, failure::Failure};

pub(super) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let records = read_trajectory(&args.trajectory).map_err(|error| Failure::operator(&error))?;
    if records.is_empty() {
        let path = args.trajectory.display();
        return Err(Failure::Operator(format!("{path} holds no step of a query")));
    }
    let path = &args.output;
    std::fs::write(path, render_report(&records))
        .map_err(|error| Failure::Operator(format!("--output: {}: {error}", path.display())))?;
    Ok(ExitCode::SUCCESS)
}
