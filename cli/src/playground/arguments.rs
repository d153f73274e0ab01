//! What the command line asks for.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
};

use crate::common::{
    address::address,
    given::{Given, Known},
    place::{Place, place},
};

pub(crate) const HELP: &str = "\
Five rate-limiting algorithms side by side in the browser: press for requests, see which pass, and why.

  cargo run -p tollgate-cli --bin playground -- [--listen ADDR] [--store STORE]

  --listen ADDR   where to serve the page: an address, or a port of this machine; 127.0.0.1:4000 unless told otherwise
  --store STORE   where the limits count: memory, unless told otherwise, or redis://HOST:PORT, which answers the same; what is
                  written there is under a prefix of its own, and deleted when the page is closed

Every open page plays a scene of its own, on a time of its own. Its address holds the whole scene: send it to somebody, and
they see what you saw.

It exits with 0 when it is asked to end, with 1 when it cannot start, and with 2 when it was called the wrong way.
";

const OPTIONS: [Known; 2] = [
    ("--listen", "an address, like 127.0.0.1:4000, or a port"),
    ("--store", "memory or redis://HOST:PORT"),
];

pub(crate) enum Job {
    Help,
    Serve(Options),
}

pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) store: Place,
}

impl Job {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let Some(mut given) = Given::read(arguments, &OPTIONS)? else {
            return Ok(Self::Help);
        };
        let listen = given.value("--listen", address)?;
        let store = given.value("--store", place)?;
        Ok(Self::Serve(Options {
            listen: listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 4000).into()),
            store: store.unwrap_or(Place::Memory),
        }))
    }
}
