//! Tests of `divisor`.

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
