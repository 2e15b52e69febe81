//! TCP, UDP and raw IP, by IPv4 and IPv6.

use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use super::{PATIENCE, greeting};
use crate::attempt::{Attempt, Given, Tried, denied};
use crate::sys::{address, call, owned, words};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("network.tcp", "connects to the host's loopback", tcp),
    Attempt::new("network.tcp-any", "connects to 0.0.0.0, which is the host too", tcp_any),
    Attempt::new("network.tcp6", "connects to the host's ::1", tcp6),
    Attempt::new("network.tcp-mapped", "connects to ::ffff:127.0.0.1", tcp_mapped),
    Attempt::new("network.mptcp", "connects by multipath TCP", mptcp),
    Attempt::new("network.tcp-fast-open", "sends without connect, by fast open", fast_open),
    Attempt::new("network.udp", "sends to the host and hears the echo", udp),
    Attempt::new("network.udp-message", "the same by sendmsg, not connected", udp_message),
    Attempt::new("network.udp6", "the same by IPv6", udp6),
    Attempt::new("network.bind", "listens on a port that the host can reach", bind),
    Attempt::new("network.bind-udp", "receives a datagram from the host", bind_udp)
        .judged_by_world(),
    Attempt::new("network.raw-icmp", "opens a raw socket and pings", raw_icmp).root(),
    Attempt::new("network.raw-ip", "opens a raw socket for whole packets", raw_ip).root(),
    Attempt::new("network.dns", "asks the host's name server", dns),
];

fn greet_tcp(address: SocketAddr) -> Tried {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    greeting(stream)
}

fn tcp(given: &Given) -> Tried {
    greet_tcp((Ipv4Addr::LOCALHOST, given.number("tcp")?).into())
}

fn tcp_any(given: &Given) -> Tried {
    greet_tcp((Ipv4Addr::UNSPECIFIED, given.number("tcp")?).into())
}

fn tcp6(given: &Given) -> Tried {
    greet_tcp((Ipv6Addr::LOCALHOST, given.number("tcp6")?).into())
}

fn tcp_mapped(given: &Given) -> Tried {
    greet_tcp((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), given.number("tcp")?).into())
}

/// `struct sockaddr_in` of the host's loopback.
fn loopback(port: u16) -> Vec<u8> {
    let family = u16::try_from(libc::AF_INET).unwrap_or_default();
    let mut bytes = family.to_ne_bytes().to_vec();
    bytes.extend(port.to_be_bytes());
    bytes.extend(Ipv4Addr::LOCALHOST.octets());
    bytes.resize(16, 0);
    bytes
}

fn stream_socket(protocol: i32) -> Result<TcpStream, crate::attempt::Stop> {
    let stream = TcpStream::from(owned(call!(
        libc::SYS_socket,
        libc::AF_INET,
        libc::SOCK_STREAM,
        protocol
    ))?);
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn mptcp(given: &Given) -> Tried {
    let target = loopback(given.number("tcp")?);
    let stream = stream_socket(libc::IPPROTO_MPTCP)?;
    call!(libc::SYS_connect, stream.as_raw_fd(), &target, target.len())?;
    greeting(stream)
}

fn fast_open(given: &Given) -> Tried {
    let target = loopback(given.number("tcp")?);
    let stream = stream_socket(0)?;
    let flags = libc::MSG_FASTOPEN;
    call!(libc::SYS_sendto, stream.as_raw_fd(), &b"x"[..], 1, flags, &target, target.len())?;
    greeting(stream)
}

fn echo(socket: &UdpSocket) -> Tried {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = [0; 64];
    let read = socket.recv(&mut bytes)?;
    Ok(String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()).into_owned())
}

fn udp(given: &Given) -> Tried {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect((Ipv4Addr::LOCALHOST, given.number("udp")?))?;
    socket.send(b"from the probe")?;
    echo(&socket)
}

fn udp_message(given: &Given) -> Tried {
    let target = loopback(given.number("udp")?);
    let kind = libc::SOCK_DGRAM;
    let socket = UdpSocket::from(owned(call!(libc::SYS_socket, libc::AF_INET, kind, 0))?);
    let text = b"from the probe";
    let part = words(&[address(text), 14]);
    let message = words(&[address(&target), 16, address(&part), 1, 0, 0, 0]);
    call!(libc::SYS_sendmsg, socket.as_raw_fd(), &message, 0)?;
    echo(&socket)
}

fn udp6(given: &Given) -> Tried {
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?;
    socket.send_to(b"from the probe", (Ipv6Addr::LOCALHOST, given.number("udp6")?))?;
    echo(&socket)
}

fn bind(given: &Given) -> Tried {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, given.number("bind")?))?;
    listener.set_nonblocking(true)?;
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Ok((mut stream, _)) = listener.accept() {
            stream.write_all(b"hello, host")?;
            return Ok("the host came in".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(denied("listening, but the host does not come in"))
}

fn bind_udp(given: &Given) -> Tried {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, given.number("bind")?))?;
    echo(&socket)
}

/// A socket for raw packets sends one echo request to loopback.
fn raw_icmp(_: &Given) -> Tried {
    let (kind, protocol) = (libc::SOCK_RAW, libc::IPPROTO_ICMP);
    let socket = owned(call!(libc::SYS_socket, libc::AF_INET, kind, protocol))?;
    // Type 8, code 0, checksum of the rest: all zero.
    let request = [8, 0, 0xf7, 0xff, 0, 0, 0, 0];
    let target = loopback(0);
    call!(libc::SYS_sendto, &socket, &request[..], request.len(), 0, &target, target.len())?;
    Ok("sent".to_owned())
}

fn raw_ip(_: &Given) -> Tried {
    let (kind, protocol) = (libc::SOCK_RAW, libc::IPPROTO_RAW);
    owned(call!(libc::SYS_socket, libc::AF_INET, kind, protocol))?;
    Ok("a socket".to_owned())
}

/// A query for the address of `example.com` to the host's name server.
fn dns(given: &Given) -> Tried {
    let server: std::net::IpAddr = given.number("nameserver")?;
    let any: std::net::IpAddr = match server {
        std::net::IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        std::net::IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    let query =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01";
    socket.send_to(query, (server, 53))?;
    echo(&socket)?;
    Ok("a name server answered".to_owned())
}
