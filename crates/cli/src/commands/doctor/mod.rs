//! `remit doctor`: what this machine can enforce on a child process, mechanism by mechanism, which
//! interpreters sessions find, which container engine answers, which browser live pages find, and
//! which agent programs are installed.
//!
//! What is shown was tried: the mechanisms by a launch, the interpreters by running them confined.

mod agents;
mod browser;
mod engine;
mod interpreters;

use std::{process::ExitCode, time::Duration};

use confine::{
    Confinement, ConfinementReport, Limits, Mechanism, MemoryHolder, NamespaceMaker, PrepareError,
    Status,
};
use serde::Serialize;

use self::{agents::AgentProgram, browser::Browser, engine::Engine, interpreters::Interpreter};
use crate::{
    args::{DoctorArgs, SettingsArgs},
    failure::Failure,
    out, printable,
    settings::Layers,
};

/// A directory that every machine has: what is in it is looked through.
const SMALL: &str = "/bin";
/// How long an interpreter may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much of a confinement there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    /// Namespaces, Landlock and the filter.
    Full,
    /// Namespaces, and not all of the rest.
    Reduced,
    /// Landlock and the filter alone.
    Landlock,
    /// Nothing is started here.
    None,
}

/// All that is told.
#[derive(Debug, Serialize)]
struct Findings<'a> {
    level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespaces_made_by: Option<NamespaceMaker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_held_by: Option<MemoryHolder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    mechanisms: Vec<Finding<'a>>,
    interpreters: Vec<Interpreter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container_engine: Option<Engine>,
    browser: Option<Browser>,
    agents: Vec<AgentProgram>,
}

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
pub(super) async fn run(args: DoctorArgs) -> Result<ExitCode, Failure> {
    let settings = SettingsArgs { config: args.config.clone(), ..SettingsArgs::default() };
    let settings = Layers::read(&settings, &Default::default())?.finish()?;
    // What nobody asks for is not looked for: a share of processor time is asked for here alone.
    let mut limits = Limits::default();
    limits.cpu_share = Some(100);
    limits.wall_clock = Some(PATIENCE);
    match Confinement::builder(SMALL).read_only_workdir().limits(limits).prepare() {
        Ok(prepared) => {
            let mut findings = Findings::of(prepared.report());
            findings.interpreters = interpreters::look(&prepared);
            let docker = &settings.config().sandbox.docker;
            findings.container_engine = Some(engine::look(docker).await);
            findings.browser = Some(browser::look(&prepared));
            findings.agents = agents::look();
            show(&findings, args.json)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ PrepareError::Missing { .. }) => {
            let refused = format!("child processes can't be confined here: {error}");
            if args.json {
                out::json_line(&Findings::none(refused.clone()))?;
            }
            Err(Failure::Broken(refused))
        }
        Err(error) => Err(Failure::broken(&error)),
    }
}

impl<'a> Findings<'a> {
    fn of(report: &'a ConfinementReport) -> Self {
        let finding = |(mechanism, status): (Mechanism, &'a Status)| Finding {
            mechanism,
            status,
            how_to_enable: is_missing(status).then(|| mechanism.how_to_enable()),
        };
        Self {
            level: Level::of(report),
            namespaces_made_by: report.namespaces_made_by(),
            memory_held_by: report.memory_held_by(),
            refused: None,
            mechanisms: report.iter().map(finding).collect(),
            interpreters: Vec::new(),
            container_engine: None,
            browser: None,
            agents: Vec::new(),
        }
    }

    /// Where nothing would be started.
    fn none(refused: String) -> Self {
        Self {
            level: Level::None,
            namespaces_made_by: None,
            memory_held_by: None,
            refused: Some(refused),
            mechanisms: Vec::new(),
            interpreters: Vec::new(),
            container_engine: None,
            browser: None,
            agents: Vec::new(),
        }
    }
}

impl Level {
    fn of(report: &ConfinementReport) -> Self {
        let is_there = |mechanism| !matches!(report.status(mechanism), Status::Unavailable { .. });
        let others = [Mechanism::NetworkNamespace, Mechanism::Landlock, Mechanism::Seccomp];
        match (is_there(Mechanism::Namespaces), others.into_iter().all(is_there)) {
            (true, true) => Self::Full,
            (true, false) => Self::Reduced,
            (false, _) => Self::Landlock,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Full => "full: namespaces, Landlock and a filter of system calls",
            Self::Reduced => "reduced: namespaces, and not all of the rest",
            Self::Landlock => {
                "Landlock: files and the network are closed; processes and modes of files are not"
            }
            Self::None => "none",
        }
    }
}

fn show(findings: &Findings<'_>, is_json: bool) -> Result<(), Failure> {
    if is_json {
        return out::json_line(findings);
    }
    let level = row("level", findings.level.in_words());
    let holder = findings.memory_held_by.map(|holder| row("memory is held by", held_by(holder)));
    let mechanisms =
        findings.mechanisms.iter().map(|finding| line(finding, findings.namespaces_made_by));
    let interpreters = findings.interpreters.iter().map(|one| row(one.program(), &one.in_words()));
    let agents = findings.agents.iter().map(|one| {
        let (said, how) = one.in_words();
        row(&one.label(), &said) + &how.map(|how| row("", &how)).unwrap_or_default()
    });
    let engine = findings.container_engine.iter().flat_map(Engine::in_words).enumerate();
    let engine = engine.map(|(at, line)| {
        row(if at == 0 { "container engine" } else { "" }, &printable::one_line(&line))
    });
    let browser = findings.browser.iter().map(|browser| row("chromium", &browser.in_words()));
    let rows = [level].into_iter().chain(mechanisms).chain(holder).chain(interpreters);
    out::text_out(&rows.chain(engine).chain(browser).chain(agents).collect::<String>())
}

fn row(name: &str, said: &str) -> String {
    format!("{name:22}  {said}\n")
}

fn is_missing(status: &Status) -> bool {
    matches!(status, Status::Unavailable { .. } | Status::Partial { .. })
}

fn line(finding: &Finding<'_>, maker: Option<NamespaceMaker>) -> String {
    let by_bwrap =
        (finding.mechanism, maker) == (Mechanism::Namespaces, Some(NamespaceMaker::Bubblewrap));
    let said = match finding.status {
        Status::Enforced if by_bwrap => "available, made by bwrap".to_owned(),
        Status::Enforced => "available".to_owned(),
        Status::Partial { missing } => format!("in part: {missing}"),
        Status::Unavailable { why } => format!("not available: {why}"),
        Status::NotRequested => "available, not used by default".to_owned(),
        _ => "unknown".to_owned(),
    };
    let remedy = finding.how_to_enable.map(|how| row("", &format!("to enable: {how}")));
    row(&finding.mechanism.to_string(), &said) + &remedy.unwrap_or_default()
}

fn held_by(holder: MemoryHolder) -> &'static str {
    match holder {
        MemoryHolder::ControlGroupV2 => "a control group of version 2",
        MemoryHolder::ControlGroupV1 => "a control group of version 1",
        MemoryHolder::ResourceLimit => "a limit on each process alone",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(off: &[Mechanism]) -> ConfinementReport {
        let asked = Confinement::builder(SMALL).read_only_workdir();
        let asked = off.iter().copied().fold(asked, Confinement::without);
        asked.prepare().unwrap().report().clone()
    }

    #[test]
    fn the_level_says_what_is_left() {
        assert_eq!(Level::of(&report(&[Mechanism::Namespaces])), Level::Landlock);
        // What a machine without namespaces has is the level before.
        if Level::of(&report(&[])) == Level::Full {
            assert_eq!(Level::of(&report(&[Mechanism::Landlock])), Level::Reduced);
        }
    }

    #[test]
    fn what_is_missing_has_its_remedy_on_the_next_line() {
        let report = report(&[Mechanism::Namespaces]);
        let findings = Findings::of(&report);
        let text = line(&findings.mechanisms[0], None);
        let [said, remedy] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(said.starts_with("namespaces  ") && said.ends_with("not available: switched off"));
        assert!(remedy.contains("to enable: sysctl -w"), "{remedy}");
    }
}
