//! The real list: every entry by itself, the gaps between entries, what must not be refused, and
//! how much a call costs.

use super::super::call::{self, Call};
use super::super::{Arch, Errno, Filter, Profile, Rule, Verdict, rules};
use super::interpreter::{Data, check, longest_path, run};
use super::oracle::{decide, matches, satisfy};
use super::{ARCHES, profiles};

fn filter(arch: Arch, profile: Profile) -> Filter {
    Filter::compile(arch, profile).expect("the list compiles")
}

fn answer(filter: &Filter, arch: Arch, number: u32, args: [u64; 6]) -> u32 {
    run(filter.instructions(), &Data { number, arch: arch.audit(), args }).code
}

/// The answer on x86-64 with all namespaces.
fn ordinary(call: Call, args: [u64; 6]) -> u32 {
    let filter = filter(Arch::X86_64, Profile::NAMESPACES);
    answer(&filter, Arch::X86_64, call.number(Arch::X86_64).expect("a call of x86-64"), args)
}

#[test]
fn every_filter_is_one_that_the_kernel_takes() {
    for arch in ARCHES {
        for profile in profiles() {
            check(filter(arch, profile).instructions());
        }
    }
}

#[test]
fn every_entry_decides_the_calls_it_describes() {
    for arch in ARCHES {
        for profile in profiles() {
            let filter = filter(arch, profile);
            for rule in rules().filter(|rule| rule.when.holds(profile)) {
                let Some(number) = rule.call.number(arch) else { continue };
                for others in [0, u64::MAX, 0x5555_5555_5555_5555] {
                    let args = satisfy(rule.tests, [others; 6]);
                    let data = Data { number, arch: arch.audit(), args };
                    let expected = decide(rules(), arch, profile, &data);
                    let got = run(filter.instructions(), &data).code;
                    assert_eq!(got, expected.code(), "{} {args:x?}", rule.call.name());
                }
            }
        }
    }
}

#[test]
fn every_entry_can_be_the_one_that_decides() {
    for rule in rules() {
        let decides = |arch: Arch, profile, others| {
            let Some(number) = rule.call.number(arch) else { return false };
            let args = satisfy(rule.tests, [others; 6]);
            let data = Data { number, arch: arch.audit(), args };
            rule.when.holds(profile) && first(arch, profile, &data) == Some(rule)
        };
        let found = ARCHES.into_iter().any(|arch| {
            profiles().any(|profile| [3, u64::MAX].iter().any(|o| decides(arch, profile, *o)))
        });
        assert!(found, "{rule:?} is always overruled");
    }
}

/// The rule that decides, if one does.
fn first(arch: Arch, profile: Profile, data: &Data) -> Option<&'static Rule> {
    rules().find(|rule| {
        rule.when.holds(profile)
            && rule.call.number(arch) == Some(data.number)
            && rule.tests.iter().all(|test| matches(test, &data.args))
    })
}

#[test]
fn numbers_without_an_entry_are_allowed() {
    for arch in ARCHES {
        let filter = filter(arch, Profile::LANDLOCK_ONLY);
        let named = |n| rules().any(|rule| rule.call.number(arch) == Some(n));
        let free: Vec<u32> = (0..=Arch::NEWEST).filter(|n| !named(*n)).collect();
        assert!(free.len() > 340, "{} are left", free.len());
        for number in free {
            assert_eq!(answer(&filter, arch, number, [u64::MAX; 6]), Verdict::Allow.code());
        }
    }
}

#[test]
fn newer_and_x32_numbers_do_not_exist() {
    for arch in ARCHES {
        let filter = filter(arch, Profile::NAMESPACES);
        for number in [470, 512, 547, 1 << 30, (1 << 30) | 41, (1 << 30) | 520, u32::MAX] {
            let no_such_call = Verdict::Refuse(Errno::NoSys).code();
            assert_eq!(answer(&filter, arch, number, [0; 6]), no_such_call, "{number:#x}");
        }
    }
}

#[test]
fn another_architecture_is_the_end() {
    const I386: u32 = 0x4000_0003;
    const ARM: u32 = 0x4000_0028;
    for arch in ARCHES {
        let filter = filter(arch, Profile::NAMESPACES);
        for other in [I386, ARM, 0, u32::MAX, arch.audit() ^ 1] {
            for number in [0, 1, 20, 41, 102, 469, 470, u32::MAX] {
                let data = Data { number, arch: other, args: [0; 6] };
                assert_eq!(run(filter.instructions(), &data).code, Verdict::Kill.code());
            }
        }
    }
}

#[test]
fn the_high_half_of_an_int_is_no_way_around() {
    let refused = Verdict::Refuse(Errno::Perm).code();
    for high in [0, 1 << 32, 0xdead_beef << 32] {
        assert_eq!(ordinary(call::IOCTL, [0, 0x5412 | high, 0, 0, 0, 0]), refused);
        assert_eq!(ordinary(call::IOCTL, [0, 0x541c | high, 0, 0, 0, 0]), refused);
        assert_eq!(ordinary(call::CLONE, [0x1000_0011 | high, 0, 0, 0, 0, 0]), refused);
        assert_eq!(ordinary(call::PERSONALITY, [0x4_0000 | high, 0, 0, 0, 0, 0]), refused);
        let vsock = Verdict::Refuse(Errno::AfNoSupport).code();
        assert_eq!(ordinary(call::SOCKET, [40 | high, 1, 0, 0, 0, 0]), vsock);
    }
}

#[test]
fn a_pointer_counts_with_its_high_half() {
    let of_another = |limit: u64| ordinary(call::PRLIMIT64, [7, 1, limit, 0, 0, 0]);
    assert_eq!(of_another(0), Verdict::Allow.code());
    assert_eq!(of_another(0x7fff_0000_1000), Verdict::Refuse(Errno::Perm).code());
    assert_eq!(of_another(0x1_0000_0000), Verdict::Refuse(Errno::Perm).code());
}

#[test]
fn what_ordinary_programs_do_is_allowed() {
    const THREAD: u64 = 0x3d_0f00;
    const FORK: u64 = 0x120_0011;
    let cases: [(Call, [u64; 6]); 14] = [
        (call::CLONE, [THREAD, 0, 0, 0, 0, 0]),
        (call::CLONE, [FORK, 0, 0, 0, 0, 0]),
        (call::UNSHARE, [0x200, 0, 0, 0, 0, 0]),
        (call::IOCTL, [0, 0x5401, 0, 0, 0, 0]),
        (call::IOCTL, [0, 0x5413, 0, 0, 0, 0]),
        (call::SOCKET, [1, 0o2_000_001, 0, 0, 0, 0]),
        (call::SOCKET, [2, 0o2_004_001, 0, 0, 0, 0]),
        (call::SOCKET, [10, 2, 17, 0, 0, 0]),
        (call::SOCKET, [16, 0o2_000_003, 0, 0, 0, 0]),
        (call::SOCKETPAIR, [1, 0o2_000_001, 0, 0, 0, 0]),
        (call::PERSONALITY, [0xffff_ffff, 0, 0, 0, 0, 0]),
        (call::PRLIMIT64, [0, 7, 0x7fff_0000_0000, 0, 0, 0]),
        (call::CHMOD, [0, 0o2775, 0, 0, 0, 0]),
        (call::SHMGET, [0, 4096, 0, 0, 0, 0]),
    ];
    for (call, args) in cases {
        assert_eq!(ordinary(call, args), Verdict::Allow.code(), "{} {args:x?}", call.name());
    }
}

#[test]
fn a_process_may_slow_itself_where_it_can_name_others() {
    let filter = filter(Arch::X86_64, Profile::LANDLOCK_ONLY);
    let answer = |call: Call, args: [u64; 2]| {
        let number = call.number(Arch::X86_64).expect("a call of x86-64");
        answer(&filter, Arch::X86_64, number, [args[0], args[1], 0, 0, 0, 0])
    };
    let itself = [
        (call::SETPRIORITY, [0, 0]),
        (call::SETPRIORITY, [1, 0]),
        (call::SCHED_SETPARAM, [0, 7]),
        (call::SCHED_SETSCHEDULER, [0, 3]),
        (call::SCHED_SETATTR, [0, 7]),
        (call::SCHED_SETAFFINITY, [0, 8]),
        (call::IOPRIO_SET, [1, 0]),
    ];
    for (call, args) in itself {
        assert_eq!(answer(call, args), Verdict::Allow.code(), "{} {args:?}", call.name());
    }
}

#[test]
fn a_packet_socket_by_its_old_name_is_refused() {
    const SOCK_PACKET: u64 = 10;
    let refused = Verdict::Refuse(Errno::ProtoNoSupport).code();
    assert_eq!(ordinary(call::SOCKET, [2, SOCK_PACKET, 0x300, 0, 0, 0]), refused);
}

#[test]
fn no_call_takes_many_instructions() {
    for arch in ARCHES {
        for profile in profiles() {
            let program = filter(arch, profile);
            let program = program.instructions();
            assert!(program.len() <= 205, "{arch} {profile:?}: {} long", program.len());
            assert!(longest_path(program) <= 30, "{arch} {profile:?}: {}", longest_path(program));
            let plain = |number| {
                let data = Data { number, arch: arch.audit(), args: [0; 6] };
                run(program, &data).steps
            };
            let named = |n| rules().any(|rule| rule.call.number(arch) == Some(n));
            let most = (0..=Arch::NEWEST).filter(|n| !named(*n)).map(plain).max();
            assert!(most <= Some(11), "{arch} {profile:?}: {most:?}");
        }
    }
}

#[test]
fn compiling_twice_gives_the_same() {
    for arch in ARCHES {
        for profile in profiles() {
            assert_eq!(filter(arch, profile), filter(arch, profile));
        }
    }
}

#[test]
fn every_call_of_the_table_is_named_by_a_rule() {
    for call in call::ALL {
        assert!(rules().any(|rule| rule.call == *call), "{} has no rule", call.name());
    }
}

#[test]
fn every_reason_is_one_sentence() {
    for rule in rules() {
        assert!(rule.reason.ends_with('.') && !rule.reason.contains(". "), "{}", rule.reason);
    }
}
