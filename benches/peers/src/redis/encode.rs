//! Encodes a batch for the Lua script, as lua/README.md documents KEYS and ARGV.

use tollgate::redis::{Cmd, cmd};

/// A call that charges 1 to each key, in separate operations, by a token bucket of a billion that refills by one per second, on
/// Redis's clock.
pub fn acquire_each(sha: &str, keys: &[String]) -> Cmd {
    let mut arguments = MessagePack::default();
    arguments.string("*");
    arguments
        .numbers(&[1])
        .string("token_bucket")
        .numbers(&[1_000_000_000, 1_000_000, 1]);
    arguments.numbers(&[keys.len() as u32]);
    for key in 1..=keys.len() as u32 {
        arguments.string("acquire").numbers(&[1, key, 1, 1, 0]);
    }
    let mut call = cmd("EVALSHA");
    call.arg(sha).arg(keys.len()).arg(keys).arg(arguments.0);
    call
}

/// MessagePack values, one after another.
#[derive(Default)]
struct MessagePack(Vec<u8>);

impl MessagePack {
    fn string(&mut self, string: &str) -> &mut Self {
        self.0.push(0xa0 | string.len() as u8);
        self.0.extend_from_slice(string.as_bytes());
        self
    }

    fn numbers(&mut self, numbers: &[u32]) -> &mut Self {
        for number in numbers {
            self.0.push(0xce);
            self.0.extend_from_slice(&number.to_be_bytes());
        }
        self
    }
}

/// The number of values in a reply: the time, and six for each charge if none failed. The values are not decoded, so that this
/// side is as fast as possible.
pub fn count_values(reply: &[u8]) -> usize {
    match reply {
        [0xdc, high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
        _ => panic!("expected an array in MessagePack"),
    }
}
