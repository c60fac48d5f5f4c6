//! Addresses of clients, and networks of them.

use std::net::{IpAddr, Ipv6Addr};

/// A range of addresses with a common prefix, such as `10.0.0.0/8`; or a single address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    first: u128,
    mask: u128,
}

impl Network {
    /// Parses an address with an optional prefix length; None for anything else.
    pub fn parse(text: &str) -> Option<Network> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u32>().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let host_bits = width - bits.unwrap_or(width).min(width);
        if bits.is_some_and(|bits| bits > width) {
            return None;
        }
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Some(Network { first: number(address) & mask, mask })
    }

    /// Returns whether the address belongs to the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        number(address) & self.mask == self.first
    }
}

/// Returns an address as a number; IPv4 addresses are mapped to IPv6.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Returns the address that limits are counted by. An IPv6 subscriber has a whole /64, so the lower bits are cleared.
pub fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_the_addresses_that_begin_like_them() {
        let holds = |network: &str, address: &str| {
            Network::parse(network).map(|network| network.contains(address.parse().unwrap()))
        };
        assert_eq!(holds("10.0.0.0/8", "10.1.2.3"), Some(true));
        assert_eq!(holds("10.0.0.0/8", "11.1.2.3"), Some(false));
        assert_eq!(holds("10.0.0.1", "10.0.0.1"), Some(true));
        assert_eq!(holds("10.0.0.1", "::ffff:10.0.0.1"), Some(true));
        assert_eq!(holds("0.0.0.0/0", "10.0.0.1"), Some(true));
        assert_eq!(holds("0.0.0.0/0", "2001:db8::1"), Some(false));
        assert_eq!(holds("::/0", "2001:db8::1"), Some(true));
        assert_eq!(holds("2001:db8::/32", "2001:db9::1"), Some(false));
        for wrong in ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "proxy.example", "10.0.0.0/-1", ""] {
            assert_eq!(Network::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_subscriber_of_ipv6_is_one_client() {
        let of = |text: &str| subscriber(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
