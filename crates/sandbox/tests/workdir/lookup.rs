//! `lookup` as a registry sees it.

use std::collections::BTreeMap;

use sandbox::StaticLookup;
use serde_json::json;
use tool_core::{ErrorKind, Tool};

use crate::bench::{Bench, admitted};

fn table() -> BTreeMap<String, serde_json::Value> {
    [("alpha", json!("first")), ("beta", json!([1, 2]))].map(|(k, v)| (k.to_owned(), v)).into()
}

#[tokio::test]
async fn a_key_gives_its_value_and_a_missing_one_an_error_with_what_is_near() {
    let lookup = StaticLookup::new("lookup", table()).unwrap();
    let run =
        async |args| lookup.execute(admitted(lookup.spec(), args)?, Bench::new().context()).await;
    assert_eq!(run(json!({"key": "alpha"})).await, Ok(tool_core::ToolOutput::text("first")));
    assert_eq!(run(json!({"key": "beta"})).await, Ok(tool_core::ToolOutput::json(json!([1, 2]))));
    let error = run(json!({"key": "Alpha"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ExecutionFailed);
    insta::assert_snapshot!(error.for_model(), @r#"The tool failed: the table has no key "Alpha"; keys are exact, and near ones are "alpha""#);
    for bad in [json!({}), json!({"key": 1}), json!({"key": "alpha", "other": 1})] {
        assert_eq!(run(bad).await.unwrap_err().kind(), ErrorKind::InvalidArguments);
    }
}

#[test]
fn it_may_have_another_name() {
    assert_eq!(StaticLookup::new("lookup", table()).unwrap().name().as_str(), "lookup");
    assert_eq!(StaticLookup::new("glossary", table()).unwrap().name().as_str(), "glossary");
    assert!(StaticLookup::new("no name", table()).is_err());
    let lookup =
        StaticLookup::new("lookup", table()).unwrap().with_description("Explains Greek letters.");
    assert_eq!(lookup.spec().description(), "Explains Greek letters.");
}
