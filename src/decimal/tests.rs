//! Tests of `decimal`.

use super::*;

#[test]
fn numbers_equal_their_formatted_text() {
    for number in 0..1000 {
        assert_eq!(below_1000(number), number.to_string());
    }
    let powers = (0..20).map(|exponent| 10_u64.pow(exponent));
    let edges = powers.flat_map(|power| [power - 1, power, power + 1, 7 * (power / 10)]);
    for number in edges.chain([u64::from(u32::MAX), u64::MAX - 1, u64::MAX]) {
        assert_eq!(DecimalBuf::new().format(number), number.to_string().as_bytes());
    }
}
