//! A response body that is read while it is sent, and settles a charge at its end.

use std::{
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::{Body, Bytes, HttpBody};
use http::{Response, header::CONTENT_LENGTH};
use http_body::{Frame, SizeHint};

use super::{
    super::settlement::{TierSettlement, UnsettledCharge},
    body_meter::{BodyMeter, SentBody},
};

/// A body that is read while it is sent, and settles a charge at its end.
struct MeteredBody<M: BodyMeter> {
    body: Body,
    /// The announced length, if there is one: a body is not polled again after that many bytes.
    length: Option<u64>,
    sent: SentBody,
    /// A body that is never polled, as in responses to HEAD, is not sent at all, and keeps its charge.
    is_polled: bool,
    meter: M,
    /// `None` once it is settled.
    charge: Option<UnsettledCharge>,
}

/// Settles a tier's charge by the meter when the body of the response ends.
pub(crate) fn settle_at_end<M: BodyMeter>(
    response: &mut Response<Body>,
    settlement: &mut TierSettlement<'_, '_>,
    meter: impl FnOnce(&Response<Body>) -> M,
) {
    let Some(charge) = settlement.take() else {
        return;
    };
    let meter = meter(response);
    let length = response.headers().get(CONTENT_LENGTH);
    let metered = MeteredBody {
        length: length.and_then(|length| length.to_str().ok()?.parse().ok()),
        sent: SentBody {
            bytes: 0,
            is_complete: false,
            charged: charge.cost(),
            extensions: response.extensions().clone(),
        },
        is_polled: false,
        meter,
        charge: Some(charge),
        body: mem::take(response.body_mut()),
    };
    *response.body_mut() = Body::new(metered);
}

impl<M: BodyMeter> MeteredBody<M> {
    fn is_complete(&self) -> bool {
        self.body.is_end_stream() || self.length == Some(self.sent.bytes)
    }

    fn settle(&mut self, is_complete: bool) {
        self.sent.is_complete = is_complete;
        if let Some(charge) = self.charge.take()
            && let Some(cost) = self.meter.cost(&self.sent)
        {
            charge.settle(cost);
        }
    }
}

/// Nothing is pinned: a [`Body`] can be moved, and a meter is only called.
impl<M: BodyMeter> Unpin for MeteredBody<M> {}

impl<M: BodyMeter> HttpBody for MeteredBody<M> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.is_polled = true;
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.sent.bytes += data.len() as u64;
                    self.meter.read(data);
                }
                if self.is_complete() {
                    self.settle(true);
                }
            }
            Some(Err(_)) => self.settle(false),
            None => self.settle(true),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that is complete is not always polled again.
impl<M: BodyMeter> Drop for MeteredBody<M> {
    fn drop(&mut self) {
        if self.is_complete() {
            self.settle(true);
        } else if self.is_polled {
            self.settle(false);
        }
    }
}
