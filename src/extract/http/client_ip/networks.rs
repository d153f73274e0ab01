//! Networks that addresses are in, or not.

use std::{net::IpAddr, sync::Arc};

use ipnet::IpNet;

use crate::invalid::Invalid;

#[derive(Clone, Debug)]
pub(super) struct Networks(Arc<[IpNet]>);

impl Networks {
    pub(super) fn parse<N: AsRef<str>>(
        field: &'static str,
        networks: impl IntoIterator<Item = N>,
    ) -> Result<Self, Invalid> {
        let networks = networks.into_iter().map(|text| network(field, text.as_ref()));
        networks.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn contain(&self, address: &IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// A network, or the one of a single address. IPv4 in IPv6's clothing is taken for what it is, as clients are.
fn network(field: &'static str, text: &str) -> Result<IpNet, Invalid> {
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    let network = text.parse().or_else(|_| single()).map_err(|_| {
        let must = "be an address or a network, like 10.0.0.0/8 or fd00::/8";
        Invalid::new(field, format_args!("{text:?}"), must)
    })?;
    let mapped = network.addr().to_canonical();
    let bits = network.prefix_len();
    Ok(match (network, mapped) {
        (IpNet::V6(_), IpAddr::V4(_)) if bits >= 96 => IpNet::new_assert(mapped, bits - 96),
        _ => network,
    })
}
