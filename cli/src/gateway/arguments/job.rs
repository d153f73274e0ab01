//! What the command line asks for.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tracing::level_filters::LevelFilter;

use super::{
    options::{Options, Place},
    value,
};
use crate::{
    bounds::Timeouts,
    common::{
        address::address,
        given::{Given, Known, NOTHING},
    },
};

pub(crate) const HELP: &str = include_str!("../help.txt");

const OPTIONS: [Known; 11] = [
    ("--rules", "a file"),
    ("--listen", "an address, like 127.0.0.1:8080, or a port"),
    ("--upstream", "a service, like http://127.0.0.1:3000"),
    ("--store", "memory or redis://HOST:PORT"),
    ("--on-store-failure", "open, closed or local"),
    ("--store-timeout", "a time, like 30s or 500ms"),
    ("--admin", "an address, like 127.0.0.1:9090, or a port"),
    ("--client-timeout", "a time, like 30s or 500ms"),
    ("--upstream-timeout", "a time, like 30s or 500ms"),
    ("--log", "error, warn, info or debug"),
    ("--no-limits", NOTHING),
];

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gateway/rules.toml");

pub(crate) enum Job {
    Help,
    Serve(Box<Options>),
}

impl Job {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        match Given::read(arguments, &OPTIONS)? {
            Some(given) => options(given).map(Box::new).map(Self::Serve),
            None => Ok(Self::Help),
        }
    }
}

fn options(mut given: Given) -> Result<Options, String> {
    let rules = given.take("--rules").unwrap_or_else(|| RULES.into());
    let store_timeout = given.value("--store-timeout", value::time)?;
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Ok(Options {
        rules: rules.into(),
        listen: given.value("--listen", address)?.unwrap_or_else(|| local(8080)),
        upstream: given.value("--upstream", value::upstream)?,
        store: given
            .value("--store", |place| value::place(place, store_timeout))?
            .unwrap_or(Place::Memory),
        on_store_failure: given
            .value("--on-store-failure", value::on_store_failure)?
            .unwrap_or_default(),
        admin: given.value("--admin", address)?,
        timeouts: Timeouts {
            client: given
                .value("--client-timeout", value::time)?
                .unwrap_or(Duration::from_secs(60)),
            upstream: given
                .value("--upstream-timeout", value::time)?
                .unwrap_or(Duration::from_secs(30)),
        },
        log: given.value("--log", value::level)?.unwrap_or(LevelFilter::INFO),
        limited: given.take("--no-limits").is_none(),
    })
}
