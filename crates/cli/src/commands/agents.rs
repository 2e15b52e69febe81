//! `remit agents`: what is known of sub-agents, for a person who looks, and their end.
//!
//! It reads the state folder that hosts write; an agent of another process is ended by asking its host.

use std::{
    io,
    process::ExitCode,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use spawner::{AgentLog, AgentRecord, Output, OutputPiece, without_ansi};

use crate::{
    args::{AgentsArgs, AgentsCommand, ListArgs, OneArgs, PlaceArgs, SettingsArgs},
    env,
    failure::Failure,
    out, printable,
    settings::Layers,
};

/// How much of a task the table shows, in bytes.
const MAX_TASK: usize = 60;
/// How often it is looked for more.
const PERIOD: Duration = Duration::from_millis(100);
/// How long a host may take to end an agent, beside the agent's grace.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much is read at once.
const CHUNK: usize = 1 << 20;

pub(super) fn run(args: &AgentsArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        None => list(&args.list),
        Some(AgentsCommand::List(args)) => list(args),
        Some(AgentsCommand::Show(args)) => show(args),
        Some(AgentsCommand::Tail { follow, one }) => tail(one, *follow),
        Some(AgentsCommand::Kill(args)) => kill(args),
    }
}

/// The state folder that the settings name.
fn log(place: &PlaceArgs) -> Result<(AgentLog, Duration), Failure> {
    let settings = SettingsArgs { config: place.config.clone(), ..SettingsArgs::default() };
    let settings = Layers::read(&settings, &Default::default())?.finish()?;
    let section = &settings.config().subagent;
    let folder = section.state_dir.clone().or_else(env::agents_folder).ok_or_else(|| {
        Failure::Operator("there is no state folder: set subagent.state_dir, or HOME".to_owned())
    })?;
    Ok((AgentLog::new(folder), Duration::from_millis(section.grace_ms)))
}

fn records(log: &AgentLog) -> Result<Vec<AgentRecord>, Failure> {
    log.list().map_err(|error| Failure::Broken(format!("the agents can't be read: {error}")))
}

fn list(args: &ListArgs) -> Result<ExitCode, Failure> {
    let records = records(&log(&args.place)?.0)?;
    if args.json || !out::is_terminal_out() {
        records.iter().try_for_each(out::json_line)?;
    } else if records.is_empty() {
        out::note("remit: no agent is known");
    } else {
        out::text_out(&table(&records))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(records: &[AgentRecord]) -> String {
    let widest = |text: &dyn Fn(&AgentRecord) -> usize| records.iter().map(text).max().unwrap_or(0);
    let provider = widest(&|record| record.provider.chars().count()).max(8);
    let head = format!(
        "{:26}  {:10}  {:provider$}  {:>6}  {:>9}  TASK\n",
        "ID", "STATE", "PROVIDER", "TIME", "BYTES"
    );
    let row = |record: &AgentRecord| {
        let ended = record.ended_ms.unwrap_or_else(now_ms);
        let secs = ended.saturating_sub(record.started_ms) / 1000;
        let bytes = record.stdout_bytes.saturating_add(record.stderr_bytes);
        let task = printable::clipped(&record.task, MAX_TASK);
        let name = printable::one_line(&record.provider);
        let (id, state) = (record.id, record.state);
        format!("{id:26}  {state:10}  {name:provider$}  {secs:>5}s  {bytes:>9}  {task}\n")
    };
    head + &records.iter().map(row).collect::<String>()
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The one agent that a text names.
fn find(log: &AgentLog, text: &str) -> Result<AgentRecord, Failure> {
    let (records, text) = (records(log)?, text.to_ascii_uppercase());
    let is_meant = |record: &AgentRecord| {
        let id = record.id.to_string();
        id.starts_with(&text) || id.ends_with(&text)
    };
    let mut found = records.into_iter().filter(is_meant);
    let mistake = |text: String| Err(Failure::Operator(text));
    match (found.next(), found.next()) {
        _ if text.is_empty() => mistake("name an agent; remit agents lists them".to_owned()),
        (None, _) => mistake(format!("no agent is named {text:?}; remit agents lists them")),
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            mistake(format!("{text:?} names more than one agent; give more of it"))
        }
    }
}

fn show(args: &OneArgs) -> Result<ExitCode, Failure> {
    let record = find(&log(&args.place)?.0, &args.id)?;
    if !out::is_terminal_out() {
        out::json_line(&record)?;
        return Ok(ExitCode::SUCCESS);
    }
    let value = serde_json::to_value(&record).unwrap_or_default();
    let all = value.as_object().into_iter().flatten();
    let line = |(name, value): (&String, &serde_json::Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name:14}  {}\n", printable::one_line(&value))
    };
    out::text_out(&all.map(line).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

fn tail(args: &OneArgs, is_followed: bool) -> Result<ExitCode, Failure> {
    let log = log(&args.place)?.0;
    let id = find(&log, &args.id)?.id;
    let (path, mut at) = (log.output_file(id), 0);
    loop {
        // Before the file is read: what it writes after that is seen in the next round.
        let is_over = !find(&log, &id.to_string())?.state.is_live();
        loop {
            let output = match Output::read(&path, at, CHUNK) {
                Ok(output) => output,
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(Failure::Broken(format!("{}: {error}", path.display()))),
            };
            print(&output)?;
            if output.next == at {
                break;
            }
            at = output.next;
        }
        if is_over || !is_followed {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(PERIOD);
    }
}

/// As it was written; for a terminal without what could repaint it.
fn print(output: &Output) -> Result<(), Failure> {
    for piece in &output.pieces {
        match piece {
            OutputPiece::Bytes { bytes, .. } if out::is_terminal_out() => {
                let text = without_ansi(&String::from_utf8_lossy(bytes));
                out::text_out(&printable::lines(&text))?;
            }
            OutputPiece::Bytes { bytes, .. } => out::bytes_out(bytes)?,
            OutputPiece::Omitted { bytes } => {
                out::note(&format!("remit: {bytes} bytes were left out here"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn kill(args: &OneArgs) -> Result<ExitCode, Failure> {
    let (log, grace) = log(&args.place)?;
    let mut record = find(&log, &args.id)?;
    let id = record.id;
    if record.state.is_live() {
        log.request_end(id)
            .map_err(|error| Failure::Broken(format!("its host can't be asked: {error}")))?;
    }
    let deadline = Instant::now() + grace + PATIENCE;
    while record.state.is_live() {
        if Instant::now() > deadline {
            return Err(Failure::Broken(format!(
                "agent {id} has not ended; its host was asked to"
            )));
        }
        std::thread::sleep(PERIOD);
        record = find(&log, &id.to_string())?;
    }
    out::note(&format!("remit: agent {id}: {}", record.state));
    Ok(ExitCode::SUCCESS)
}
