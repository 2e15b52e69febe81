//! A client of the protocol with nothing in it.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};

use browser::engine::Program;
use confine::{Child, Command, Confinement, Limits, Stream};
use serde_json::{Value, json};

/// A browser with the page open.
pub(crate) struct Bare {
    _child: Child,
    to: PipeWriter,
    from: PipeReader,
    read: Vec<u8>,
    last: u64,
    session: String,
}

impl Bare {
    pub(crate) fn start(program: &Program) -> Self {
        let mut limits = Limits::default();
        (limits.processes, limits.open_files, limits.tmp_size) = (Some(1024), Some(4096), 1 << 30);
        let asked = Confinement::builder("/usr").read_only_workdir().limits(limits);
        let (theirs_in, to) = pipe().unwrap();
        let (from, theirs_out) = pipe().unwrap();
        let command = Command::new(program.path())
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--remote-debugging-pipe", "--user-data-dir=/tmp/p", "--hide-scrollbars"])
            .args([
                "--no-first-run",
                "--force-color-profile=srgb",
                "--window-size=1280,720",
                "about:blank",
            ])
            .directory("/tmp")
            .stdout(Stream::Null)
            .stderr(Stream::Null)
            .inherit(theirs_in.into())
            .inherit(theirs_out.into());
        let child = asked.prepare().unwrap().spawn(command).unwrap();
        let session = String::new();
        let mut bare = Self { _child: child, to, from, read: Vec::new(), last: 0, session };
        let targets = bare.call("Target.getTargets", json!({}));
        let page =
            targets["targetInfos"].as_array().unwrap().iter().find(|one| one["type"] == "page");
        let attach = json!({"targetId": page.unwrap()["targetId"], "flatten": true});
        let attached = bare.call("Target.attachToTarget", attach);
        attached["sessionId"].as_str().unwrap().clone_into(&mut bare.session);
        let size = json!({"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false});
        bare.call("Emulation.setDeviceMetricsOverride", size);
        let url = format!("data:text/html,{}", crate::HTML.replace('#', "%23").replace('\n', " "));
        bare.call("Page.navigate", json!({"url": url}));
        std::thread::sleep(std::time::Duration::from_secs(1));
        bare
    }

    /// The bytes of a screenshot in base64.
    pub(crate) fn screenshot(&mut self) -> usize {
        self.call("Page.captureScreenshot", json!({"format": "png"}))["data"]
            .as_str()
            .unwrap()
            .len()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut asked = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_empty() {
            asked["sessionId"] = self.session.as_str().into();
        }
        self.to.write_all(format!("{asked}\0").as_bytes()).unwrap();
        loop {
            let mut told: Value = serde_json::from_slice(&self.message()).unwrap();
            if told["id"] == self.last {
                return told["result"].take();
            }
        }
    }

    fn message(&mut self) -> Vec<u8> {
        let mut chunk = vec![0; 1 << 16];
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == 0) {
                let mut message: Vec<u8> = self.read.drain(..=end).collect();
                message.pop();
                return message;
            }
            let length = self.from.read(&mut chunk).unwrap();
            assert!(length > 0, "the browser has ended");
            self.read.extend_from_slice(&chunk[..length]);
        }
    }
}
