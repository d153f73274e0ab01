//! The slot of a key in a cluster.

/// One of 16,384 slots, which are distributed over the primaries of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(pub(super) u16);

impl Slot {
    pub(super) const COUNT: u16 = 16_384;

    /// The slot of every key without a cluster.
    pub(crate) const ONLY: Self = Self(0);

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The slot by the checksum of the key, or of its hash tag: the part between its first braces, if that is not empty.
    pub(crate) fn of(key: &str) -> Self {
        let braced = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let hashed = match braced {
            Some((tag, _)) if !tag.is_empty() => tag,
            _ => key,
        };
        Self(crc16(hashed.as_bytes()) % Self::COUNT)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
fn crc16(bytes: &[u8]) -> u16 {
    let shift = |crc: u16| {
        if crc & 0x8000 == 0 {
            crc << 1
        } else {
            (crc << 1) ^ 0x1021
        }
    };
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| shift(crc))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected slots are those of CLUSTER KEYSLOT.
    #[test]
    fn slots_are_those_of_redis() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        for (key, slot) in [
            ("", 0),
            ("foo", 12_182),
            ("{foo}bar", 12_182),
            ("x{foo}{bar}", 12_182),
            ("foo{}{bar}", 8363),
            ("foo{{bar}}zap", 4015),
            ("}{foo}", 12_182),
        ] {
            assert_eq!(Slot::of(key), Slot(slot), "{key}");
        }
    }
}
