//! Socket families that namespaces do not hold, or that are kernel surface and nothing else.

use crate::attempt::{Attempt, Given, Tried, denied};
use crate::sys::{call, halves, owned};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("network.vsock", "opens a socket to the hypervisor", vsock),
    Attempt::new("network.packet", "opens a packet socket", packet).root(),
    Attempt::new("network.packet-datagram", "opens a cooked packet socket", cooked).root(),
    Attempt::new("network.crypto", "opens an AF_ALG socket", crypto),
    Attempt::new("network.xdp", "opens an AF_XDP socket", xdp).root(),
    Attempt::new("network.key", "opens an AF_KEY socket", key).root(),
    Attempt::new("network.tipc", "opens a TIPC socket", tipc),
    Attempt::new("network.bluetooth", "opens a Bluetooth socket", bluetooth),
    Attempt::new("network.can", "opens a CAN socket", can),
    Attempt::new("network.rds", "opens an RDS socket", rds),
    Attempt::new("network.smc", "opens an SMC socket", smc),
    Attempt::new("network.sctp", "opens an SCTP socket", sctp),
    Attempt::new("network.netlink-route", "lists the host's interfaces", route),
    Attempt::new("network.netlink-sock-diag", "opens the socket monitor", sock_diag),
    Attempt::new("network.netlink-xfrm", "opens the IPsec configuration", xfrm),
    Attempt::new("network.netlink-audit", "opens the audit system", audit),
    Attempt::new("network.netlink-netfilter", "opens the packet filter", netfilter),
    Attempt::new("network.netlink-uevent", "opens the device events", uevent),
    Attempt::new("network.netlink-generic", "opens generic netlink", generic),
    Attempt::new("network.netlink-connector", "opens the connector", connector),
];

fn open(family: i32, kind: i32, protocol: i32) -> Tried {
    owned(call!(libc::SYS_socket, family, kind, protocol))?;
    Ok("a socket".to_owned())
}

fn vsock(_: &Given) -> Tried {
    open(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
}

fn packet(_: &Given) -> Tried {
    open(libc::AF_PACKET, libc::SOCK_RAW, 0)
}

fn cooked(_: &Given) -> Tried {
    open(libc::AF_PACKET, libc::SOCK_DGRAM, 0)
}

fn crypto(_: &Given) -> Tried {
    open(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
}

fn xdp(_: &Given) -> Tried {
    open(libc::AF_XDP, libc::SOCK_RAW, 0)
}

fn key(_: &Given) -> Tried {
    open(libc::AF_KEY, libc::SOCK_RAW, 2)
}

fn tipc(_: &Given) -> Tried {
    open(libc::AF_TIPC, libc::SOCK_DGRAM, 0)
}

fn bluetooth(_: &Given) -> Tried {
    open(libc::AF_BLUETOOTH, libc::SOCK_SEQPACKET, 0)
}

fn can(_: &Given) -> Tried {
    open(libc::AF_CAN, libc::SOCK_RAW, 1)
}

fn rds(_: &Given) -> Tried {
    open(libc::AF_RDS, libc::SOCK_SEQPACKET, 0)
}

fn smc(_: &Given) -> Tried {
    // AF_SMC has no name in libc.
    open(43, libc::SOCK_STREAM, 0)
}

fn sctp(_: &Given) -> Tried {
    open(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_SCTP)
}

fn netlink(protocol: i32) -> Tried {
    open(libc::AF_NETLINK, libc::SOCK_RAW, protocol)
}

fn sock_diag(_: &Given) -> Tried {
    netlink(libc::NETLINK_SOCK_DIAG)
}

fn xfrm(_: &Given) -> Tried {
    netlink(libc::NETLINK_XFRM)
}

fn audit(_: &Given) -> Tried {
    netlink(libc::NETLINK_AUDIT)
}

fn netfilter(_: &Given) -> Tried {
    netlink(libc::NETLINK_NETFILTER)
}

fn uevent(_: &Given) -> Tried {
    netlink(libc::NETLINK_KOBJECT_UEVENT)
}

fn generic(_: &Given) -> Tried {
    netlink(libc::NETLINK_GENERIC)
}

fn connector(_: &Given) -> Tried {
    netlink(libc::NETLINK_CONNECTOR)
}

/// Asks for all interfaces: a sandbox of its own has loopback alone.
fn route(_: &Given) -> Tried {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
    let socket = owned(call!(libc::SYS_socket, libc::AF_NETLINK, kind, libc::NETLINK_ROUTE))?;
    let flags = u32::try_from(libc::NLM_F_REQUEST | libc::NLM_F_DUMP).unwrap_or_default();
    let kind_and_flags = u32::from(libc::RTM_GETLINK) | flags << 16;
    let request = halves(&[32, kind_and_flags, 1, 0, 0, 0, 0, 0]);
    call!(libc::SYS_sendto, &socket, &request, request.len(), 0, 0, 0)?;
    let mut answer = vec![0; 1 << 16];
    let read = call!(libc::SYS_recvfrom, &socket, &mut answer[..], 1 << 16, 0, 0, 0)?;
    answer.truncate(usize::try_from(read).unwrap_or(0));
    match interfaces(&answer) {
        0 | 1 => Err(denied("loopback alone")),
        count => Ok(format!("{count} interfaces")),
    }
}

/// The number of RTM_NEWLINK messages in an answer.
fn interfaces(mut answer: &[u8]) -> usize {
    let mut count = 0;
    while let (Some(length), Some(kind)) = (word(answer, 0), word(answer, 4)) {
        count += usize::from(kind & 0xffff == u32::from(libc::RTM_NEWLINK));
        let step = usize::try_from(length).unwrap_or(0).next_multiple_of(4).max(16);
        answer = answer.get(step..).unwrap_or_default();
    }
    count
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
