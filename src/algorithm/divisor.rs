//! Division by a number that is known only at run time, but does not change.

/// More bits than a backlog or a time has.
const DIVIDEND_BITS: u32 = 56;

/// A number to divide by, with its reciprocal: a 64-bit division takes up to 90 cycles, and a multiplication 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Divisor {
    value: u64,
    /// The largest whole number below 2^(64 + shift) / value.
    reciprocal: u64,
    shift: u32,
}

impl Divisor {
    /// A number from 1 to 2^56.
    pub(crate) const fn new(value: u64) -> Self {
        assert!(0 < value && value <= 1 << DIVIDEND_BITS);
        // (dividend + 1) * reciprocal / 2^(64 + shift) is less than (dividend + 1) / value, by 1 / value at most, because
        // (dividend + 1) * value is at most 2^(64 + shift). So its whole part is that of dividend / value.
        let bits = u64::BITS - (value - 1).leading_zeros();
        let shift = (DIVIDEND_BITS + bits).saturating_sub(u64::BITS);
        let reciprocal = (((1_u128 << (u64::BITS + shift)) - 1) / value as u128) as u64;
        Self {
            value,
            reciprocal,
            shift,
        }
    }

    #[inline]
    pub(crate) const fn get(self) -> u64 {
        self.value
    }

    /// `dividend / value`, for a dividend below 2^56.
    #[inline]
    pub(crate) const fn divide(self, dividend: u64) -> u64 {
        debug_assert!(dividend < 1 << DIVIDEND_BITS);
        let product = (dividend + 1) as u128 * self.reciprocal as u128;
        ((product >> u64::BITS) as u64) >> self.shift
    }

    /// `dividend / value` rounded up, for a sum of both below 2^56.
    #[inline]
    pub(crate) const fn divide_up(self, dividend: u64) -> u64 {
        self.divide(dividend + (self.value - 1))
    }
}

#[cfg(test)]
mod tests;
