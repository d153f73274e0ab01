//! Formats integers in decimal without `fmt`: three digits at a time, from a lookup table.

/// `000` to `999`, concatenated.
const LUT: &str = {
    const BYTES: [u8; 3000] = {
        let (mut bytes, mut at) = ([0; 3000], 0);
        while at < bytes.len() {
            let number = at / 3;
            bytes[at] = b'0' + [number / 100, number / 10 % 10, number % 10][at % 3] as u8;
            at += 1;
        }
        bytes
    };
    match str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("digits are valid UTF-8"),
    }
};

/// The decimal text of a number below 1000.
#[inline]
pub(crate) fn below_1000(number: usize) -> &'static str {
    let zeros = usize::from(number < 100) + usize::from(number < 10);
    &LUT[3 * number + zeros..3 * number + 3]
}

/// A buffer on the stack for the decimal text of a `u64`.
pub(crate) struct DecimalBuf([u8; 21]);

impl DecimalBuf {
    pub(crate) fn new() -> Self {
        Self([b'0'; 21])
    }

    /// Writes a number and returns its text.
    pub(crate) fn format(&mut self, mut number: u64) -> &[u8] {
        let Self(bytes) = self;
        let mut start = bytes.len();
        loop {
            let three = 3 * (number % 1000) as usize;
            bytes[start - 3..start].copy_from_slice(&LUT.as_bytes()[three..three + 3]);
            start -= 3;
            number /= 1000;
            if number == 0 {
                break;
            }
        }
        // The last digit stays, even if it is zero.
        let zeros = bytes[start..20].iter().take_while(|&&digit| digit == b'0').count();
        &bytes[start + zeros..]
    }
}

#[cfg(test)]
mod tests;
