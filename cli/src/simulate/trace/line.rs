//! A line of a trace: a request, when it came, and what it cost.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use serde_json::{Map, Value};
use tollgate::{Cost, END_OF_TIME, Micros};

use crate::simulate::peer;

const FIELDS: [&str; 6] = ["at_us", "method", "path", "headers", "ip", "cost"];

pub(super) struct Recorded {
    pub(super) at: Micros,
    pub(super) request: Request<()>,
    pub(super) cost: Option<Cost>,
    /// A field that means nothing.
    pub(super) unknown: Option<String>,
}

impl Recorded {
    /// Or what is wrong with it, and where.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let fields: Map<String, Value> = serde_json::from_slice(line).map_err(|error| not_json(&error))?;
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let mut request = Request::new(());
        *request.method_mut() = field("method").map_or(Ok(Method::GET), method)?;
        *request.uri_mut() = field("path").map_or(Ok(Uri::default()), path)?;
        *request.headers_mut() = field("headers").map_or(Ok(HeaderMap::new()), headers)?;
        let address = field("ip").map(ip).transpose()?;
        peer::set(request.extensions_mut(), address);
        Ok(Self {
            at: at(field("at_us"))?,
            request,
            cost: field("cost").map(cost).transpose()?,
            unknown: fields.keys().find(|name| !FIELDS.contains(&name.as_str())).cloned(),
        })
    }
}

/// The line that it names is always the first.
fn not_json(error: &serde_json::Error) -> String {
    format!(
        "not a request: {}",
        error.to_string().replace(" at line 1 column ", " at column ")
    )
}

fn at(value: Option<&Value>) -> Result<Micros, String> {
    let value = value.ok_or("at_us is missing: the request's time, in microseconds since 1970")?;
    let at = value.as_u64().filter(|at| *at <= END_OF_TIME);
    at.ok_or_else(|| {
        wrong(
            "at_us",
            value,
            "a whole number of microseconds since 1970, up to the year 2112",
        )
    })
}

fn method(value: &Value) -> Result<Method, String> {
    let method = value.as_str().and_then(|text| text.parse().ok());
    method.ok_or_else(|| wrong("method", value, "a method, like GET"))
}

fn path(value: &Value) -> Result<Uri, String> {
    let text = value.as_str().filter(|text| text.starts_with('/') || *text == "*");
    let path = text.and_then(|text| text.parse().ok());
    path.ok_or_else(|| wrong("path", value, "a path that begins with /, and perhaps a query"))
}

fn headers(value: &Value) -> Result<HeaderMap, String> {
    let fields = value.as_object();
    let fields = fields.ok_or_else(|| wrong("headers", value, "an object of names and values"))?;
    let mut headers = HeaderMap::with_capacity(fields.len());
    for (name, value) in fields {
        let field = format!("headers.{name}");
        let name = HeaderName::from_bytes(name.as_bytes());
        let name = name.map_err(|_| format!("{field}: this is no header's name"))?;
        let text = value
            .as_str()
            .and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok());
        headers.append(
            name,
            text.ok_or_else(|| wrong(&field, value, "a header's value, as text"))?,
        );
    }
    Ok(headers)
}

fn ip(value: &Value) -> Result<IpAddr, String> {
    let address = value.as_str().and_then(|text| text.parse().ok());
    address.ok_or_else(|| wrong("ip", value, "an address, like 203.0.113.7 or 2001:db8::7"))
}

fn cost(value: &Value) -> Result<Cost, String> {
    let cost = value.as_u64().and_then(|cost| cost.try_into().ok());
    cost.ok_or_else(|| wrong("cost", value, "a whole number from 0 to 4294967295"))
}

fn wrong(field: &str, value: &Value, needed: &str) -> String {
    format!("{field}: {value} is not {needed}")
}
