//! Whom a limit counts by.

use http::{HeaderName, Request, header::COOKIE};
use smallvec::SmallVec;

use super::trust::Trust;
#[cfg(feature = "axum")]
use crate::extract::Route;
use crate::{
    extract::{ApiKey, Cookie, Header, HttpMethod, KeyError, KeyExtractor, QueryParam},
    key::Key,
};

/// A key of one part or of several, and what stands in for those that a request does not have.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) parts: Vec<Part>,
    pub(super) default: Option<StandIn>,
}

/// What is read from a request.
#[derive(Debug)]
pub(super) enum Part {
    /// The same for all: everybody, or the path of the limit.
    Constant(Key),
    Ip,
    /// The route that axum matched, for a limit without a path of its own.
    MatchedRoute,
    Method,
    Header(HeaderName, Header),
    ApiKey(HeaderName, ApiKey),
    Query(QueryParam),
    Cookie(Cookie),
}

#[derive(Debug)]
pub(super) enum StandIn {
    Word(Key),
    Ip,
}

impl Identity {
    pub(super) fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match &*self.parts {
            [part] => self.part(part, request, trust),
            parts => {
                let keys = parts.iter().map(|part| self.part(part, request, trust));
                let keys = keys.collect::<Result<SmallVec<[Key; 4]>, _>>()?;
                Ok(Key::joined(&keys))
            }
        }
    }

    fn part<B>(&self, part: &Part, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        match (part.of(request, trust), &self.default) {
            (Err(_), Some(StandIn::Word(word))) => Ok(word.clone()),
            (Err(_), Some(StandIn::Ip)) => trust.address(request),
            (found, _) => found,
        }
    }
}

impl Part {
    fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        let key = match self {
            Self::Constant(key) => return Ok(key.clone()),
            Self::Ip => return trust.address(request),
            Self::MatchedRoute => matched_route(request),
            Self::Method => HttpMethod.extract(request),
            Self::Header(name, _) | Self::ApiKey(name, _) if !trust.believes(request, name) => {
                return Err(KeyError::missing(format!("the `{name}` header")));
            }
            Self::Cookie(_) if !trust.believes(request, &COOKIE) => {
                return Err(KeyError::missing("the `cookie` header"));
            }
            Self::Header(_, header) => header.extract(request),
            Self::ApiKey(_, key) => key.extract(request),
            Self::Query(parameter) => parameter.extract(request),
            Self::Cookie(cookie) => cookie.extract(request),
        };
        Ok(key?.expect("none of these exempts a request"))
    }
}

#[cfg(feature = "axum")]
fn matched_route<B>(request: &Request<B>) -> Result<Option<Key>, KeyError> {
    Route.extract(request)
}

/// There is no router to ask: all requests count as one, never by their path, which clients make up.
#[cfg(not(feature = "axum"))]
fn matched_route<B>(_: &Request<B>) -> Result<Option<Key>, KeyError> {
    Ok(Some(Key::stand_in("unmatched")))
}
