//! A batch as the program takes it: the one place that knows what lua/README.md says of KEYS and ARGV.

use tollgate::redis::{Cmd, cmd};

/// The program, joined as lua/README.md says.
pub const PROGRAM: &str = concat!(
    include_str!("../../../../lua/prelude.lua"),
    include_str!("../../../../lua/bucket.lua"),
    include_str!("../../../../lua/fixed_window.lua"),
    include_str!("../../../../lua/sliding_log.lua"),
    include_str!("../../../../lua/sliding_counter.lua"),
    include_str!("../../../../lua/operations.lua"),
    include_str!("../../../../lua/driver.lua"),
);

/// The call that charges 1 to each of these keys, each on its own, by a token bucket of a billion that refills by one a
/// second, on Redis's clock.
pub fn acquire_each(sha: &str, keys: &[String]) -> Cmd {
    let mut arguments = Packed::default();
    arguments.word("*");
    arguments
        .numbers(&[1])
        .word("token_bucket")
        .numbers(&[1_000_000_000, 1_000_000, 1]);
    arguments.numbers(&[keys.len() as u32]);
    for key in 1..=keys.len() as u32 {
        arguments.word("acquire").numbers(&[1, key, 1, 1, 0]);
    }
    let mut call = cmd("EVALSHA");
    call.arg(sha).arg(keys.len()).arg(keys).arg(arguments.0);
    call
}

/// MessagePack values, one after another.
#[derive(Default)]
struct Packed(Vec<u8>);

impl Packed {
    fn word(&mut self, word: &str) -> &mut Self {
        self.0.push(0xa0 | word.len() as u8);
        self.0.extend_from_slice(word.as_bytes());
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

/// How many values a reply has: the time, and six for each charge if none of them failed. What they are is not looked at, so
/// that the other side is as fast as it can be.
pub fn values(reply: &[u8]) -> usize {
    match reply {
        [0xdc, high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
        _ => panic!("a packed array was expected"),
    }
}
