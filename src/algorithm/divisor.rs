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
mod tests {
    use super::*;

    const MAX_DIVIDEND: u64 = (1 << DIVIDEND_BITS) - 1;

    /// Numbers around the powers of two and of ten, and the bounds.
    fn numbers() -> impl Iterator<Item = u64> + Clone {
        let powers = (0..=DIVIDEND_BITS).map(|bits| 1 << bits);
        let powers = powers.chain((0..17).map(|digits| 10_u64.pow(digits)));
        let around = |power: u64| {
            [
                power.saturating_sub(1),
                power,
                power + 1,
                3 * power / 2,
                999 * (power / 1000),
            ]
        };
        powers.flat_map(around).filter(|number| *number <= MAX_DIVIDEND)
    }

    #[test]
    fn a_quotient_is_that_of_a_division() {
        for value in numbers().filter(|value| *value > 0) {
            let divisor = Divisor::new(value);
            // Around the multiples of the divisor, where rounding changes the quotient.
            let multiples = numbers().map(|number| number - number % value);
            let around = multiples.flat_map(|multiple| [multiple.saturating_sub(1), multiple, multiple + 1]);
            for dividend in numbers().chain(around).filter(|dividend| *dividend <= MAX_DIVIDEND) {
                assert_eq!(divisor.divide(dividend), dividend / value, "{dividend} / {value}");
                if dividend <= MAX_DIVIDEND - (value - 1) {
                    assert_eq!(
                        divisor.divide_up(dividend),
                        dividend.div_ceil(value),
                        "{dividend} / {value}, rounded up"
                    );
                }
            }
        }
    }
}
