//! The terminal on standard error, which several parts write to at once: spinners, lines that stay, logs,
//! and a question to a person.
//!
//! Lines are written above the spinners. While a person is asked nothing is drawn; lines that come
//! meanwhile are shown after the answer. Where standard error is no terminal, lines are written as they
//! are, and nothing is ever drawn. A standard error that can't be written to is nobody's problem.

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indicatif::{
    MultiProgress, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle, WeakProgressBar,
};

const TICK: Duration = Duration::from_millis(100);

/// The one owner of what stands on standard error. Clones are the same screen.
#[derive(Clone, Default)]
pub(crate) struct Screen {
    bars: MultiProgress,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    spinners: Vec<WeakProgressBar>,
    /// What is to be written after the answer; `None` where nobody is asked.
    held: Option<Vec<u8>>,
}

impl Screen {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change to it is one assignment, so it is whole also after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A spinner with a message and the time since it began; dropping its last handle takes it away.
    pub(crate) fn spinner(&self, message: String) -> ProgressBar {
        let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}");
        let bar = ProgressBar::new_spinner()
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
            .with_finish(ProgressFinish::AndClear);
        let bar = self.bars.add(bar);
        bar.set_message(message);
        bar.enable_steady_tick(TICK);
        let mut state = self.state();
        state.spinners.retain(|spinner| spinner.upgrade().is_some());
        state.spinners.push(bar.downgrade());
        bar
    }

    /// A line for people.
    pub(crate) fn say(&self, text: &str) {
        self.put(format!("{text}\n").as_bytes());
    }

    /// A line that can't wait for a person's answer.
    pub(crate) fn say_now(&self, text: &str) {
        if self.state().held.is_none() {
            return self.say(text);
        }
        let _ = writeln!(io::stderr(), "\n{text}");
    }

    fn put(&self, bytes: &[u8]) {
        if let Some(held) = &mut self.state().held {
            held.extend_from_slice(bytes);
            return;
        }
        let _ = self.bars.suspend(|| io::stderr().write_all(bytes));
    }

    /// Takes everything off the screen, until what it gives back is dropped.
    pub(crate) fn pause(&self) -> Paused {
        let spinners = {
            let mut state = self.state();
            state.held.get_or_insert_default();
            state.spinners.clone()
        };
        // A tick after the clearing would leave a line behind.
        spinners.iter().filter_map(WeakProgressBar::upgrade).for_each(|bar| {
            bar.disable_steady_tick();
        });
        let _ = self.bars.clear();
        self.bars.set_draw_target(ProgressDrawTarget::hidden());
        Paused { screen: self.clone() }
    }

    fn resume(&self) {
        self.bars.set_draw_target(ProgressDrawTarget::stderr());
        let (held, spinners) = {
            let mut state = self.state();
            (state.held.take(), state.spinners.clone())
        };
        self.put(&held.unwrap_or_default());
        spinners.iter().filter_map(WeakProgressBar::upgrade).for_each(|bar| {
            if !bar.is_finished() {
                bar.enable_steady_tick(TICK);
            }
        });
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Screen")
    }
}

/// Logs are written above the spinners too.
impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A screen with nothing on it. Dropping it shows everything again.
#[derive(Debug)]
pub(crate) struct Paused {
    screen: Screen,
}

impl Drop for Paused {
    fn drop(&mut self) {
        self.screen.resume();
    }
}
