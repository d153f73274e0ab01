//! Tests of `msgpack`.

use super::*;

#[test]
fn values_are_encoded_as_messagepack() {
    let mut packed = Writer::default();
    packed
        .string("reset")
        .number(0u8)
        .number(127u8)
        .number(128u8)
        .number(65_535u32);
    packed
        .number(65_536u32)
        .number(u32::MAX)
        .number(1u64 << 32)
        .number_or_none(None);
    let expected = "a57265736574 00 7f cd0080 cdffff ce00010000 ceffffffff cf0000000100000000 ff";
    let packed: String = packed.finish().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(packed, expected.replace(' ', ""));
}

fn unpacked(hex: &str) -> Option<Vec<Value<'static>>> {
    let digits = hex.replace(' ', "");
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    let mut array = Reader::new(bytes.leak())?;
    (0..array.values).map(|_| array.next()).collect()
}

#[test]
fn values_are_decoded_from_every_messagepack_format() {
    let numbers =
        "dc000c 00 7f cc80 cdffff ceffffffff cf0000000100000000 d07f d17fff d27fffffff ff e0 d3ffffffffffffffff";
    let expected = [
        0,
        127,
        128,
        65_535,
        u64::from(u32::MAX),
        1 << 32,
        127,
        32_767,
        2_147_483_647,
    ];
    let expected = expected.map(Some).into_iter().chain([None; 3]).map(Value::Number);
    assert_eq!(unpacked(numbers), Some(expected.collect()));
    let texts = "93 a24f4b d9024f4b da00024f4b";
    assert_eq!(unpacked(texts), Some([(); 3].map(|()| Value::Text(b"OK")).into()));
}

#[test]
fn fractions_and_large_integers_are_inexact() {
    let numbers = "95 ca3fc00000 cb3ff8000000000000 cf0020000000000001 d37fffffffffffffff 07";
    let mut expected: Vec<Value<'_>> = (0..4).map(|_| Value::Inexact).collect();
    expected.push(Value::Number(Some(7)));
    assert_eq!(unpacked(numbers), Some(expected));
}

#[test]
fn truncated_arrays_and_other_types_are_rejected() {
    for hex in [
        "",
        "00",
        "dc00",
        "91",
        "91cd00",
        "91a24f",
        "91c0",
        "91c3",
        "9190",
        "91ca3fc000",
        "91cb3ff00000000000",
        "92 00",
    ] {
        assert_eq!(unpacked(hex), None, "{hex}");
    }
}
