//! Programs so large that jumps don't reach: the ways around still lead to the right place.

use super::super::assembler::Assembler;
use super::super::compile::compile;
use super::super::filter::op;
use super::super::{Arch, ArgTest, Call, Errno, FilterError, Profile, Rule, Verdict};
use super::interpreter::{Data, check, run};
use super::oracle::decide;

/// A list of one call with this many rules, each for one value of the first argument.
fn one_call(rules: u64) -> Vec<Rule> {
    let call = Call { name: "any", x86_64: Some(100), aarch64: Some(100) };
    let verdicts = [Verdict::Refuse(Errno::Perm), Verdict::Refuse(Errno::NoSys), Verdict::Kill];
    (0..rules)
        .zip(verdicts.into_iter().cycle())
        .map(|(value, verdict)| Rule {
            call,
            tests: Vec::leak(vec![ArgTest::long(0, value << 20)]),
            when: super::super::When::Always,
            verdict,
            reason: "",
        })
        .collect()
}

#[test]
fn long_chains_of_tests_reach_their_answers() {
    for size in [1, 60, 62, 63, 64, 65, 80, 120, 250, 900] {
        let list = one_call(size);
        let program = compile(&list, Arch::X86_64, Profile::NAMESPACES).expect("fits");
        check(&program);
        for value in 0..=size {
            for number in [99, 100, 101, 470] {
                let args = [value << 20, 0, 0, 0, 0, 0];
                let data = Data { number, arch: Arch::X86_64.audit(), args };
                let expected = decide(&list, Arch::X86_64, Profile::NAMESPACES, &data);
                assert_eq!(run(&program, &data).code, expected.code(), "{size} {data:?}");
            }
        }
    }
}

#[test]
fn a_rule_for_every_number_still_reaches() {
    let list: Vec<Rule> = (0..=Arch::NEWEST)
        .flat_map(|number| {
            let call = Call { name: "any", x86_64: Some(number), aarch64: Some(number) };
            one_call(1).into_iter().map(move |rule| Rule { call, ..rule })
        })
        .collect();
    let program = compile(&list, Arch::X86_64, Profile::NAMESPACES).expect("fits");
    check(&program);
    for number in 0..480 {
        for value in [0, 1 << 20, 1 << 21] {
            let args = [value, 0, 0, 0, 0, 0];
            let data = Data { number, arch: Arch::X86_64.audit(), args };
            let expected = decide(&list, Arch::X86_64, Profile::NAMESPACES, &data);
            assert_eq!(run(&program, &data).code, expected.code(), "{data:?}");
        }
    }
}

#[test]
fn a_program_longer_than_the_kernel_takes_is_refused() {
    let error = compile(&one_call(2000), Arch::X86_64, Profile::NAMESPACES);
    assert!(matches!(error, Err(FilterError::TooLong { max: 4096, .. })), "{error:?}");
}

/// A branch with both targets exactly at, and one beyond, what a jump can skip.
#[test]
fn the_limit_of_a_jump_is_exact() {
    for between in 245..265 {
        let mut assembler = Assembler::default();
        let far = assembler.verdict(Verdict::Kill);
        let also_far = assembler.load(0, far).expect("reaches");
        let mut near = also_far;
        for _ in 0..between {
            near = assembler.and(u32::MAX, near).expect("reaches");
        }
        let start = assembler.branch(op::IF_EQUAL, 7, also_far, far).expect("reaches");
        assembler.load(0, start).expect("reaches");
        let program = assembler.finish().expect("fits");
        check(&program);
        let steps = |number| {
            let data = Data { number, arch: 0, args: [0; 6] };
            let run = run(&program, &data);
            assert_eq!(run.code, Verdict::Kill.code(), "{between}");
            run.steps
        };
        assert!((4..=5).contains(&steps(7)), "{between}: more than one jump on the way");
        assert_eq!(steps(8), 3, "{between}: a return is at hand");
    }
}

#[test]
fn what_goes_straight_on_skips_what_stands_between() {
    for between in 0..4 {
        let mut assembler = Assembler::default();
        let next = assembler.verdict(Verdict::Allow);
        let verdicts = [Verdict::Kill, Verdict::Refuse(Errno::Perm), Verdict::Refuse(Errno::NoSys)];
        for verdict in verdicts.into_iter().take(between) {
            assembler.verdict(verdict);
        }
        assembler.load(0, next).expect("reaches");
        let program = assembler.finish().expect("fits");
        check(&program);
        let data = Data { number: 0, arch: 0, args: [0; 6] };
        assert_eq!(run(&program, &data).code, Verdict::Allow.code(), "{between} between");
    }
}
