//! Reads a page and interacts with it.

use fantoccini::{
    Locator,
    actions::{InputSource, KeyAction, KeyActions},
    elements::Element,
};
use serde_json::Value;

use super::Browser;
use crate::wait::eventually;

impl Browser {
    /// Opens a page, and returns once it is loaded.
    pub async fn open(&self, url: &str) {
        self.client.goto(url).await.unwrap();
    }

    /// The value of a JavaScript expression on the page; promises are awaited.
    pub async fn value(&self, expression: &str) -> Value {
        let script = format!("return {expression}");
        let value = self.client.execute(&script, Vec::new()).await;
        value.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Polls until a JavaScript expression is true.
    pub async fn until(&self, expression: &str) {
        eventually(expression, async || self.value(expression).await == true).await;
    }

    /// The first element that matches a CSS selector.
    pub async fn element(&self, selector: &str) -> Element {
        let element = self.client.find(Locator::Css(selector)).await;
        element.unwrap_or_else(|error| panic!("{selector}: {error}"))
    }

    /// Clicks with the pointer, which fails on hidden or covered elements.
    pub async fn click(&self, selector: &str) {
        let clicked = self.element(selector).await.click().await;
        clicked.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Presses keys together and releases them, on the focused element: `[Key::Shift, Key::Tab]`, `['a']`.
    pub async fn press<K: Into<char>>(&self, keys: impl IntoIterator<Item = K>) {
        let keys: Vec<char> = keys.into_iter().map(Into::into).collect();
        let down = keys.iter().map(|&value| KeyAction::Down { value });
        let up = keys.iter().rev().map(|&value| KeyAction::Up { value });
        let actions = down
            .chain(up)
            .fold(KeyActions::new("keyboard".into()), KeyActions::then);
        self.client.perform_actions(actions).await.unwrap();
    }
}
