//! Parses a line of a trace: a request, its time, its cost and its duration.

use std::{net::IpAddr, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use serde_json::{Map, Value};
use tollgate::{Cost, MAX_TIMESTAMP, Micros};

use crate::simulate::{replay::MAX_HELD, set_peer};

const FIELDS: [&str; 7] = ["at_us", "method", "path", "headers", "ip", "cost", "duration_us"];

pub(super) struct TraceLine {
    pub(super) at: Micros,
    pub(super) request: Request<()>,
    pub(super) cost: Option<Cost>,
    /// How long the request takes.
    pub(super) duration: Micros,
    pub(super) unknown_field: Option<String>,
}

impl TraceLine {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let fields: Map<String, Value> = serde_json::from_slice(line).map_err(|error| not_json(&error))?;
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let mut request = Request::new(());
        *request.method_mut() = field("method").map_or(Ok(Method::GET), method)?;
        *request.uri_mut() = field("path").map_or(Ok(Uri::default()), path)?;
        *request.headers_mut() = field("headers").map_or(Ok(HeaderMap::new()), headers)?;
        let address = field("ip").map(ip).transpose()?;
        set_peer(request.extensions_mut(), address);
        Ok(Self {
            at: at(field("at_us"))?,
            request,
            cost: field("cost").map(cost).transpose()?,
            duration: field("duration_us").map_or(Ok(0), duration)?,
            unknown_field: fields.keys().find(|name| !FIELDS.contains(&name.as_str())).cloned(),
        })
    }
}

/// serde_json counts lines within this line, so it is always line 1.
fn not_json(error: &serde_json::Error) -> String {
    format!(
        "not a request: {}",
        error.to_string().replace(" at line 1 column ", " at column ")
    )
}

fn at(value: Option<&Value>) -> Result<Micros, String> {
    let value = value.ok_or("at_us is missing: the time of the request, in microseconds since 1970")?;
    let at = value.as_u64().filter(|at| *at <= MAX_TIMESTAMP);
    at.ok_or_else(|| {
        invalid(
            "at_us",
            value,
            "a whole number of microseconds since 1970, up to the year 2112",
        )
    })
}

fn method(value: &Value) -> Result<Method, String> {
    let method = value.as_str().and_then(|text| text.parse().ok());
    method.ok_or_else(|| invalid("method", value, "a method, like GET"))
}

fn path(value: &Value) -> Result<Uri, String> {
    let text = value.as_str().filter(|text| text.starts_with('/') || *text == "*");
    let path = text.and_then(|text| text.parse().ok());
    path.ok_or_else(|| invalid("path", value, "a path that begins with /, with an optional query"))
}

fn headers(value: &Value) -> Result<HeaderMap, String> {
    let fields = value.as_object();
    let fields = fields.ok_or_else(|| invalid("headers", value, "an object of names and values"))?;
    let mut headers = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields {
        let field = format!("headers.{name}");
        let name = HeaderName::from_bytes(name.as_bytes());
        let name = name.map_err(|_| format!("{field}: not a valid header name"))?;
        let text = value
            .as_str()
            .and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok());
        headers.append(
            name,
            text.ok_or_else(|| invalid(&field, value, "a header value, as a string"))?,
        );
    }
    Ok(headers)
}

fn ip(value: &Value) -> Result<IpAddr, String> {
    let address = value.as_str().and_then(|text| text.parse().ok());
    address.ok_or_else(|| invalid("ip", value, "an address, like 203.0.113.7 or 2001:db8::7"))
}

fn cost(value: &Value) -> Result<Cost, String> {
    let cost = value.as_u64().and_then(|cost| cost.try_into().ok());
    cost.ok_or_else(|| invalid("cost", value, "a whole number from 0 to 4294967295"))
}

fn duration(value: &Value) -> Result<Micros, String> {
    let duration = value.as_u64();
    let duration = duration.filter(|duration| Duration::from_micros(*duration) < MAX_HELD);
    duration.ok_or_else(|| invalid("duration_us", value, "a whole number of microseconds, less than a day"))
}

fn invalid(field: &str, value: &Value, expected: &str) -> String {
    format!("{field}: {value} is not {expected}")
}
