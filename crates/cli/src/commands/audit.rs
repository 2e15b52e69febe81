//! `remit audit`.

use std::{fs::File, io::BufReader, path::Path, process::ExitCode};

use sandbox::audit::verify;

use crate::{args::AuditCommand, failure::Failure, out};

pub(super) fn run(command: AuditCommand) -> Result<ExitCode, Failure> {
    let AuditCommand::Verify { file } = command;
    check(&file)
}

fn check(path: &Path) -> Result<ExitCode, Failure> {
    let shown = path.display();
    let file =
        File::open(path).map_err(|error| Failure::Operator(format!("audit: {shown}: {error}")))?;
    match verify(BufReader::new(file)) {
        Ok(summary) => {
            out::text_out(&format!(
                "{shown}: {} lines, whole; head {}\n",
                summary.lines, summary.head
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            let told = Failure::broken(&problem);
            Err(Failure::Broken(format!("{shown}: {told}")))
        }
    }
}
