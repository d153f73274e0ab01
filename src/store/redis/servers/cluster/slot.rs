//! Which of a cluster's slots a key belongs to.

/// One of 16,384, which are shared out among a cluster's primaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(pub(super) u16);

impl Slot {
    pub(super) const COUNT: u16 = 16_384;

    /// Of every key, where there is no cluster.
    pub(crate) const ONLY: Self = Self(0);

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// By the checksum of the key, or of what is between its first braces if that is anything.
    pub(crate) fn of(key: &str) -> Self {
        let braced = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let counts = match braced {
            Some((tag, _)) if !tag.is_empty() => tag,
            _ => key,
        };
        Self(crc16(counts.as_bytes()) % Self::COUNT)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// CRC-16/XMODEM: the polynomial 0x1021, from 0.
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

    /// As CLUSTER KEYSLOT says.
    #[test]
    fn keys_belong_where_redis_says() {
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
