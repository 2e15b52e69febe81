//! A driver on a thread, and power over it as over a process.

use std::{collections::BTreeMap, io, io::Write, sync::Arc};

use rlm_backend::{DriverProcess, Language};
use serde_json::{Value, json};
use tokio::sync::watch;
use tool_core::{BoxFuture, ExitStatus};

use super::{
    Played, Scene, Script,
    files::FilesInMemory,
    played::Cue,
    wire::{Ends, Request},
};

/// The status of a driver whose host went away.
const LEFT_ALONE: i32 = 0;
const KILLED: i32 = 9;

/// The host's side of a played driver.
#[derive(Debug)]
pub(super) struct Driver {
    death: Death,
}

/// How a driver is ended from outside.
#[derive(Debug, Clone)]
pub(super) struct Death {
    cue: Arc<Cue>,
    end: watch::Sender<Option<ExitStatus>>,
}

impl Death {
    pub(super) fn come(&self) {
        self.end.send_modify(|end| {
            end.get_or_insert(ExitStatus::Signal(KILLED));
        });
        self.cue.give();
    }
}

impl Driver {
    pub(super) fn begin(
        language: Language,
        ends: Ends,
        script: Arc<Script>,
        files: FilesInMemory,
    ) -> io::Result<Self> {
        let (cue, (end, _)) = (Arc::new(Cue::default()), watch::channel(None));
        let role = Role { language, ends, script, files, cue: Arc::clone(&cue), end: end.clone() };
        std::thread::Builder::new().name("mock driver".to_owned()).spawn(move || role.play())?;
        Ok(Self { death: Death { cue, end } })
    }

    pub(super) fn death(&self) -> Death {
        self.death.clone()
    }
}

impl DriverProcess for Driver {
    fn interrupt(&mut self) {
        self.death.cue.give();
    }

    fn kill(&mut self) {
        self.death.come();
    }

    fn ended(&mut self) -> BoxFuture<'_, ExitStatus> {
        let mut end = self.death.end.subscribe();
        Box::pin(async move {
            let ended = end.wait_for(Option::is_some).await.ok().and_then(|status| *status);
            ended.unwrap_or(ExitStatus::Signal(KILLED))
        })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The driver's side.
struct Role {
    language: Language,
    ends: Ends,
    script: Arc<Script>,
    files: FilesInMemory,
    cue: Arc<Cue>,
    end: watch::Sender<Option<ExitStatus>>,
}

impl Role {
    fn play(mut self) {
        let status = self.follow().unwrap_or(LEFT_ALONE);
        self.end.send_modify(|end| {
            end.get_or_insert(ExitStatus::Code(status));
        });
    }

    /// Plays calls until the driver dies, or the host goes away, which is an error.
    fn follow(&mut self) -> io::Result<i32> {
        let mut variables: BTreeMap<String, Value> = BTreeMap::new();
        let mut earlier = 0;
        self.ends.meet(self.language)?;
        loop {
            match self.ends.next(self.language)? {
                Request::Run { id, code } => {
                    if let Some(status) = self.run(id, &code, earlier, &variables)? {
                        return Ok(status);
                    }
                    earlier += 1;
                }
                Request::Set { id, name, value } => {
                    variables.insert(name, value);
                    self.ends.say(json!({"event": "value", "id": id, "value": "null"}))?;
                }
                Request::Get { id, name } => {
                    let value = variables.get(&name).map(Value::to_string);
                    let error = value.is_none().then(|| format!("there is no variable {name}"));
                    let value = value.unwrap_or_else(|| "null".to_owned());
                    let event = json!({"event": "value", "id": id, "value": value, "error": error});
                    self.ends.say(event)?;
                }
                Request::Other => {}
            }
        }
    }

    /// Plays one call; gives the status where the driver dies in it.
    fn run(
        &mut self,
        id: u64,
        code: &str,
        earlier: usize,
        variables: &BTreeMap<String, Value>,
    ) -> io::Result<Option<i32>> {
        self.cue.take_back();
        let (language, cue, files) = (self.language, &*self.cue, &self.files);
        let stdout = &self.ends.stdout;
        let scene = Scene { language, code, earlier, variables, cue, files, stdout };
        let Played { stdout, stderr, value, exit_code, dies } = (self.script)(&scene);
        self.ends.stdout.write_all(stdout.as_bytes())?;
        self.ends.stderr.write_all(stderr.as_bytes())?;
        if dies.is_some() {
            return Ok(dies);
        }
        let shown: Vec<_> =
            value.into_iter().map(|text| json!({"type": "text", "text": text})).collect();
        self.ends.say(json!({
            "event": "done", "id": id, "exit_code": exit_code, "error": null, "shown": shown,
            "cwd": "/mock", "cwd_exists": true, "state": "kept",
        }))?;
        Ok(None)
    }
}
