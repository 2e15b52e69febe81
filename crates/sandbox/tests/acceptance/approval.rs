//! A person between the gate and the tool.

use std::sync::{Arc, Mutex};

use sandbox::{Approval, ApprovalRequest, Approver};
use tool_core::{BoxFuture, ErrorKind, ToolCall};

use crate::executors::{Bench, Ready};

/// Answers from a list, and notes what was asked.
#[derive(Debug, Default)]
struct Person {
    answers: Mutex<Vec<Approval>>,
    asked: Mutex<Vec<String>>,
}

impl Person {
    fn answering(answers: impl IntoIterator<Item = Approval>) -> Arc<Self> {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Approver for Person {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        let arguments = serde_json::to_string(request.args.as_object()).unwrap();
        self.asked.lock().unwrap().push(format!("{}({arguments})", request.capability));
        let answer = self.answers.lock().unwrap().pop().unwrap_or(Approval::Nobody);
        Box::pin(async move { answer })
    }
}

fn ready(person: &Arc<Person>) -> Ready {
    let mut ready = Bench::new().echo("write").echo("read").build(&["write", "read"]);
    let ask = tool_core::AuthorizationScope::new(["write"]).unwrap();
    let approver: Arc<dyn Approver> = Arc::clone(person) as _;
    ready.sandbox = ready.sandbox.with_approval(ask, approver);
    ready
}

async fn outcome(ready: &Ready, name: &str, arguments: &str) -> Option<ErrorKind> {
    let call = ToolCall::from_text("c", name, arguments);
    ready.sandbox.execute(call).await.unwrap().error_kind()
}

#[tokio::test]
async fn a_person_says_yes_no_or_yes_for_the_same() {
    let person = Person::answering([Approval::Yes, Approval::No, Approval::YesForTheSame]);
    let ready = ready(&person);
    assert_eq!(outcome(&ready, "read", "{}").await, None);
    assert_eq!(person.asked(), 0, "only what is on the list is asked for");

    assert_eq!(outcome(&ready, "write", r#"{"a": 1}"#).await, None);
    assert_eq!(outcome(&ready, "write", r#"{"a": 1}"#).await, Some(ErrorKind::Unauthorized));
    assert_eq!(outcome(&ready, "write", r#"{"a": 1, "b": 2}"#).await, None);
    assert_eq!(outcome(&ready, "write", r#"{"b": 2, "a": 1}"#).await, None);
    assert_eq!(person.asked(), 3, "the same call in another order of keys is the same");
    assert_eq!(outcome(&ready, "write", r#"{"b": 3}"#).await, Some(ErrorKind::Unauthorized));
    assert_eq!(person.asked.lock().unwrap()[2], r#"write({"a":1,"b":2})"#);
}

#[tokio::test]
async fn nobody_to_ask_is_a_no_at_once() {
    let person = Person::answering([]);
    let ready = ready(&person);
    let call = ToolCall::from_text("c", "write", "{}");
    let result = ready.sandbox.execute(call).await.unwrap();
    let error = result.outcome.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unauthorized);
    assert_eq!(error.details.unwrap()["reason"], "no_approver");
    assert_eq!(ready.entered(), 0);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_is_refused_anyway() {
    let person = Person::answering([Approval::Yes]);
    let ready = ready(&person);
    assert_eq!(outcome(&ready, "write", "[]").await, Some(ErrorKind::InvalidArguments));
    assert_eq!(outcome(&ready, "Write", "{}").await, Some(ErrorKind::UnknownTool));
    assert_eq!(person.asked(), 0);
}
