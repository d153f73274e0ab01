//! The bodies of refusals.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use http::HeaderValue;

use super::super::Rejection;
use crate::{decision::Tier, extract::KeyError};

/// A body and its type, as [`HttpAnswers::body`](crate::HttpAnswers::body) takes it.
///
/// ```
/// use tollgate::{AnswerBody, HttpAnswers};
///
/// let answers = HttpAnswers::new().body(|why| AnswerBody::json(format!(r#"{{"code":{}}}"#, why.status().as_u16())));
/// # let _ = answers;
/// ```
#[derive(Clone, Debug)]
pub struct AnswerBody {
    pub(super) content_type: HeaderValue,
    pub(super) text: String,
}

impl AnswerBody {
    /// A text of this type.
    pub fn new(content_type: HeaderValue, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { content_type, text }
    }

    /// A text of `application/json`.
    pub fn json(text: impl Into<String>) -> Self {
        Self::new(HeaderValue::from_static("application/json"), text)
    }

    /// A text of `text/plain`.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(HeaderValue::from_static("text/plain; charset=utf-8"), text)
    }
}

/// The form that bodies take.
#[derive(Clone)]
pub(super) enum Form {
    Json,
    ProblemDetails,
    Own(Arc<dyn Fn(&Rejection) -> AnswerBody + Send + Sync>),
}

impl Form {
    pub(super) fn body(&self, why: &Rejection) -> AnswerBody {
        match self {
            Self::Json => json(why),
            Self::ProblemDetails => problem_details(why),
            Self::Own(body) => body(why),
        }
    }
}

fn json(why: &Rejection) -> AnswerBody {
    let error = match why {
        Rejection::Limited(_) => "rate_limit_exceeded",
        Rejection::Unavailable(_) => "rate_limiter_unavailable",
        Rejection::Key(KeyError::Missing { .. }) => "rate_limit_key_missing",
        Rejection::Key(KeyError::NotProvided { .. }) => "rate_limiter_misconfigured",
        Rejection::Denied => "request_denied",
    };
    let message = Quoted(&why.to_string()).to_string();
    let retry_after = retry_after(why);
    AnswerBody::json(format!(r#"{{"error":"{error}","message":{message}{retry_after}}}"#))
}

/// RFC 9457, with the types and the member that the IETF's draft on rate limits registers.
fn problem_details(why: &Rejection) -> AnswerBody {
    const TYPES: &str = "https://iana.org/assignments/http-problem-types#";
    let kind = match why {
        Rejection::Limited(_) => format!("{TYPES}quota-exceeded"),
        Rejection::Unavailable(_) => format!("{TYPES}temporary-reduced-capacity"),
        Rejection::Key(_) | Rejection::Denied => "about:blank".into(),
    };
    let (status, detail) = (why.status(), Quoted(&why.to_string()).to_string());
    let title = status.canonical_reason().unwrap_or_default();
    let (violated, retry_after, status) = (violated_policies(why), retry_after(why), status.as_u16());
    AnswerBody::new(
        HeaderValue::from_static("application/problem+json"),
        format!(r#"{{"type":"{kind}","title":"{title}","status":{status},"detail":{detail}{violated}{retry_after}}}"#),
    )
}

fn retry_after(why: &Rejection) -> String {
    why.retry_after_secs()
        .map_or_else(String::new, |seconds| format!(r#","retry_after":{seconds}"#))
}

/// The listed tiers that refused, by name; none when it was an unlisted one.
fn violated_policies(why: &Rejection) -> String {
    let Rejection::Limited(decision) = why else {
        return String::new();
    };
    let refused = |tier: &&Tier| tier.is_listed() && !tier.verdict().outcome().admits();
    let names = decision.tiers().iter().filter(refused);
    let names: Vec<_> = names.map(|tier| format!("\"{}\"", tier.limit().name())).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(r#","violated-policies":[{}]"#, names.join(",")),
    }
}

/// A text as JSON writes it.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
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

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "Json",
            Self::ProblemDetails => "ProblemDetails",
            Self::Own(_) => "Own",
        })
    }
}
