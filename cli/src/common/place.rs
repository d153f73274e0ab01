//! Where limits count, as an option's value says it, or what is wrong with that: it follows the option's name.

use tollgate::RedisStore;

#[derive(Clone)]
pub(crate) enum Place {
    Memory,
    /// By its address.
    Redis(String),
}

pub(crate) fn place(given: &str) -> Result<Place, String> {
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
