//! The bodies of refusals.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use http::HeaderValue;

use super::{Rejection, status};
use crate::{decision::Tier, extract::KeyError};

/// A body and its type.
#[derive(Clone, Debug)]
pub struct AnswerBody {
    pub(super) content_type: HeaderValue,
    pub(super) text: String,
}

impl AnswerBody {
    /// A text of this type, like `application/json`.
    ///
    /// # Panics
    /// When the type is no header's value, which a constant shows at once.
    #[track_caller]
    pub fn new(content_type: &'static str, text: impl Into<String>) -> Self {
        Self {
            content_type: HeaderValue::from_static(content_type),
            text: text.into(),
        }
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
        Rejection::Key(_) => "rate_limiter_misconfigured",
    };
    let message = Quoted(&why.to_string()).to_string();
    let retry_after = retry_after(why);
    AnswerBody::new(
        "application/json",
        format!(r#"{{"error":"{error}","message":{message}{retry_after}}}"#),
    )
}

/// RFC 9457, with the types and the member that the IETF's draft on rate limits registers.
fn problem_details(why: &Rejection) -> AnswerBody {
    const TYPES: &str = "https://iana.org/assignments/http-problem-types#";
    let (kind, title) = match why {
        Rejection::Limited(_) => (format!("{TYPES}quota-exceeded"), "Too many requests"),
        Rejection::Unavailable(_) => (format!("{TYPES}temporary-reduced-capacity"), "Rate limiter unavailable"),
        Rejection::Key(KeyError::Missing { .. }) => ("about:blank".into(), "Bad request"),
        Rejection::Key(_) => ("about:blank".into(), "Internal server error"),
    };
    let (status, detail) = (status(why).as_u16(), Quoted(&why.to_string()).to_string());
    let (violated, retry_after) = (violated_policies(why), retry_after(why));
    AnswerBody::new(
        "application/problem+json",
        format!(r#"{{"type":"{kind}","title":"{title}","status":{status},"detail":{detail}{violated}{retry_after}}}"#),
    )
}

fn retry_after(why: &Rejection) -> String {
    why.retry_after_secs()
        .map_or_else(String::new, |seconds| format!(r#","retry_after":{seconds}"#))
}

/// The listed tiers that refused, by name.
fn violated_policies(why: &Rejection) -> String {
    let Rejection::Limited(decision) = why else {
        return String::new();
    };
    let refused = |tier: &&Tier| tier.is_listed() && !tier.verdict().outcome().admits();
    let names = decision.tiers().iter().filter(refused);
    let names: Vec<_> = names.map(|tier| format!("\"{}\"", tier.limit().name())).collect();
    format!(r#","violated-policies":[{}]"#, names.join(","))
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
