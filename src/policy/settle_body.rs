//! Corrections of a tier's charge when the response body ends.

use std::{
    fmt, mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::{Body, Bytes, HttpBody};
use http::{Extensions, Response, header::CONTENT_LENGTH};
use http_body::{Frame, SizeHint};

use super::{options::TierOptions, policy::Sealed, settlement::TierSettlement};
use crate::extract::IntoCost;

/// Corrects a tier's charge to the cost that a closure returns when the response body ends.
#[derive(Clone)]
pub struct SettleBody<F>(pub(super) F);

impl<F> Sealed for SettleBody<F> {}

impl<Req, F, C> TierOptions<Req, Response<Body>> for SettleBody<F>
where
    F: Fn(&SentBody) -> C + Clone + Send + 'static,
    C: IntoCost,
{
    fn may_settle(&self) -> bool {
        true
    }

    fn settle_at_end(&self, response: &mut Response<Body>, settlement: &mut TierSettlement<'_, '_>) {
        let Some(charge) = settlement.take() else {
            return;
        };
        let cost = self.0.clone();
        let settle = move |sent: &SentBody, ending| match (cost(sent).into_cost(), ending) {
            (Some(cost), Ending::Complete) => charge.settle(cost),
            (Some(cost), Ending::Early) => charge.raise_to(cost),
            (None, _) => {}
        };
        let length = response.headers().get(CONTENT_LENGTH);
        let metered = Metered {
            length: length.and_then(|length| length.to_str().ok()?.parse().ok()),
            sent: SentBody {
                bytes: 0,
                extensions: response.extensions().clone(),
            },
            is_polled: false,
            settle: Some(Box::new(settle)),
            body: mem::take(response.body_mut()),
        };
        *response.body_mut() = Body::new(metered);
    }
}

/// The part of a response that was handed on to the client's connection, known when its body ends.
#[derive(Debug)]
pub struct SentBody {
    bytes: u64,
    extensions: Extensions,
}

impl SentBody {
    /// The number of bytes of the body, without trailers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The extensions of the response. A handler can put a counter there that its body increments.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

/// How a body ended.
#[derive(Clone, Copy)]
enum Ending {
    Complete,
    /// It failed, or it was dropped, usually because the client disconnected.
    Early,
}

/// The callback at the end of a body.
type AtEnd = Box<dyn FnOnce(&SentBody, Ending) + Send>;

/// A body that counts the bytes sent, and settles at its end. An early end only raises the charge: otherwise a client could read
/// all but the last byte at the price of the estimate, or get a refund for what the service produced in vain.
struct Metered {
    body: Body,
    /// The announced length, if there is one: a body is not polled again after that many bytes.
    length: Option<u64>,
    sent: SentBody,
    /// A body that is never polled, as in responses to HEAD, is not sent at all, and keeps its charge.
    is_polled: bool,
    settle: Option<AtEnd>,
}

impl Metered {
    fn is_complete(&self) -> bool {
        self.body.is_end_stream() || self.length == Some(self.sent.bytes)
    }

    fn settle(&mut self, ending: Ending) {
        if let Some(settle) = self.settle.take() {
            settle(&self.sent, ending);
        }
    }
}

impl HttpBody for Metered {
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
                self.sent.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                if self.is_complete() {
                    self.settle(Ending::Complete);
                }
            }
            Some(Err(_)) => self.settle(Ending::Early),
            None => self.settle(Ending::Complete),
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
impl Drop for Metered {
    fn drop(&mut self) {
        if self.is_complete() {
            self.settle(Ending::Complete);
        } else if self.is_polled {
            self.settle(Ending::Early);
        }
    }
}

impl<F> fmt::Debug for SettleBody<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettleBody").finish_non_exhaustive()
    }
}
