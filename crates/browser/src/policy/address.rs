//! What kind of address it is: globally routable, or one of those that are not.
//!
//! By the IANA registries of special-purpose addresses (IPv4 and IPv6, as of 2025), and two addresses
//! of metadata services that look public. An IPv6 address that carries an IPv4 address is never
//! global: what a gateway makes of it can't be known here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not globally routable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// `0.0.0.0/8`, `::`.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network, unique-local or site-local.
    Private,
    /// `100.64.0.0/10`: the network of a provider.
    Shared,
    /// The network of one link.
    LinkLocal,
    /// The metadata service of a cloud.
    Metadata,
    /// A group of machines.
    Multicast,
    /// Documentation and measurement.
    Documentation,
    /// An IPv4 address in an IPv6 one: mapped, compatible, 6to4, Teredo, NAT64, ISATAP.
    Embedded,
    /// Everything else that is not given out for the open internet.
    Reserved,
}

impl AddressClass {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared provider space",
            Self::LinkLocal => "link-local",
            Self::Metadata => "a metadata service",
            Self::Multicast => "multicast",
            Self::Documentation => "documentation or measurement",
            Self::Embedded => "IPv4 inside IPv6",
            Self::Reserved => "reserved",
        }
    }

    /// Whether a name that an operator calls internal may stand for such an address.
    pub(super) fn is_internal_network(self) -> bool {
        matches!(self, Self::Loopback | Self::Private | Self::Shared)
    }
}

/// The class of an address; `None` where it is globally routable.
pub(super) fn class(address: IpAddr) -> Option<AddressClass> {
    match address {
        IpAddr::V4(address) => class_v4(address),
        IpAddr::V6(address) => class_v6(address),
    }
}

/// Ranges of IPv4: the first that fits counts.
const V4: &[([u8; 4], u32, AddressClass)] = &[
    ([169, 254, 169, 254], 32, AddressClass::Metadata),
    ([168, 63, 129, 16], 32, AddressClass::Metadata),
    ([100, 100, 100, 200], 32, AddressClass::Metadata),
    ([0, 0, 0, 0], 8, AddressClass::Unspecified),
    ([10, 0, 0, 0], 8, AddressClass::Private),
    ([100, 64, 0, 0], 10, AddressClass::Shared),
    ([127, 0, 0, 0], 8, AddressClass::Loopback),
    ([169, 254, 0, 0], 16, AddressClass::LinkLocal),
    ([172, 16, 0, 0], 12, AddressClass::Private),
    ([192, 0, 0, 0], 24, AddressClass::Reserved),
    ([192, 0, 2, 0], 24, AddressClass::Documentation),
    ([192, 88, 99, 0], 24, AddressClass::Reserved),
    ([192, 168, 0, 0], 16, AddressClass::Private),
    ([198, 18, 0, 0], 15, AddressClass::Documentation),
    ([198, 51, 100, 0], 24, AddressClass::Documentation),
    ([203, 0, 113, 0], 24, AddressClass::Documentation),
    ([224, 0, 0, 0], 4, AddressClass::Multicast),
    ([240, 0, 0, 0], 4, AddressClass::Reserved),
];

fn class_v4(address: Ipv4Addr) -> Option<AddressClass> {
    let bits = address.to_bits();
    let is_in = |&&(network, length, _): &&([u8; 4], u32, AddressClass)| {
        let mask = u32::MAX << (32 - length);
        bits & mask == Ipv4Addr::from(network).to_bits() & mask
    };
    V4.iter().find(is_in).map(|&(.., class)| class)
}

/// Ranges of IPv6: the first that fits counts; what is in none of them must be in `2000::/3`.
const V6: &[([u16; 8], u32, AddressClass)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, AddressClass::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, AddressClass::Loopback),
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, AddressClass::Metadata),
    ([0, 0, 0, 0, 0, 0, 0, 0], 64, AddressClass::Embedded),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 32, AddressClass::Embedded),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, AddressClass::Embedded),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, AddressClass::Reserved),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, AddressClass::Documentation),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, AddressClass::Embedded),
    ([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16, AddressClass::Reserved),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, AddressClass::Documentation),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, AddressClass::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, AddressClass::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, AddressClass::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, AddressClass::Multicast),
];

fn class_v6(address: Ipv6Addr) -> Option<AddressClass> {
    let bits = address.to_bits();
    let is_in = |network: [u16; 8], length: u32| {
        let mask = u128::MAX << (128 - length);
        bits & mask == Ipv6Addr::from(network).to_bits() & mask
    };
    if let Some(&(.., class)) = V6.iter().find(|&&(network, length, _)| is_in(network, length)) {
        return Some(class);
    }
    if !is_in([0x2000, 0, 0, 0, 0, 0, 0, 0], 3) {
        return Some(AddressClass::Reserved);
    }
    // ISATAP: `…:0000:5efe:` or `…:0200:5efe:` before an IPv4 address.
    let [.., high, low, _, _] = address.segments();
    (matches!(high, 0 | 0x200) && low == 0x5efe).then_some(AddressClass::Embedded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_global(text: &str) -> bool {
        class(text.parse().unwrap()).is_none()
    }

    #[test]
    fn both_ends_of_every_range_are_refused_and_their_neighbours_are_not() {
        for &(network, length, _) in V4 {
            let first = Ipv4Addr::from(network).to_bits();
            let last = first | u32::MAX.checked_shr(length).unwrap_or(0);
            for bits in [first, last] {
                assert!(class_v4(Ipv4Addr::from_bits(bits)).is_some(), "{network:?}/{length}");
            }
        }
        for global in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.1",
            "192.88.100.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.1",
            "198.51.101.1",
            "203.0.112.1",
            "203.0.114.1",
            "223.255.255.255",
            "8.8.8.8",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2001:200::1",
            "2003::1",
            "2a00:1450::1",
            "2620:fe::fe",
            "2001:db7::1",
            "2001:db9::1",
        ] {
            assert!(is_global(global), "{global}");
        }
    }

    #[test]
    fn classes_have_their_names() {
        let check = |text: &str, expected: AddressClass| {
            assert_eq!(class(text.parse().unwrap()), Some(expected), "{text}");
        };
        check("0.0.0.0", AddressClass::Unspecified);
        check("127.255.255.254", AddressClass::Loopback);
        check("172.31.255.255", AddressClass::Private);
        check("198.19.0.1", AddressClass::Documentation);
        check("100.100.100.200", AddressClass::Metadata);
        check("168.63.129.16", AddressClass::Metadata);
        check("255.255.255.255", AddressClass::Reserved);
        check("::", AddressClass::Unspecified);
        check("::1", AddressClass::Loopback);
        check("::ffff:8.8.8.8", AddressClass::Embedded);
        check("::7f00:1", AddressClass::Embedded);
        check("::ffff:0:127.0.0.1", AddressClass::Embedded);
        check("64:ff9b::a9fe:a9fe", AddressClass::Embedded);
        check("64:ff9b:1::1", AddressClass::Embedded);
        check("2002:a9fe:a9fe::1", AddressClass::Embedded);
        check("2001::1", AddressClass::Embedded);
        check("2001:20::1", AddressClass::Reserved);
        check("2a00::5efe:7f00:1", AddressClass::Embedded);
        check("2a00::200:5efe:7f00:1", AddressClass::Embedded);
        check("fd00:ec2::254", AddressClass::Metadata);
        check("fc00::1", AddressClass::Private);
        check("fec0::1", AddressClass::Private);
        check("fe80::1", AddressClass::LinkLocal);
        check("ff02::1", AddressClass::Multicast);
        check("100::1", AddressClass::Reserved);
        check("5f00::1", AddressClass::Reserved);
        check("3fff::1", AddressClass::Documentation);
        check("4000::1", AddressClass::Reserved);
    }
}
