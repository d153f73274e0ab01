//! MessagePack encoding of the arguments of a call, and decoding of its reply: integers and strings.
//!
//! Redis and Lua convert every separate argument to a string, and Lua converts strings back to numbers. In MessagePack, they
//! are numbers from the start; and a reply of hundreds of numbers is read in a fraction of the time that separate values take.

/// The largest integer that Lua represents exactly. The script sends no larger ones, and sums of larger ones could overflow.
const MAX_INTEGER: u64 = 1 << 53;

/// The maximal number of values that Lua unpacks at once; its own limit is almost 8000.
const MAX_UNPACKED_VALUES: u32 = 4000;

/// A sequence of values in the format that `cmsgpack.unpack` reads.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    values: u32,
}

impl Writer {
    pub(crate) fn number(&mut self, number: impl Into<u64>) -> &mut Self {
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

    /// A number, or -1 for `None`.
    pub(crate) fn number_or_none(&mut self, number: Option<u64>) -> &mut Self {
        match number {
            Some(number) => self.number(number),
            None => {
                self.bytes.push(0xff);
                self.values += 1;
                self
            }
        }
    }

    /// A string of at most 31 bytes.
    pub(crate) fn string(&mut self, string: &'static str) -> &mut Self {
        debug_assert!(string.len() < 32);
        self.tagged(0xa0 | string.len() as u8, string.as_bytes());
        self.values += 1;
        self
    }

    pub(crate) fn append(&mut self, other: &Self) -> &mut Self {
        self.bytes.extend_from_slice(&other.bytes);
        self.values += other.values;
        self
    }

    /// The values as a sequence, which Lua unpacks into a table at once. Lua cannot unpack more than a few thousand values that
    /// way, so a larger number is encoded as an array, which Lua fills one by one.
    pub(crate) fn finish(self) -> Vec<u8> {
        if self.values <= MAX_UNPACKED_VALUES {
            return self.bytes;
        }
        [&[0xdd], &self.values.to_be_bytes()[..], &self.bytes].concat()
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(bytes);
    }
}

/// A decoder of an array, from left to right.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The number of values left.
    pub(crate) values: usize,
}

/// A value of a reply.
#[derive(Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// `None` for a negative number.
    Number(Option<u64>),
    /// A fraction, or an integer that Lua does not represent exactly.
    Inexact,
    Text(&'a [u8]),
}

impl<'a> Reader<'a> {
    /// `None` if it is not an array.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut array = Self { bytes, values: 0 };
        array.values = match array.byte()? {
            tag @ 0x90..=0x9f => usize::from(tag & 0x0f),
            0xdc => array.unsigned::<2>()? as usize,
            0xdd => array.unsigned::<4>()? as usize,
            _ => return None,
        };
        Some(array)
    }

    /// Whether no value and no trailing byte is left.
    pub(crate) fn is_done(&self) -> bool {
        self.values == 0 && self.bytes.is_empty()
    }

    /// The next value; `None` at the end, or if it is neither a string nor a number.
    pub(crate) fn next(&mut self) -> Option<Value<'a>> {
        self.values = self.values.checked_sub(1)?;
        let length = match self.byte()? {
            number @ 0..=0x7f => return Some(Value::Number(Some(number.into()))),
            0xca => return self.take(4).map(|_| Value::Inexact),
            0xcb => return self.take(8).map(|_| Value::Inexact),
            0xcc => return self.number::<1>(),
            0xcd => return self.number::<2>(),
            0xce => return self.number::<4>(),
            0xcf => return self.number::<8>(),
            0xd0 => return self.signed::<1>(),
            0xd1 => return self.signed::<2>(),
            0xd2 => return self.signed::<4>(),
            0xd3 => return self.signed::<8>(),
            0xe0..=0xff => return Some(Value::Number(None)),
            tag @ 0xa0..=0xbf => usize::from(tag & 0x1f),
            0xd9 => self.unsigned::<1>()? as usize,
            0xda => self.unsigned::<2>()? as usize,
            0xdb => self.unsigned::<4>()? as usize,
            _ => return None,
        };
        self.take(length).map(Value::Text)
    }

    fn number<const N: usize>(&mut self) -> Option<Value<'a>> {
        self.unsigned::<N>().map(exact)
    }

    fn signed<const N: usize>(&mut self) -> Option<Value<'a>> {
        let number = self.unsigned::<N>()?;
        let is_negative = number >> (8 * N - 1) == 1;
        Some(match is_negative {
            true => Value::Number(None),
            false => exact(number),
        })
    }

    fn unsigned<const N: usize>(&mut self) -> Option<u64> {
        let bytes = self.take(N)?;
        Some(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }
}

fn exact(number: u64) -> Value<'static> {
    match number {
        0..=MAX_INTEGER => Value::Number(Some(number)),
        _ => Value::Inexact,
    }
}

#[cfg(test)]
mod tests;
