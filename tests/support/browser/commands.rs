//! Commands of chromedriver that are not part of WebDriver.

use std::str::FromStr;

use axum::http::Method;
use fantoccini::wd::WebDriverCompatibleCommand;
use reqwest::Url;
use serde_json::{Value, json};

use super::Browser;

impl Browser {
    /// Calls a method of the Chrome DevTools Protocol.
    pub async fn devtools(&self, method: &str, parameters: Value) -> Value {
        let body = json!({"cmd": method, "params": parameters});
        self.command("goog/cdp/execute", body).await
    }

    /// The console messages since the last call, as `LEVEL message`.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.command("se/log", json!({"type": "browser"})).await;
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
        let line = |entry: &Value| format!("{} {}", text(entry, "level"), text(entry, "message"));
        entries.as_array().unwrap().iter().map(line).collect()
    }

    async fn command(&self, path: &'static str, body: Value) -> Value {
        let value = self.client.issue_cmd(Command { path, body }).await;
        value.unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

#[derive(Debug)]
struct Command {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, <Url as FromStr>::Err> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
