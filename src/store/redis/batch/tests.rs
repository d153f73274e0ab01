//! Tests of `batch`.

use super::*;
use crate::{algorithm::FixedWindow, charge::Charges, key::Key, limit::Limit, quota::Quota};

fn charge() -> Charge {
    Charge::new(Limit::new("user", FixedWindow::new(Quota::per_minute(10))), Key::GLOBAL)
}

/// The responses to three requests from a reply with these MessagePack values, in hexadecimal digits. The second request has two
/// charges.
fn responses(values: &str) -> Result<[Response; 3], StoreError> {
    let address: Arc<str> = "127.0.0.1:6379".into();
    let timeout = Duration::from_secs(1);
    let acquire = |charges| Operation::Acquire(Charges::from_distinct((0..charges).map(|_| charge())));
    let request = |charges| Request::new(acquire(charges), Instant::now() + timeout);
    let (requests, receivers): (Vec<_>, Vec<_>) = [1, 2, 1].map(request).into_iter().unzip();
    let mut batch = Batch::new(requests, &address, timeout, None, None);
    let mut bytes = vec![0xdc, 0, values.split_whitespace().count() as u8];
    for value in values.split_whitespace() {
        let byte = |at| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
        bytes.extend((0..value.len()).step_by(2).map(byte));
    }
    batch.complete(&Value::BulkString(bytes), Duration::ZERO, &Cmd::new(), &address)?;
    let responses = receivers.into_iter().map(|mut receiver| receiver.try_recv().unwrap());
    Ok(responses.collect::<Vec<_>>().try_into().unwrap())
}

fn remaining(response: &Response) -> u64 {
    response.as_ref().unwrap().tiers()[0].verdict.remaining()
}

const NOW: &str = "07";
/// Admitted with five remaining.
const ADMITTED: &str = "00 05 00 09 07 00";
/// Failed with the first failure, which is this text.
const FAILED: &str = "03 01 00 00 ff ff";
const FAILURE: &str = "a34f4f4d";

#[test]
fn invalid_values_fail_their_operation_alone() {
    for (invalid, reason) in [
        ("ff 05 00 09 07 00", "a number is negative"),
        ("00 ff 00 09 07 00", "a number is negative"),
        ("01 00 d0f8 09 ff ff", "a number is negative"),
        ("04 05 00 09 07 00", "4 is not an outcome"),
        ("03 02 00 00 ff ff", "there is no failure 2"),
        ("00 cb3ff8000000000000 00 09 07 00", "not Some(Inexact)"),
        ("00 05 00 cf0020000000000001 07 00", "not Some(Inexact)"),
        ("00 05 00 09 ca3fc00000 00", "not Some(Inexact)"),
    ] {
        for [one, other] in [
            [invalid, ADMITTED],
            [ADMITTED, invalid],
            [invalid, FAILED],
            [FAILED, invalid],
        ] {
            let values = format!("{NOW} {ADMITTED} {one} {other} {ADMITTED} {FAILURE}");
            let [first, second, third] = responses(&values).unwrap();
            assert_eq!([first, third].map(|response| remaining(&response)), [5, 5], "{values}");
            let error = second.unwrap_err();
            assert!(matches!(error, StoreError::Protocol { .. }), "{values}: {error:?}");
            assert!(error.to_string().contains(reason), "{values}: {error}");
            assert!(error.may_have_charged());
        }
    }
}

#[test]
fn a_broken_frame_fails_all_operations() {
    let three = [ADMITTED; 3].join(" ");
    for values in [
        format!("ff {three} {ADMITTED}"),
        format!("cb3ff8000000000000 {three} {ADMITTED}"),
        format!("{NOW} {three} 00 05 00 09 07"),
        format!("{NOW} {three} 00 05 00 09 07 cd00"),
        format!("{NOW} {three} 00 05 a24f4b 09 07 00"),
        format!("{NOW} {three} 00 05 c0 09 07 00"),
        format!("{NOW} {three} {ADMITTED} ff"),
        format!("{NOW} {three} {ADMITTED} ca3fc00000"),
    ] {
        let error = responses(&values).unwrap_err();
        assert!(matches!(error, StoreError::Protocol { .. }), "{values}: {error:?}");
    }
}
