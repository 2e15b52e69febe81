//! A working directory with an outside beside it, and calls on it that pass a real gate.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use sandbox::{
    ListDirInWorkdir, ReadFileInWorkdir, Resolution, SearchInWorkdir, ToolExecutor, Workdir,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tool_core::{
    AuthorizationScope, ByteCount, CallId, Circumstances, Content, ExecContext, Gate, Limits,
    Timeout, ToolCall, ToolError, ToolOutput, ToolRegistry, ToolSpec, ValidatedArgs,
};

/// What the files outside hold, and no result may.
pub(crate) const SECRET: &str = "outside-secret-5d1f";

/// Both ways of looking paths up.
pub(crate) const BOTH: [Resolution; 2] = [Resolution::Kernel, Resolution::Steps];

/// `workdir`, and beside it `outside` with a file `secret.txt`, and the prefix twin `workdir-evil`.
pub(crate) struct Bench {
    temp: TempDir,
    pub(crate) read: ReadFileInWorkdir,
    pub(crate) list: ListDirInWorkdir,
    pub(crate) search: SearchInWorkdir,
    pub(crate) limits: Limits,
    pub(crate) cancellation: CancellationToken,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Resolution::Kernel)
    }

    pub(crate) fn with(by: Resolution) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for dir in ["workdir", "outside", "workdir-evil"] {
            fs::create_dir(temp.path().join(dir)).unwrap();
        }
        for dir in ["outside", "workdir-evil"] {
            fs::write(temp.path().join(dir).join("secret.txt"), SECRET).unwrap();
        }
        let workdir = Arc::new(Workdir::open_with(temp.path().join("workdir"), by).unwrap());
        Self {
            temp,
            read: ReadFileInWorkdir::new(Arc::clone(&workdir)).unwrap(),
            list: ListDirInWorkdir::new(Arc::clone(&workdir)).unwrap(),
            search: SearchInWorkdir::new(workdir).unwrap(),
            limits: Limits::default(),
            cancellation: CancellationToken::new(),
        }
    }

    pub(crate) fn with_max_output(mut self, bytes: u64) -> Self {
        self.limits = self.limits.with_max_output(ByteCount(bytes)).unwrap();
        self
    }

    /// Where a path in the working directory lies.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.temp.path().join("workdir").join(path)
    }

    /// Where a path beside the working directory lies.
    pub(crate) fn beside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.temp.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, path: &str) {
        symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn context(&self) -> ExecContext {
        let timeout =
            Timeout { after: Duration::from_secs(60), ..self.limits.timeout_for(None, None) };
        let circumstances = Circumstances {
            limits: self.limits,
            cancellation: self.cancellation.clone(),
            scope: Arc::new(AuthorizationScope::empty()),
            progress: None,
        };
        ExecContext::new(CallId::new("c"), Instant::now(), timeout, Arc::new(circumstances))
    }

    pub(crate) fn run(&self, executor: &dyn ToolExecutor, spec: &ToolSpec, args: Value) -> Outcome {
        executor.execute(&admitted(spec, args)?, &self.context())
    }

    pub(crate) fn read(&self, args: Value) -> Outcome {
        self.run(&self.read, self.read.spec(), args)
    }

    pub(crate) fn list(&self, args: Value) -> Outcome {
        self.run(&self.list, self.list.spec(), args)
    }

    pub(crate) fn search(&self, args: Value) -> Outcome {
        self.run(&self.search, self.search.spec(), args)
    }

    /// How many descriptors of this process point into this bench.
    pub(crate) fn open_descriptors(&self) -> usize {
        fs::read_dir("/proc/self/fd")
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
            .filter(|target| target.starts_with(self.temp.path()))
            .count()
    }
}

pub(crate) type Outcome = Result<ToolOutput, ToolError>;

/// Arguments that passed the gate of `spec`.
pub(crate) fn admitted(spec: &ToolSpec, args: Value) -> Result<ValidatedArgs, ToolError> {
    let mut registry = ToolRegistry::new();
    registry.declare(spec.clone()).unwrap();
    let scope = registry.scope([spec.name()]).unwrap();
    let gate = Gate::new(Arc::new(registry), scope, Limits::default());
    gate.admit(&ToolCall::from_json("c", spec.name().as_str(), args))
        .map(|call| call.args().clone())
}

/// The one text of an output.
pub(crate) fn text(output: &ToolOutput) -> &str {
    match output.content.as_slice() {
        [Content::Text { text }] => text,
        other => panic!("not one text: {other:?}"),
    }
}

/// The one JSON value of an output.
pub(crate) fn json(output: &ToolOutput) -> &Value {
    match output.content.as_slice() {
        [Content::Json { json }] => json,
        other => panic!("not one JSON value: {other:?}"),
    }
}

/// The text of an error, after checking that it tells nothing of the outside.
pub(crate) fn refusal(outcome: Outcome) -> String {
    let message = outcome.expect_err("this must be refused").for_model();
    assert!(!message.contains(SECRET), "{message}");
    message
}
