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

    /// A body of `text/plain`.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(HeaderValue::from_static("text/plain; charset=utf-8"), text)
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
            Self::ProblemDetails => problem_details(rejection),
            Self::Custom(body) => body(rejection),
        }
    }
}

fn json(rejection: &Rejection) -> RejectionBody {
    let error = match rejection {
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
fn problem_details(rejection: &Rejection) -> RejectionBody {
    const TYPES: &str = "https://iana.org/assignments/http-problem-types#";
    let kind = match rejection {
        Rejection::Limited(_) => format!("{TYPES}quota-exceeded"),
        Rejection::Unavailable(_) => format!("{TYPES}temporary-reduced-capacity"),
        Rejection::Key(_) | Rejection::Blocked => "about:blank".into(),
    };
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
