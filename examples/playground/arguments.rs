//! What the command line asks for.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
};

use tollgate::RedisStore;

use crate::address::address;

pub(crate) const HELP: &str = "\
Five rate-limiting algorithms side by side in the browser: press for requests, see which pass, and why.

  cargo run --example playground -- [--listen ADDR] [--store STORE]

  --listen ADDR   where to serve the page: an address, or a port of this machine; 127.0.0.1:4000 unless told otherwise
  --store STORE   where the limits count: memory, unless told otherwise, or redis://HOST:PORT, which answers the same; what is
                  written there is under a prefix of its own, and deleted when the page is closed

Every open page plays a scene of its own, on a time of its own. Its address holds the whole scene: send it to somebody, and
they see what you saw.

It exits with 0 when it is asked to end, with 1 when it cannot start, and with 2 when it was called the wrong way.
";

const OPTIONS: &str = "--listen, --store and --help";

pub(crate) enum Job {
    Help,
    Serve(Options),
}

pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) store: Place,
}

/// Where the limits count.
#[derive(Clone)]
pub(crate) enum Place {
    Memory,
    Redis(String),
}

impl Job {
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Options {
            listen: (Ipv4Addr::LOCALHOST, 4000).into(),
            store: Place::Memory,
        };
        while let Some(argument) = arguments.next() {
            let argument = argument.to_string_lossy().into_owned();
            let (option, value) = match argument.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (&*argument, None),
            };
            let mut value = |needed| {
                let value = value.clone();
                let value = value.or_else(|| Some(arguments.next()?.to_string_lossy().into_owned()));
                value.ok_or_else(|| format!("{option} needs {needed}"))
            };
            let wrong = |why| format!("{option} {why}");
            match option {
                "--help" | "-h" => return Ok(Self::Help),
                "--listen" => {
                    options.listen = address(&value("an address, like 127.0.0.1:4000, or a port")?).map_err(wrong)?
                }
                "--store" => options.store = place(&value("memory or redis://HOST:PORT")?).map_err(wrong)?,
                unknown => return Err(format!("there is no option {unknown}: there are {OPTIONS}")),
            }
        }
        Ok(Self::Serve(options))
    }
}

fn place(given: &str) -> Result<Place, String> {
    match given {
        "memory" => Ok(Place::Memory),
        // What is wrong with an address, the store says in words that hold no password.
        url if url.contains("://") => match RedisStore::connect(url) {
            Ok(_) => Ok(Place::Redis(url.to_owned())),
            Err(error) => Err(format!("cannot be used: {error}")),
        },
        other => Err(format!("needs memory or redis://HOST:PORT, and {other:?} is neither")),
    }
}
