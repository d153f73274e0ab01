//! The request of a chat completion, and how many tokens it may use.

use axum::{
    Json,
    body::Body,
    extract::{Request, rejection::JsonRejection},
    http::{StatusCode, header::CONTENT_LENGTH, request::Parts},
    middleware::Next,
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api_error::ApiError;

/// The length of an answer whose request states none.
const DEFAULT_MAX_TOKENS: u64 = 200;

/// The members that determine the cost. The others are passed on as they are.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ChatRequest {
    pub(crate) model: String,
    messages: Vec<Value>,
    /// Its former name is `max_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    /// The number of alternative answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct StreamOptions {
    include_usage: Option<bool>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The tokens that a request reserves. It is in the extensions of the request, for its cost, and of the response, for the meter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) prompt: u64,
    /// A bound, for all alternative answers together.
    pub(crate) max_tokens: u64,
}

/// The requested model, in the extensions of the request, for its key.
#[derive(Clone, Debug)]
pub(crate) struct Model(pub(crate) String);

/// Reads the request's body, which a limit cannot do, and inserts the estimate and the model into its extensions. It has to be outside
/// of the limits.
pub(crate) async fn estimate(
    mut head: Parts,
    body: Result<Json<ChatRequest>, JsonRejection>,
    next: Next,
) -> Result<Response, ApiError> {
    let Json(mut chat) = body?;
    let max_tokens = chat.bound_answer();
    let prompt = estimate_prompt(&chat);
    chat.ask_for_usage();
    head.extensions.insert(Estimate { prompt, max_tokens });
    head.extensions.insert(Model(chat.model.clone()));
    let body = serde_json::to_vec(&chat).expect("it was read from JSON");
    head.headers.insert(CONTENT_LENGTH, body.len().into());
    Ok(next.run(Request::from_parts(head, Body::from(body))).await)
}

/// Estimates the tokens of the prompt: one per four bytes, 4 per message and 3 for the beginning of the answer. The bytes are those of
/// texts, and of the JSON of all else that a model may read: parts of messages, tools, schemas.
///
/// This is usual for English text, and not a bound: other languages and code have more tokens per byte, and an image that the request
/// links to is not in it. What the answer states beyond the estimate is charged afterwards, unless it breaks off before. One token per
/// byte would be a bound for texts, and would reserve several times too much for as long as the request is served.
fn estimate_prompt(chat: &ChatRequest) -> u64 {
    let others = chat.others.values().map(json_bytes);
    let bytes: usize = chat.messages.iter().map(message_bytes).chain(others).sum();
    (bytes.div_ceil(4) + 4 * chat.messages.len() + 3) as u64
}

fn message_bytes(message: &Value) -> usize {
    let members = message.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| *name != "role")
        .map(|(_, value)| json_bytes(value))
        .sum()
}

/// The length of a text, or of the JSON of another value.
fn json_bytes(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), str::len)
}

impl ChatRequest {
    /// The texts of all messages. A message has one text, or a list of parts, some of which are texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().flat_map(|message| {
            let content = &message["content"];
            let parts = content.as_array().into_iter().flatten();
            content
                .as_str()
                .into_iter()
                .chain(parts.filter_map(|part| part["text"].as_str()))
        })
    }

    /// The bound of one answer, if the request states one. If it states two, it is not known which applies.
    pub(crate) fn max_tokens(&self) -> Option<u64> {
        self.max_completion_tokens.max(self.max_tokens)
    }

    pub(crate) fn is_streamed(&self) -> bool {
        self.stream == Some(true)
    }

    pub(crate) fn includes_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|options| options.include_usage) == Some(true)
    }

    /// Sets the length of the answer if the request does not, so that the upstream enforces what was reserved. Returns the bound of
    /// all alternative answers together.
    fn bound_answer(&mut self) -> u64 {
        let each = self
            .max_tokens()
            .unwrap_or_else(|| *self.max_completion_tokens.insert(DEFAULT_MAX_TOKENS));
        each.saturating_mul(self.n.unwrap_or(1))
    }

    /// Lets a stream state its usage, in an additional event with an empty list of choices. Clients get that event even if they did
    /// not ask for it.
    fn ask_for_usage(&mut self) {
        if self.is_streamed() {
            self.stream_options.get_or_insert_default().include_usage = Some(true);
        }
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        let status = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        };
        let message = rejection.body_text();
        Self { status, message }
    }
}
