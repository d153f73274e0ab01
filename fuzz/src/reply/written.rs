//! Replies as they come over the wire.

/// What Redis makes of a string that a script returns.
pub(super) fn in_bulk(bytes: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// A reply to so many charges that nothing is wrong with, whatever it says. A byte says how large a number is.
pub(super) fn as_lua_does(charges: usize, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.iter().copied();
    let mut next = || bytes.next().unwrap_or_default();
    let count = 1 + 6 * charges;
    let mut written = vec![0xdc];
    written.extend((count as u16).to_be_bytes());
    push(&mut written, 1_700_000_000_000_000 + u64::from(next()));
    for _ in 0..charges {
        written.push(next() % 3);
        for _ in 0..3 {
            push(&mut written, 1 << (next() % 54));
        }
        for _ in 0..2 {
            match next() {
                // There is no mark.
                0..64 => written.push(0xff),
                exponent => push(&mut written, (1 << (exponent % 54)) - 1),
            }
        }
    }
    written
}

/// In as few bytes as will do, as `cmsgpack.pack` writes numbers.
fn push(written: &mut Vec<u8>, number: u64) {
    let bytes = number.to_be_bytes();
    match number {
        0..0x80 => written.push(bytes[7]),
        0x80..0x100 => written.extend([0xcc, bytes[7]]),
        0x100..0x1_0000 => written.extend([&[0xcd], &bytes[6..]].concat()),
        0x1_0000..0x1_0000_0000 => written.extend([&[0xce], &bytes[4..]].concat()),
        _ => written.extend([&[0xcf], &bytes[..]].concat()),
    }
}
