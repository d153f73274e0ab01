//! Tests of `batch`.

use super::*;
use crate::{
    algorithm::{Concurrency, FixedWindow},
    charge::Charges,
    key::Key,
    limit::Limit,
    quota::Quota,
};

fn charge() -> Charge {
    Charge::new(Limit::new("user", FixedWindow::new(Quota::per_minute(10))), Key::GLOBAL)
}

/// A reply with these MessagePack values, in hexadecimal digits.
fn reply(values: &str) -> Value {
    let mut bytes = vec![0xdc, 0, values.split_whitespace().count() as u8];
    for value in values.split_whitespace() {
        let byte = |at| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
        bytes.extend((0..value.len()).step_by(2).map(byte));
    }
    Value::BulkString(bytes)
}

/// The responses to three requests from a reply with these values. The second request has two charges.
fn responses(values: &str) -> Result<[Response; 3], StoreError> {
    let address: Arc<str> = "127.0.0.1:6379".into();
    let timeout = Duration::from_secs(1);
    let acquire = |charges| Operation::Acquire(Charges::from_distinct((0..charges).map(|_| charge())));
    let request = |charges| Request::new(acquire(charges), Instant::now() + timeout);
    let (requests, receivers): (Vec<_>, Vec<_>) = [1, 2, 1].map(request).into_iter().unzip();
    let mut batch = Batch::new(requests, &address, timeout, None, None);
    batch.complete(&reply(values), Duration::ZERO, &Cmd::new(), &address)?;
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

/// Denied, with a wait of a second.
const DENIED: &str = "01 00 ce000f4240 09 ff ff";

/// Acquires of slots by one node, each in a batch of its own.
struct SlotBatch {
    batch: Batch,
    response: oneshot::Receiver<Response>,
}

impl SlotBatch {
    fn sent(holder: &Arc<NodeHolder>, charges: Vec<Charge>) -> Self {
        let timeout = Duration::from_secs(1);
        let operation = Operation::Acquire(Charges::from_distinct(charges));
        let (mut request, response) = Request::new(operation, Instant::now() + timeout);
        request.add_slot_calls(holder);
        let mut batch = Batch::new(vec![request], &"127.0.0.1:6379".into(), timeout, None, None);
        assert!(batch.mark_sent());
        Self { batch, response }
    }

    fn complete(mut self, verdicts: &str) -> Response {
        complete(&mut self.batch, verdicts);
        self.response.try_recv().unwrap()
    }
}

fn complete(batch: &mut Batch, verdicts: &str) {
    let (reply, address) = (reply(&format!("{NOW} {verdicts}")), Arc::clone(&batch.address));
    assert!(batch.complete(&reply, Duration::ZERO, &Cmd::new(), &address).is_ok());
}

fn slot() -> Charge {
    Charge::new(Limit::new("uploads", Concurrency::new(9)), Key::GLOBAL)
}

/// After a lost answer, only what was acquired is in doubt.
#[test]
fn a_denial_applies_after_a_lost_answer() {
    let holder = Arc::new(NodeHolder::new(Arc::default()));
    let [lost, denied, admitted] = [(); 3].map(|()| SlotBatch::sent(&holder, vec![slot()]));
    drop(lost);
    assert!(!denied.complete(DENIED).unwrap().admits());
    assert!(matches!(admitted.complete(ADMITTED), Err(StoreError::Superseded)));
}

#[test]
fn a_shadow_in_doubt_fails_no_request() {
    let holder = Arc::new(NodeHolder::new(Arc::default()));
    let [lost, shadow] =
        [vec![slot()], vec![charge(), slot().shadow()]].map(|charges| SlotBatch::sent(&holder, charges));
    drop(lost);
    let decision = shadow.complete(&[ADMITTED; 2].join(" ")).unwrap();
    // Its slots do not count, so they are not released.
    let marks: Vec<_> = decision.tiers().iter().map(|tier| tier.mark.is_some()).collect();
    assert_eq!(marks, [true, false]);
}

/// The first request has timed out by the time of the reply.
#[test]
fn slots_that_nobody_waits_for_do_not_fail_the_others_of_their_reply() {
    let holder = Arc::new(NodeHolder::new(Arc::default()));
    let timeout = Duration::from_secs(1);
    let request = |()| {
        let (mut request, response) = Request::new(Operation::Acquire(slot().into()), Instant::now() + timeout);
        request.add_slot_calls(&holder);
        (request, response)
    };
    let (requests, mut responses): (Vec<_>, Vec<_>) = [(); 2].map(request).into_iter().unzip();
    let mut batch = Batch::new(requests, &"127.0.0.1:6379".into(), timeout, None, None);
    assert!(batch.mark_sent());
    drop(responses.remove(0));
    complete(&mut batch, &[ADMITTED; 2].join(" "));
    assert!(responses[0].try_recv().unwrap().unwrap().admits());
}
