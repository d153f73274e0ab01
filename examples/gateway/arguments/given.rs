//! What the command line asks for.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tracing::level_filters::LevelFilter;

use super::{
    address::address,
    options::{Options, Place},
    value,
};
use crate::bounds::Timeouts;

pub(crate) const HELP: &str = include_str!("../help.txt");

/// Every option that takes a value, and what that is.
const OPTIONS: [(&str, &str); 10] = [
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
];

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/gateway/rules.toml");

pub(crate) enum Job {
    Help,
    Serve(Box<Options>),
}

impl Job {
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut given = Given::default();
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy();
            match &*argument {
                "--help" | "-h" => return Ok(Self::Help),
                "--no-limits" => given.unlimited = true,
                option => match option.split_once('=') {
                    Some((option, value)) => given.take(option, Some(value.into()))?,
                    None => given.take(option, arguments.next())?,
                },
            }
        }
        given.options().map(Box::new).map(Self::Serve)
    }
}

#[derive(Default)]
struct Given {
    values: BTreeMap<&'static str, OsString>,
    unlimited: bool,
}

impl Given {
    fn take(&mut self, option: &str, value: Option<OsString>) -> Result<(), String> {
        let Some((option, needed)) = OPTIONS.iter().find(|(name, _)| *name == option) else {
            let names: Vec<_> = OPTIONS.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(format!(
                "there is no option {option}: there are {names}, --no-limits and --help"
            ));
        };
        let value = value.filter(|value| !value.to_string_lossy().starts_with("--"));
        let value = value.ok_or_else(|| format!("{option} needs {needed}"))?;
        match self.values.insert(option, value) {
            Some(_) => Err(format!("{option} is given twice: give it once")),
            None => Ok(()),
        }
    }

    fn options(mut self) -> Result<Options, String> {
        let rules = self.values.remove("--rules").unwrap_or_else(|| RULES.into());
        let store_timeout = self.read("--store-timeout", value::time)?;
        let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Options {
            rules: rules.into(),
            listen: self.read("--listen", address)?.unwrap_or_else(|| local(8080)),
            upstream: self.read("--upstream", value::upstream)?,
            store: self
                .read("--store", |given| value::place(given, store_timeout))?
                .unwrap_or(Place::Memory),
            on_store_failure: self
                .read("--on-store-failure", value::on_store_failure)?
                .unwrap_or_default(),
            admin: self.read("--admin", address)?,
            timeouts: Timeouts {
                client: self
                    .read("--client-timeout", value::time)?
                    .unwrap_or(Duration::from_secs(60)),
                upstream: self
                    .read("--upstream-timeout", value::time)?
                    .unwrap_or(Duration::from_secs(30)),
            },
            log: self.read("--log", value::level)?.unwrap_or(LevelFilter::INFO),
            limited: !self.unlimited,
        })
    }

    /// What an option says, if it is given, or what is wrong with it: after its name.
    fn read<T>(&mut self, option: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
        let value = self.values.remove(option);
        let read = |value: OsString| read(&value.to_string_lossy()).map_err(|wrong| format!("{option} {wrong}"));
        value.map(read).transpose()
    }
}
