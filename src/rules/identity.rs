//! Whom a limit counts by.

use http::{Request, header::COOKIE};
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
    #[cfg(feature = "axum")]
    MatchedRoute,
    Method,
    Header(Header),
    ApiKey(ApiKey),
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
            (Err(error), Some(StandIn::Word(word))) if error.is_absence() => Ok(word.clone()),
            (Err(error), Some(StandIn::Ip)) if error.is_absence() => trust.address(request),
            (found, _) => found,
        }
    }
}

impl Part {
    fn of<B>(&self, request: &Request<B>, trust: &Trust) -> Result<Key, KeyError> {
        let key = match self {
            Self::Constant(key) => return Ok(key.clone()),
            Self::Ip => return trust.address(request),
            #[cfg(feature = "axum")]
            Self::MatchedRoute => Route.extract(request),
            Self::Method => HttpMethod.extract(request),
            Self::Header(header) => return header.of(trust.header(request, header.name())?),
            Self::ApiKey(key) => return key.of(trust.header(request, key.name())?),
            Self::Query(parameter) => parameter.extract(request),
            Self::Cookie(cookie) => match trust.believes(request, &COOKIE)? {
                true => cookie.extract(request),
                false => Err(KeyError::missing("the `cookie` header")),
            },
        };
        Ok(key?.expect("none of these exempts a request"))
    }
}
