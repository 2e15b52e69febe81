//! Sockets: a list of what is allowed, because the kernel has some forty families, loads many of
//! them as modules when asked for, and not all of them belong to a network namespace.
//!
//! Allowed are Unix sockets, TCP, UDP and ping over IPv4 and IPv6, and the netlink that lists
//! interfaces. Where no namespace stands behind the process, less.

use super::super::{ArgTest, Rule, When, call};
use super::{EACCES, EAFNOSUPPORT, EPROTONOSUPPORT};

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;

const NETLINK_ROUTE: u32 = 0;
const ANY_PROTOCOL: u32 = 0;
const IPPROTO_ICMP: u32 = 1;
const IPPROTO_TCP: u32 = 6;
const IPPROTO_UDP: u32 = 17;
const IPPROTO_ICMPV6: u32 = 58;

/// The family is IPv4 or IPv6, whose numbers differ in one bit.
const INET: ArgTest = ArgTest::bits(0, !(AF_INET ^ AF_INET6), AF_INET & AF_INET6);

/// The type without its flags (close on exec, do not block), which are above the low four bits.
const STREAM: ArgTest = ArgTest::bits(1, 0xf, 1);
const DATAGRAM: ArgTest = ArgTest::bits(1, 0xf, 2);
const SEQUENCED: ArgTest = ArgTest::bits(1, 0xf, 5);

const fn family(family: u32) -> ArgTest {
    ArgTest::int(0, family)
}

const fn protocol(protocol: u32) -> ArgTest {
    ArgTest::int(2, protocol)
}

/// A kind of internet socket that may be used.
const fn usable(tests: &'static [ArgTest], what: &'static str) -> Rule {
    Rule::allow(call::SOCKET, what).given(tests).only(When::InetOpen)
}

pub(super) const RULES: &[Rule] = &[
    // Unix.
    Rule::refuse(call::SOCKET, EACCES, "Connects to the host's services, such as Docker's.")
        .given(&[family(AF_UNIX)])
        .only(When::UnixClosed),
    Rule::allow(call::SOCKET, "Leads to no host service in this profile.")
        .given(&[family(AF_UNIX)])
        .only(When::UnixOpen),
    // The internet.
    Rule::refuse(call::SOCKET, EACCES, "The network is closed and nothing else closes it.")
        .given(&[INET])
        .only(When::InetClosed),
    usable(&[INET, STREAM, protocol(ANY_PROTOCOL)], "TCP."),
    usable(&[INET, STREAM, protocol(IPPROTO_TCP)], "TCP."),
    usable(&[INET, DATAGRAM, protocol(ANY_PROTOCOL)], "UDP."),
    usable(&[INET, DATAGRAM, protocol(IPPROTO_UDP)], "UDP."),
    usable(&[INET, DATAGRAM, protocol(IPPROTO_ICMP)], "Ping."),
    usable(&[INET, DATAGRAM, protocol(IPPROTO_ICMPV6)], "Ping over IPv6."),
    Rule::refuse(
        call::SOCKET,
        EPROTONOSUPPORT,
        "Raw packets, and protocols loaded as modules: SCTP, DCCP, L2TP, SMC, MPTCP.",
    )
    .given(&[INET])
    .only(When::InetOpen),
    // Netlink.
    Rule::refuse(call::SOCKET, EACCES, "Tells of the host's interfaces and addresses.")
        .given(&[family(AF_NETLINK)])
        .only(When::InetClosed),
    Rule::allow(call::SOCKET, "Lists interfaces, as name lookup does; changes need a capability.")
        .given(&[family(AF_NETLINK), protocol(NETLINK_ROUTE)])
        .only(When::InetOpen),
    Rule::refuse(
        call::SOCKET,
        EPROTONOSUPPORT,
        "Netlink to the firewall, IPsec, audit and others.",
    )
    .given(&[family(AF_NETLINK)])
    .only(When::InetOpen),
    // The rest.
    Rule::refuse(
        call::SOCKET,
        EAFNOSUPPORT,
        "VSOCK reaches the hypervisor past every namespace; ALG, PACKET, XDP, TIPC, CAN, Bluetooth \
         and others open rarely used parts of the kernel.",
    ),
    // Pairs are connected to each other; but a datagram socket, even of a pair, can send elsewhere.
    Rule::allow(call::SOCKETPAIR, "Can't be connected elsewhere.")
        .given(&[family(AF_UNIX), STREAM])
        .only(When::UnixClosed),
    Rule::allow(call::SOCKETPAIR, "Can't be connected elsewhere.")
        .given(&[family(AF_UNIX), SEQUENCED])
        .only(When::UnixClosed),
    Rule::refuse(call::SOCKETPAIR, EACCES, "Can send to the host's services.")
        .given(&[family(AF_UNIX)])
        .only(When::UnixClosed),
    Rule::allow(call::SOCKETPAIR, "Leads to no host service in this profile.")
        .given(&[family(AF_UNIX)])
        .only(When::UnixOpen),
    Rule::refuse(call::SOCKETPAIR, EAFNOSUPPORT, "Pairs of another family, such as TIPC."),
];
