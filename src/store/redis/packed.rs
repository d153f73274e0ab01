//! The arguments of a call, packed into one: a MessagePack array of whole numbers and words.
//!
//! Redis and Lua make a string of every argument, and Lua a number of every string. Packed, they are numbers at once.

/// Values one after another. What is written here is what `cmsgpack.unpack` reads.
#[derive(Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    values: u32,
}

impl Packed {
    pub(super) fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        let number = number.into();
        match number {
            0..=0x7f => self.bytes.push(number as u8),
            0x80..=0xffff => self.tagged(0xcd, &(number as u16).to_be_bytes()),
            0x1_0000..=0xffff_ffff => self.tagged(0xce, &(number as u32).to_be_bytes()),
            _ => self.tagged(0xcf, &number.to_be_bytes()),
        }
        self.values += 1;
        self
    }

    /// A number, or -1 for none.
    pub(super) fn number_or_none(&mut self, number: Option<u64>) -> &mut Self {
        match number {
            Some(number) => self.number(number),
            None => {
                self.bytes.push(0xff);
                self.values += 1;
                self
            }
        }
    }

    /// A word of at most 31 bytes, which all of ours are.
    pub(super) fn word(&mut self, word: &'static str) -> &mut Self {
        debug_assert!(word.len() < 32);
        self.tagged(0xa0 | word.len() as u8, word.as_bytes());
        self.values += 1;
        self
    }

    pub(super) fn append(&mut self, other: &Self) -> &mut Self {
        self.bytes.extend_from_slice(&other.bytes);
        self.values += other.values;
        self
    }

    /// The array of all values.
    pub(super) fn finish(&self) -> Vec<u8> {
        [&[0xdd], &self.values.to_be_bytes()[..], &self.bytes].concat()
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_packed_as_messagepack_says() {
        let mut packed = Packed::default();
        packed
            .word("reset")
            .number(0u8)
            .number(127u8)
            .number(128u8)
            .number(65_535u32);
        packed
            .number(65_536u32)
            .number(u32::MAX)
            .number(1u64 << 32)
            .number_or_none(None);
        let expected = "dd00000009 a57265736574 00 7f cd0080 cdffff ce00010000 ceffffffff cf0000000100000000 ff";
        let packed: String = packed.finish().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(packed, expected.replace(' ', ""));
    }
}
