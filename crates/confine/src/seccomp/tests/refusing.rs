//! Lists that can't be meant are refused, each with its own error.

use super::super::compile::compile;
use super::super::{Arch, ArgTest, Call, Errno, FilterError, Profile, Rule};

const CALL: Call = Call { name: "any", x86_64: Some(7), aarch64: None };

fn always(call: Call) -> Rule {
    Rule::refuse(call, Errno::Perm, "")
}

fn given(call: Call, test: ArgTest) -> Rule {
    always(call).given(Vec::leak(vec![test]))
}

fn error(rules: &[Rule]) -> FilterError {
    compile(rules, Arch::X86_64, Profile::NAMESPACES).expect_err("the list is not sound")
}

#[test]
fn a_rule_behind_one_that_always_matches() {
    assert_eq!(error(&[always(CALL), always(CALL)]), FilterError::Unreachable { call: "any" });
    let tested = given(CALL, ArgTest::int(0, 1));
    assert_eq!(error(&[always(CALL), tested]), FilterError::Unreachable { call: "any" });
}

#[test]
fn a_test_that_never_holds() {
    for test in [ArgTest::bits(0, 1, 2), ArgTest::any(0, 0)] {
        let rule = given(CALL, test);
        assert_eq!(error(&[rule]), FilterError::NeverMatches { call: "any" });
    }
}

#[test]
fn an_argument_that_no_call_has() {
    let rule = given(CALL, ArgTest::int(6, 0));
    assert_eq!(error(&[rule]), FilterError::NoSuchArgument { call: "any", arg: 6 });
}

#[test]
fn a_number_that_was_not_reviewed() {
    let newer = Call { x86_64: Some(470), ..CALL };
    let expected = FilterError::NumberTooLarge { call: "any", number: 470, newest: 469 };
    assert_eq!(error(&[always(newer)]), expected);
}

#[test]
fn an_entry_for_another_architecture_is_left_out() {
    let here = compile(&[always(CALL)], Arch::X86_64, Profile::NAMESPACES).expect("sound");
    let there = compile(&[always(CALL)], Arch::Aarch64, Profile::NAMESPACES).expect("sound");
    let without = compile(&[], Arch::Aarch64, Profile::NAMESPACES).expect("sound");
    assert_ne!(here.len(), there.len());
    assert_eq!(there, without);
}
