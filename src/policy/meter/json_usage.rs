//! The cost that a JSON response or an event stream states.

use std::sync::Arc;

use axum::{body::Body, response::Response};
use http::{
    HeaderMap, HeaderName,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use smallvec::SmallVec;

use super::{
    body_meter::{BodyMeter, MeterBody, SentBody},
    event_stream::{EventStream, Part},
    json_numbers::{JsonNumbers, Path},
};
use crate::config_error::{self, ConfigError};

/// Where a response states its cost: the paths of numbers in a JSON body, or in the events of an event stream.
///
/// The cost is the last whole number at one of the paths. A path names nested members of objects, `usage.total_tokens`; members of
/// objects in arrays have none. The body is read while it is sent, in constant memory: it is never buffered.
///
/// The charge stays as it was if the body has no such number, is compressed, or is neither JSON (a `Content-Type` that ends with
/// `json`, or none) nor an event stream (`text/event-stream`). A number is not doubted: one above 2<sup>32</sup> - 1 counts as
/// 2<sup>32</sup> - 1, and a tier is charged up to twice its capacity in all.
///
/// ```
/// use axum::{Router, extract::Request};
/// use tollgate::{Header, JsonUsage, MemoryStore, Quota, QuotaUnit, RateLimitLayer, Tier};
///
/// // 100,000 tokens per minute and tenant. A request reserves 4,000, and is settled to what its answer used.
/// let tokens = Tier::token_bucket("tokens", Quota::per_minute(100_000), Header::new("x-tenant"))
///     .quota_unit(QuotaUnit::new("tokens"))
///     .cost(|_: &Request| 4_000)
///     .meter_body(JsonUsage::openai());
/// let app: Router = Router::new().layer(RateLimitLayer::new(tokens, MemoryStore::new()));
/// # let _ = app;
/// ```
#[derive(Clone, Debug)]
pub struct JsonUsage {
    paths: Arc<[Path]>,
    /// For each path, the index of the number that it is an alternative for.
    terms: Arc<[usize]>,
    /// The numbers before anything is read: 0 for those that need not be stated.
    initial: SmallVec<[Option<u64>; 4]>,
}

impl JsonUsage {
    /// The tokens of OpenAI's API and of those that follow it: `usage.total_tokens`, or `response.usage.total_tokens` in the events of
    /// its Responses API. A streamed chat completion states its usage only if the request has `stream_options.include_usage`.
    pub fn openai() -> Self {
        Self::at(["usage.total_tokens", "response.usage.total_tokens"])
    }

    /// The tokens of Anthropic's Messages API: the sum of `usage.input_tokens`, which a stream states in `message.usage`, those that were
    /// written to its cache or read from it, and `usage.output_tokens`.
    pub fn anthropic() -> Self {
        let written = "usage.cache_creation_input_tokens";
        let read = "usage.cache_read_input_tokens";
        Self::at(["usage.input_tokens", "message.usage.input_tokens"])
            .plus_if_stated([written, "message.usage.cache_creation_input_tokens"])
            .plus_if_stated([read, "message.usage.cache_read_input_tokens"])
            .plus(["usage.output_tokens"])
    }

    /// The last number at one of these paths.
    ///
    /// # Panics
    /// If [`try_at`](Self::try_at) returns an error.
    #[track_caller]
    pub fn at<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        config_error::expect(Self::try_at(paths))
    }

    /// Like [`at`](Self::at), or an error if a path is not names separated by dots.
    pub fn try_at<'p>(paths: impl IntoIterator<Item = &'p str>) -> Result<Self, ConfigError> {
        let none = Self {
            paths: Arc::default(),
            terms: Arc::default(),
            initial: SmallVec::new(),
        };
        none.try_plus(paths)
    }

    /// Adds the last number at one of these paths. A cost is known only if all numbers are that were added in this way.
    ///
    /// # Panics
    /// If [`try_plus`](Self::try_plus) returns an error.
    #[must_use]
    #[track_caller]
    pub fn plus<'p>(self, paths: impl IntoIterator<Item = &'p str>) -> Self {
        config_error::expect(self.try_plus(paths))
    }

    /// Like [`plus`](Self::plus), or an error if a path is not names separated by dots.
    pub fn try_plus<'p>(self, paths: impl IntoIterator<Item = &'p str>) -> Result<Self, ConfigError> {
        self.try_add(None, paths)
    }

    /// Adds the last number at one of these paths, or nothing if there is none.
    ///
    /// # Panics
    /// If [`try_plus_if_stated`](Self::try_plus_if_stated) returns an error.
    #[must_use]
    #[track_caller]
    pub fn plus_if_stated<'p>(self, paths: impl IntoIterator<Item = &'p str>) -> Self {
        config_error::expect(self.try_plus_if_stated(paths))
    }

    /// Like [`plus_if_stated`](Self::plus_if_stated), or an error if a path is not names separated by dots.
    pub fn try_plus_if_stated<'p>(self, paths: impl IntoIterator<Item = &'p str>) -> Result<Self, ConfigError> {
        self.try_add(Some(0), paths)
    }

    fn try_add<'p>(
        mut self,
        initial: Option<u64>,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, ConfigError> {
        let parse = |text: &str| {
            let must = "be names separated by dots, like usage.total_tokens";
            Path::parse(text).ok_or_else(|| ConfigError::new("path", format_args!("{text:?}"), must))
        };
        let added = paths.into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let terms = self.terms.iter().copied();
        self.terms = terms.chain(added.iter().map(|_| self.initial.len())).collect();
        self.paths = self.paths.iter().cloned().chain(added).collect();
        self.initial.push(initial);
        Ok(self)
    }

    /// A meter for a response with these headers.
    pub fn meter(&self, headers: &HeaderMap) -> UsageMeter {
        UsageMeter {
            format: Format::of(headers),
            terms: Arc::clone(&self.terms),
            values: self.initial.clone(),
            numbers: JsonNumbers::new(Arc::clone(&self.paths)),
        }
    }
}

impl MeterBody for JsonUsage {
    type Meter = UsageMeter;

    fn meter(&self, response: &Response<Body>) -> UsageMeter {
        self.meter(response.headers())
    }
}

/// Reads the cost that a response [states](JsonUsage).
#[derive(Debug)]
pub struct UsageMeter {
    format: Format,
    numbers: JsonNumbers,
    terms: Arc<[usize]>,
    /// The last value of each number.
    values: SmallVec<[Option<u64>; 4]>,
}

#[derive(Debug)]
enum Format {
    /// One JSON text, or several in sequence.
    Json,
    EventStream(EventStream),
    Unreadable,
}

impl Format {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        if text(CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            return Self::Unreadable;
        }
        let content_type = text(CONTENT_TYPE).unwrap_or("application/json");
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        match media_type.as_str() {
            "text/event-stream" => Self::EventStream(EventStream::default()),
            json if json.ends_with("json") => Self::Json,
            _ => Self::Unreadable,
        }
    }
}

impl UsageMeter {
    /// The stated cost so far; `None` unless all numbers are known.
    pub fn usage(&self) -> Option<u64> {
        let sum = |sum: u64, value: &Option<u64>| Some(sum.saturating_add((*value)?));
        self.values.iter().try_fold(0, sum)
    }

    /// Whether the response is an event stream.
    pub fn is_event_stream(&self) -> bool {
        matches!(self.format, Format::EventStream(_))
    }

    /// The number of events with data so far, including one that has only begun. 0 if it is not an event stream.
    pub fn events(&self) -> u64 {
        match &self.format {
            Format::EventStream(stream) => stream.events(),
            Format::Json | Format::Unreadable => 0,
        }
    }
}

/// The cost is the stated one, wherever the body ends.
impl BodyMeter for UsageMeter {
    fn read(&mut self, data: &[u8]) {
        let Self {
            format,
            numbers,
            terms,
            values,
        } = self;
        let mut found = |path: usize, value| values[terms[path]] = Some(value);
        match format {
            Format::Json => numbers.read(data, found),
            Format::EventStream(stream) => stream.read(data, |part| match part {
                Part::Data(data) => numbers.read(data, &mut found),
                Part::End => numbers.restart(),
            }),
            Format::Unreadable => {}
        }
    }

    fn cost(&self, _: &SentBody) -> Option<u64> {
        self.usage()
    }
}
