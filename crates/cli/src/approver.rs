//! Asking a person on the terminal.
//!
//! Only where one is there: standard input and standard error are the terminal, and this process is in
//! its foreground (a read from the background would stop the process, which is a hang). Everywhere
//! else the answer is "nobody", at once. What was typed before the question is no answer to it.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    sync::Arc,
};

use sandbox::{Approval, ApprovalRequest, Approver};
use tool_core::BoxFuture;

use crate::{printable::one_line, screen::Screen};

/// How much of the arguments is shown, in bytes.
const MAX_SHOWN: usize = 16 * 1024;

/// A person at the terminal. What is drawn there is hidden while they are asked.
#[derive(Debug, Clone)]
pub(crate) struct TerminalApprover {
    screen: Screen,
}

impl TerminalApprover {
    pub(crate) fn new(screen: Screen) -> Self {
        Self { screen }
    }

    /// Who is asked where there is nobody at the terminal.
    pub(crate) fn or(self, other: Option<Arc<dyn Approver>>) -> Arc<dyn Approver> {
        match other {
            None => Arc::new(self),
            Some(other) => Arc::new(Either { terminal: self, other }),
        }
    }
}

/// A person at the terminal, or else somebody else.
#[derive(Debug)]
struct Either {
    terminal: TerminalApprover,
    other: Arc<dyn Approver>,
}

impl Approver for Either {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        if is_person_there() { self.terminal.ask(request) } else { self.other.ask(request) }
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        if !is_person_there() {
            return Box::pin(async { Approval::Nobody });
        }
        let question = question(&request);
        let paused = self.screen.pause();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread of its own: nothing waits for it when the command is interrupted meanwhile.
        let asking = std::thread::Builder::new().name("approval".to_owned()).spawn(move || {
            let answer = ask_until_answered(&question);
            drop(paused);
            let _ = sender.send(answer);
        });
        Box::pin(async move {
            match asking {
                Ok(_) => receiver.await.unwrap_or(Approval::Nobody),
                Err(_) => Approval::Nobody,
            }
        })
    }
}

fn is_person_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal() && is_in_foreground()
}

#[cfg(target_os = "linux")]
fn is_in_foreground() -> bool {
    rustix::termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

#[cfg(not(target_os = "linux"))]
fn is_in_foreground() -> bool {
    true
}

#[cfg(target_os = "linux")]
fn forget_what_was_typed() {
    // Where that fails, the terminal still shows what it takes for an answer.
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

#[cfg(not(target_os = "linux"))]
fn forget_what_was_typed() {}

fn question(request: &ApprovalRequest<'_>) -> String {
    let arguments = serde_json::to_string(request.args.as_object()).unwrap_or_default();
    let shown = tool_core::clip(&arguments, MAX_SHOWN);
    let rest = match arguments.len() - shown.len() {
        0 => String::new(),
        bytes => format!(" … and {bytes} bytes more"),
    };
    format!(
        "The model asks for {}\n  {}{rest}\nAllow it? [y]es, [n]o, [a]lways for this same call: ",
        one_line(request.capability),
        one_line(shown),
    )
}

fn ask_until_answered(question: &str) -> Approval {
    forget_what_was_typed();
    loop {
        let mut err = io::stderr().lock();
        if write!(err, "{question}").and_then(|()| err.flush()).is_err() {
            return Approval::Nobody;
        }
        // Not held while a person thinks: an interrupt has something to say meanwhile.
        drop(err);
        let mut answer = String::new();
        match io::stdin().lock().read_line(&mut answer) {
            Ok(0) | Err(_) => return Approval::No,
            Ok(_) => {}
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Approval::Yes,
            "n" | "no" => return Approval::No,
            "a" | "always" => return Approval::YesForTheSame,
            _ => {}
        }
    }
}
