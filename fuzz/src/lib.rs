//! What the targets hold, from where the tests have it, too.

#[path = "../../tests/fuzz_seeds/properties/mod.rs"]
mod properties;

pub use self::properties::{client_ip, laws, rules};
