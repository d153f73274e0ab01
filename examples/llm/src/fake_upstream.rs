//! A small fake of OpenAI's API, to try the proxy without an account. A token is a word, and the answer repeats the prompt.

use std::{convert::Infallible, io, time::Duration};

use axum::{
    Json, Router,
    body::Body,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::sleep};

use crate::{CHAT_COMPLETIONS, api_error::ApiError, chat_request::ChatRequest};

/// The time that a token of a stream takes.
const PER_TOKEN: Duration = Duration::from_millis(50);

/// Starts it on a free port, and returns its URL.
pub(crate) async fn start() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let app = Router::new().route(CHAT_COMPLETIONS, post(complete));
    tokio::spawn(async { axum::serve(listener, app).await });
    Ok(url)
}

async fn complete(Json(chat): Json<ChatRequest>) -> Response {
    if chat.model == "broken" {
        let (status, message) = (StatusCode::INTERNAL_SERVER_ERROR, "The model is broken.".into());
        return ApiError { status, message }.into_response();
    }
    let answer = Answer::to(&chat);
    match chat.is_streamed() {
        true => answer.stream(chat.includes_usage()),
        false => answer.json(),
    }
}

struct Answer {
    model: String,
    prompt_tokens: usize,
    tokens: Vec<String>,
    finish_reason: &'static str,
}

impl Answer {
    fn to(chat: &ChatRequest) -> Self {
        let words = || chat.texts().flat_map(str::split_whitespace);
        let prompt_tokens = words().count();
        let max_tokens = chat.max_tokens().map_or(usize::MAX, |max| max as usize);
        let tokens = words().take(max_tokens).enumerate();
        Self {
            model: chat.model.clone(),
            prompt_tokens,
            tokens: tokens
                .map(|(at, word)| if at == 0 { word.to_owned() } else { format!(" {word}") })
                .collect(),
            finish_reason: if prompt_tokens > max_tokens { "length" } else { "stop" },
        }
    }

    fn usage(&self) -> Value {
        let (prompt, completion) = (self.prompt_tokens, self.tokens.len());
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
    }

    fn json(&self) -> Response {
        let message = json!({"role": "assistant", "content": self.tokens.concat(), "refusal": null});
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": self.finish_reason});
        let body = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_800_000_000,
            "model": self.model,
            "choices": [choice],
            "usage": self.usage(),
        });
        Json(body).into_response()
    }

    /// An event for the role, one for each token, one for the reason to end, and one for the usage if it is requested.
    fn stream(self, includes_usage: bool) -> Response {
        let choice = |delta: Value, finish_reason: Option<&str>| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}]);
        let mut choices = vec![choice(json!({"role": "assistant", "content": ""}), None)];
        choices.extend(self.tokens.iter().map(|token| choice(json!({"content": token}), None)));
        choices.push(choice(json!({}), Some(self.finish_reason)));
        let mut events: Vec<_> = choices
            .into_iter()
            .map(|choices| self.event(choices, Value::Null))
            .collect();
        if includes_usage {
            events.push(self.event(json!([]), self.usage()));
        }
        events.push("data: [DONE]\n\n".into());
        let events = stream::iter(events).then(async |event| {
            sleep(PER_TOKEN).await;
            Ok::<_, Infallible>(event)
        });
        ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
    }

    fn event(&self, choices: Value, usage: Value) -> String {
        let chunk = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_800_000_000,
            "model": self.model,
            "choices": choices,
            "usage": usage,
        });
        format!("data: {chunk}\n\n")
    }
}
