//! For any list of rules and any call, the program decides what the list says.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::compile::compile;
use super::super::{Arch, ArgTest, Call, Errno, Profile, Rule, Verdict, When, rules};
use super::interpreter::{Data, check, run};
use super::oracle::{decide, satisfy};

fn arch() -> impl Strategy<Value = Arch> {
    prop_oneof![Just(Arch::X86_64), Just(Arch::Aarch64)]
}

fn profile() -> impl Strategy<Value = Profile> {
    any::<[bool; 4]>().prop_map(|[inet, unix, ipc, pids]| Profile { inet, unix, ipc, pids })
}

/// Numbers with few bits, few values or none of both, so that rules and calls meet.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..4u64,
        (0..4u64).prop_map(|high| high << 32),
        (0..64u32).prop_map(|bit| 1 << bit),
        Just(u64::from(u32::MAX)),
        Just(u64::MAX),
        any::<u64>(),
    ]
}

fn arg_test() -> impl Strategy<Value = ArgTest> {
    let equals = (0..6u8, word(), word()).prop_map(|(arg, mask, value)| ArgTest::Equals {
        arg,
        mask,
        value: value & mask,
    });
    let has_any = (0..6u8, word().prop_filter("a bit", |bits| *bits != 0))
        .prop_map(|(arg, bits)| ArgTest::HasAny { arg, bits });
    prop_oneof![equals, has_any]
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        Just(Verdict::Allow),
        Just(Verdict::Kill),
        Just(Verdict::Refuse(Errno::Perm)),
        Just(Verdict::Refuse(Errno::NoSys)),
        Just(Verdict::Refuse(Errno::Access)),
    ]
}

/// The rules of one call: some with tests, then maybe one without. The tests are drawn from a few,
/// so that rules share some of them.
fn rules_of_one_call(number: u32) -> impl Strategy<Value = Vec<Rule>> {
    let call = Call { name: "any", x86_64: Some(number), aarch64: Some(number) };
    let rule = move |tests: Vec<ArgTest>, verdict| Rule {
        call,
        tests: Vec::leak(tests),
        when: When::Always,
        verdict,
        reason: "",
    };
    let picks = || vec(any::<prop::sample::Index>(), 1..4);
    let tested = (vec(arg_test(), 1..5), vec((picks(), verdict()), 0..8));
    let last = proptest::option::of(verdict());
    (tested, last).prop_map(move |((pool, drawn), last)| {
        let tests = |picks: Vec<prop::sample::Index>| picks.iter().map(|i| *i.get(&pool)).collect();
        let mut all: Vec<Rule> = drawn.into_iter().map(|(p, v)| rule(tests(p), v)).collect();
        all.extend(last.map(|verdict| rule(Vec::new(), verdict)));
        all
    })
}

fn list(calls: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Rule>> {
    proptest::collection::btree_set(0..=Arch::NEWEST, calls)
        .prop_flat_map(|numbers| numbers.into_iter().map(rules_of_one_call).collect::<Vec<_>>())
        .prop_map(|of_calls| of_calls.concat())
}

/// A call that is near to a rule: at its number or beside it, with arguments that match or nearly.
fn near(rule: &Rule, arch: Arch, args: [u64; 6], beside: u32, flip: (usize, u64)) -> Data {
    let mut args = satisfy(rule.tests, args);
    args[flip.0] ^= flip.1;
    let number = rule.call.number(arch).unwrap_or(0).wrapping_add(beside).wrapping_sub(1);
    Data { number, arch: arch.audit(), args }
}

proptest! {
    #[test]
    fn any_list_decides_as_it_reads(
        list in list(1..40),
        arch in arch(),
        picks in vec((any::<prop::sample::Index>(), any::<[u64; 6]>(), 0..3u32, 0..6usize, word()), 40),
    ) {
        prop_assume!(!list.is_empty());
        let program = compile(&list, arch, Profile::NAMESPACES).expect("the list is sound");
        check(&program);
        for (index, args, beside, arg, bits) in picks {
            let bits = if beside == 2 { 0 } else { bits };
            let data = near(index.get(&list), arch, args, beside, (arg, bits));
            let expected = decide(&list, arch, Profile::NAMESPACES, &data);
            prop_assert_eq!(run(&program, &data).code, expected.code(), "{:?}", data);
        }
    }

    #[test]
    fn the_real_list_decides_as_it_reads(
        arch in arch(),
        profile in profile(),
        picks in vec((any::<prop::sample::Index>(), any::<[u64; 6]>(), 0..3u32, 0..6usize, word()), 60),
    ) {
        let all: Vec<Rule> = rules().copied().collect();
        let program = compile(&all, arch, profile).expect("the list is sound");
        for (index, args, beside, arg, bits) in picks {
            let data = near(index.get(&all), arch, args, beside, (arg, bits));
            let expected = decide(&all, arch, profile, &data);
            prop_assert_eq!(run(&program, &data).code, expected.code(), "{:?}", data);
        }
    }

    #[test]
    fn any_call_at_all_is_decided_as_the_list_reads(
        arch in arch(),
        profile in profile(),
        entry in prop_oneof![Just(0xc000_003e), Just(0xc000_00b7), Just(0x4000_0003), any::<u32>()],
        number in prop_oneof![0..600u32, any::<u32>(), (0..600u32).prop_map(|n| n | 1 << 30)],
        args in [word(), word(), word(), word(), word(), word()],
    ) {
        let program = compile(rules(), arch, profile).expect("the list is sound");
        let data = Data { number, arch: entry, args };
        let expected = decide(rules(), arch, profile, &data);
        prop_assert_eq!(run(&program, &data).code, expected.code());
    }
}
