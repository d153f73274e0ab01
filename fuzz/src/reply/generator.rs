//! Generates well-formed replies, as they arrive from Redis.

/// The RESP bulk string that Redis sends for a string that a script returns.
pub(super) fn bulk_string(bytes: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// A well-formed reply to this many charges. Each input byte defines the magnitude of one number.
pub(super) fn reply(charges: usize, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.iter().copied();
    let mut next = || bytes.next().unwrap_or_default();
    let count = 1 + 6 * charges;
    let mut reply = vec![0xdc];
    reply.extend((count as u16).to_be_bytes());
    push(&mut reply, 1_700_000_000_000_000 + u64::from(next()));
    for _ in 0..charges {
        reply.push(next() % 3);
        for _ in 0..3 {
            push(&mut reply, 1 << (next() % 54));
        }
        for _ in 0..2 {
            match next() {
                // -1: no mark.
                0..64 => reply.push(0xff),
                exponent => push(&mut reply, (1 << (exponent % 54)) - 1),
            }
        }
    }
    reply
}

/// Appends a number in its shortest encoding, like `cmsgpack.pack`.
fn push(reply: &mut Vec<u8>, number: u64) {
    let bytes = number.to_be_bytes();
    match number {
        0..0x80 => reply.push(bytes[7]),
        0x80..0x100 => reply.extend([0xcc, bytes[7]]),
        0x100..0x1_0000 => reply.extend([&[0xcd], &bytes[6..]].concat()),
        0x1_0000..0x1_0000_0000 => reply.extend([&[0xce], &bytes[4..]].concat()),
        _ => reply.extend([&[0xcf], &bytes[..]].concat()),
    }
}
