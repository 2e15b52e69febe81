//! A driver in a container: its pipes, its end, and power over it.
//!
//! Where the supervisor can't be given pipes of this machine, what a driver writes comes over the
//! stream in order, and is written into its pipes in that order: output before the word that may
//! follow from it, and everything before its end. A pipe that nobody empties holds up this driver alone.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe::{Receiver, Sender},
    runtime::Handle,
    sync::{mpsc, watch},
};
use tool_core::{BoxFuture, ExitStatus};

use super::{
    frames::{Channel, Frame},
    meeting::Shared,
    wire::{GONE, Loss, Wire},
};
use crate::{Channels, DriverProcess};

/// How many bytes a supervisor may send for a driver before they were taken.
const WINDOW: usize = 1 << 20;
/// After how many taken bytes it is told so.
const TAKEN: usize = WINDOW / 4;
/// How long the news of an end waits for output that nobody takes.
const LAST_WORDS: Duration = Duration::from_millis(500);
const CHUNK: usize = 64 << 10;

/// How a driver ended, as the supervisor tells it.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Told {
    code: Option<i32>,
    signal: Option<i32>,
    #[serde(default)]
    memory: bool,
}

impl Told {
    pub(super) fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    fn status(self) -> ExitStatus {
        match (self.code, self.signal) {
            (Some(code), _) => ExitStatus::Code(code),
            (None, Some(signal)) => ExitStatus::Signal(signal),
            (None, None) => GONE,
        }
    }
}

/// The host's knowledge of a driver, for whoever reads the stream.
#[derive(Debug)]
pub(super) struct DriverEnd {
    tell: watch::Sender<Option<ExitStatus>>,
    limit: Arc<OnceLock<String>>,
    /// Where its output comes over the stream.
    output: Option<(mpsc::UnboundedSender<Item>, Arc<AtomicUsize>)>,
}

#[derive(Debug)]
enum Item {
    Wrote(Channel, Vec<u8>),
    Ended,
}

impl DriverEnd {
    /// Takes what it wrote; says whether that is no more than it may.
    pub(super) fn wrote(&self, channel: Channel, bytes: Vec<u8>) -> bool {
        let Some((output, queued)) = &self.output else { return true };
        let held = queued.fetch_add(bytes.len(), Ordering::Relaxed);
        // Nobody may read any more.
        let _ = output.send(Item::Wrote(channel, bytes));
        held <= WINDOW + CHUNK
    }

    pub(super) fn ended(self, told: Told, handle: &Handle) {
        if told.memory {
            self.limit.get_or_init(|| "memory".to_owned());
        }
        self.over(told.status(), handle);
    }

    pub(super) fn lost(self, loss: &Loss, handle: &Handle) {
        if let Some(limit) = loss.limit {
            self.limit.get_or_init(|| limit.to_owned());
        }
        self.over(GONE, handle);
    }

    /// Tells the end, once what was written before it is in the pipes.
    fn over(self, status: ExitStatus, handle: &Handle) {
        let Some((output, _)) = self.output.filter(|(output, _)| output.send(Item::Ended).is_ok())
        else {
            self.tell.send_replace(Some(status));
            return;
        };
        handle.spawn(async move {
            let _either = tokio::time::timeout(LAST_WORDS, output.closed()).await;
            self.tell.send_replace(Some(status));
        });
    }
}

/// Power over a driver.
#[derive(Debug)]
pub(super) struct ContainedDriver {
    wire: Arc<Wire>,
    /// The way to it that is not the engine's.
    shared: Option<Arc<Shared>>,
    number: u32,
    told: watch::Receiver<Option<ExitStatus>>,
}

impl ContainedDriver {
    fn signal(&self, kind: u8) {
        let frame = Frame::new(kind, self.number, b"");
        let said = self.shared.as_ref().is_some_and(|shared| shared.say(&frame, &[]).is_ok());
        if !said {
            self.wire.post(frame);
        }
    }
}

impl DriverProcess for ContainedDriver {
    fn interrupt(&mut self) {
        self.signal(b'N');
    }

    fn kill(&mut self) {
        self.signal(b'K');
    }

    fn ended(&mut self) -> BoxFuture<'_, ExitStatus> {
        Box::pin(async {
            let told = self.told.wait_for(Option::is_some).await;
            told.ok().and_then(|status| *status).unwrap_or(GONE)
        })
    }
}

impl Drop for ContainedDriver {
    fn drop(&mut self) {
        if self.told.borrow().is_none() {
            self.kill();
        }
    }
}

/// A driver that was started: its channels, power over it, and the limit that ends it.
pub(super) type Begun = (Channels, ContainedDriver, Arc<OnceLock<String>>);

/// Starts a driver, by its program's name and arguments.
pub(super) fn start(
    wire: &Arc<Wire>,
    shared: Option<&Arc<Shared>>,
    argv: &[String],
) -> io::Result<Begun> {
    let (driver_in, control_in) = pipe()?;
    let (control_out, driver_out) = pipe()?;
    let (stdout, driver_stdout) = pipe()?;
    let (stderr, driver_stderr) = pipe()?;
    let number = wire.number();
    let (tell, told) = watch::channel(None);
    let limit = Arc::new(OnceLock::new());
    let request = serde_json::json!({"argv": argv, "shared": shared.is_some()}).to_string();
    let begin = Frame::new(b'S', number, request.as_bytes());
    let mut end = DriverEnd { tell, limit: Arc::clone(&limit), output: None };
    match shared {
        Some(shared) => {
            wire.add_driver(number, end);
            let pipes = [&driver_in, &driver_out, &driver_stdout, &driver_stderr];
            shared.say(&begin, &pipes.map(|pipe| pipe.as_fd()))?;
        }
        None => {
            let (output, items) = mpsc::unbounded_channel();
            let queued = Arc::new(AtomicUsize::new(0));
            end.output = Some((output, Arc::clone(&queued)));
            wire.add_driver(number, end);
            wire.post(begin);
            let pipes = [driver_out, driver_stdout, driver_stderr];
            let (out, input) = (Arc::clone(wire), Arc::clone(wire));
            wire.handle().spawn(write_out(out, number, items, queued, pipes));
            wire.handle().spawn(read_in(input, number, driver_in));
        }
    }
    let channels = Channels { control_in, control_out, stdout, stderr };
    let process = ContainedDriver { wire: Arc::clone(wire), shared: shared.cloned(), number, told };
    Ok((channels, process, limit))
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// Writes what comes over the stream into the pipes, until the driver has ended.
async fn write_out(
    wire: Arc<Wire>,
    number: u32,
    mut items: mpsc::UnboundedReceiver<Item>,
    queued: Arc<AtomicUsize>,
    pipes: [OwnedFd; 3],
) {
    let mut pipes = pipes.map(|pipe| open(&pipe).and_then(|()| Sender::from_owned_fd(pipe)).ok());
    let mut taken = 0;
    while let Some(Item::Wrote(channel, bytes)) = items.recv().await {
        let pipe = &mut pipes[channel as usize];
        match pipe {
            Some(writer) if !bytes.is_empty() => {
                if writer.write_all(&bytes).await.is_err() {
                    *pipe = None;
                }
            }
            _ => *pipe = None,
        }
        queued.fetch_sub(bytes.len(), Ordering::Relaxed);
        taken += bytes.len();
        if taken >= TAKEN {
            let count = u32::try_from(std::mem::take(&mut taken)).unwrap_or(u32::MAX);
            wire.send(Frame::new(b'A', number, &count.to_be_bytes())).await;
        }
    }
}

/// Sends what is written for a driver, until nobody writes any more.
async fn read_in(wire: Arc<Wire>, number: u32, pipe: OwnedFd) {
    let Ok(mut pipe) = open(&pipe).and_then(|()| Receiver::from_owned_fd(pipe)) else { return };
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = tokio::select! {
            read = pipe.read(&mut chunk) => read,
            () = wire.lost() => return,
        };
        match read {
            Ok(count) if count > 0 => {
                wire.send(Frame::new(b'I', number, chunk.get(..count).unwrap_or_default())).await;
            }
            _ => return,
        }
    }
}

fn open(pipe: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(pipe, true)?)
}
