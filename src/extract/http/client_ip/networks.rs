//! Sets of networks.

use std::{net::IpAddr, sync::Arc};

use ipnet::IpNet;

use crate::config_error::ConfigError;

#[derive(Clone, Debug)]
pub(super) struct Networks(Arc<[IpNet]>);

impl Networks {
    pub(super) fn parse<N: AsRef<str>>(
        field: &'static str,
        networks: impl IntoIterator<Item = N>,
    ) -> Result<Self, ConfigError> {
        let networks = networks.into_iter().map(|text| network(field, text.as_ref()));
        networks.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn contains(&self, address: &IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// Parses a network or a single address. An IPv4-mapped IPv6 network is converted to IPv4, as peer addresses are.
fn network(field: &'static str, text: &str) -> Result<IpNet, ConfigError> {
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    let network = text.parse().or_else(|_| single()).map_err(|_| {
        let must = "be an address or a network, like 10.0.0.0/8 or fd00::/8";
        ConfigError::new(field, format_args!("{text:?}"), must)
    })?;
    let mapped = network.addr().to_canonical();
    let bits = network.prefix_len();
    Ok(match (network, mapped) {
        (IpNet::V6(_), IpAddr::V4(_)) if bits >= 96 => IpNet::new_assert(mapped, bits - 96),
        _ => network,
    })
}
