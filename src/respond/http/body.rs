//! The bodies of rejections.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use http::HeaderValue;

use super::super::Rejection;
use crate::{decision::TierDecision, extract::KeyError};

/// The body of a rejection and its content type, for [`HttpResponder::body`](crate::HttpResponder::body).
///
/// ```
/// use tollgate::{RejectionBody, HttpResponder};
///
/// let responder = HttpResponder::new()
///     .body(|rejection| RejectionBody::json(format!(r#"{{"code":{}}}"#, rejection.status().as_u16())));
/// # let _ = responder;
/// ```
#[derive(Clone, Debug)]
pub struct RejectionBody {
    pub(super) content_type: HeaderValue,
    pub(super) text: String,
}

impl RejectionBody {
    /// A body with this content type.
    pub fn new(content_type: HeaderValue, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { content_type, text }
    }

    /// A body of `application/json`.
    pub fn json(text: impl Into<String>) -> Self {
        Self::new(HeaderValue::from_static("application/json"), text)
    }

    /// Problem details (RFC 9457) of this type: for a custom body that knows more than [`HttpResponder::problem_details`] does.
    ///
    /// ```
    /// use tollgate::{HttpResponder, ProblemType, Rejection, RejectionBody};
    ///
    /// // The block list of this service has the addresses of scrapers.
    /// let responder = HttpResponder::new().body(|rejection| match rejection {
    ///     Rejection::Blocked => RejectionBody::problem_details(rejection, ProblemType::AbnormalUsageDetected),
    ///     _ => RejectionBody::plain(rejection.to_string()),
    /// });
    /// # let _ = responder;
    /// ```
    ///
    /// [`HttpResponder::problem_details`]: crate::HttpResponder::problem_details
    pub fn problem_details(rejection: &Rejection, problem_type: ProblemType) -> Self {
        problem_details(rejection, Some(problem_type))
    }

    /// A body of `text/plain`.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(HeaderValue::from_static("text/plain; charset=utf-8"), text)
    }
}

/// The problem types that the IETF draft registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemType {
    /// A limit denied the request.
    QuotaExceeded,
    /// The service has less capacity than usual: the store failed, and the layer fails closed.
    TemporaryReducedCapacity,
    /// The service takes the request for abuse. No layer concludes this by itself.
    AbnormalUsageDetected,
}

impl ProblemType {
    fn uri(self) -> &'static str {
        match self {
            Self::QuotaExceeded => "https://iana.org/assignments/http-problem-types#quota-exceeded",
            Self::TemporaryReducedCapacity => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
            Self::AbnormalUsageDetected => "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
        }
    }

    /// The type of a rejection that has one.
    fn of(rejection: &Rejection) -> Option<Self> {
        match rejection {
            Rejection::Limited(decision) if decision.is_unavailable() => Some(Self::TemporaryReducedCapacity),
            Rejection::Limited(_) => Some(Self::QuotaExceeded),
            Rejection::Unavailable(_) => Some(Self::TemporaryReducedCapacity),
            Rejection::Key(_) | Rejection::Blocked => None,
        }
    }
}

/// The format of bodies.
#[derive(Clone)]
pub(super) enum BodyFormat {
    Json,
    ProblemDetails,
    Custom(Arc<dyn Fn(&Rejection) -> RejectionBody + Send + Sync>),
}

impl BodyFormat {
    pub(super) fn body(&self, rejection: &Rejection) -> RejectionBody {
        match self {
            Self::Json => json(rejection),
            Self::ProblemDetails => problem_details(rejection, ProblemType::of(rejection)),
            Self::Custom(body) => body(rejection),
        }
    }
}

fn json(rejection: &Rejection) -> RejectionBody {
    let error = match rejection {
        Rejection::Limited(decision) if decision.waits_for_slot() => "concurrency_limit_exceeded",
        Rejection::Limited(_) => "rate_limit_exceeded",
        Rejection::Unavailable(_) => "rate_limiter_unavailable",
        Rejection::Key(KeyError::Missing { .. }) => "rate_limit_key_missing",
        Rejection::Key(KeyError::Ambiguous { .. }) => "rate_limit_key_ambiguous",
        Rejection::Key(KeyError::NotProvided { .. }) => "rate_limiter_misconfigured",
        Rejection::Blocked => "request_blocked",
    };
    let message = JsonString(&rejection.to_string()).to_string();
    let retry_after = retry_after(rejection);
    RejectionBody::json(format!(r#"{{"error":"{error}","message":{message}{retry_after}}}"#))
}

/// Problem details (RFC 9457), with the types and the member that the IETF draft on rate limits registers.
fn problem_details(rejection: &Rejection, problem_type: Option<ProblemType>) -> RejectionBody {
    let kind = problem_type.map_or("about:blank", ProblemType::uri);
    let (status, detail) = (rejection.status(), JsonString(&rejection.to_string()).to_string());
    let title = status.canonical_reason().unwrap_or_default();
    let (violated, retry_after, status) = (violated_policies(rejection), retry_after(rejection), status.as_u16());
    RejectionBody::new(
        HeaderValue::from_static("application/problem+json"),
        format!(r#"{{"type":"{kind}","title":"{title}","status":{status},"detail":{detail}{violated}{retry_after}}}"#),
    )
}

fn retry_after(rejection: &Rejection) -> String {
    rejection
        .retry_after_secs()
        .map_or_else(String::new, |seconds| format!(r#","retry_after":{seconds}"#))
}

/// The names of the visible tiers that denied the request; none if only hidden ones did.
fn violated_policies(rejection: &Rejection) -> String {
    let Rejection::Limited(decision) = rejection else {
        return String::new();
    };
    let denied = |tier: &&TierDecision| tier.is_visible() && !tier.verdict().outcome().admits();
    let names = decision.tiers().iter().filter(denied);
    let names: Vec<_> = names.map(|tier| format!("\"{}\"", tier.limit().name())).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(r#","violated-policies":[{}]"#, names.join(",")),
    }
}

/// A text as a JSON string.
struct JsonString<'a>(&'a str);

impl fmt::Display for JsonString<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' | '\\' => write!(f, "\\{char}")?,
                '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(char))?,
                _ => f.write_char(char)?,
            }
        }
        f.write_char('"')
    }
}

impl fmt::Debug for BodyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "Json",
            Self::ProblemDetails => "ProblemDetails",
            Self::Custom(_) => "Custom",
        })
    }
}
