//! Services that fail: the client is told so, and nobody else notices.

mod broken;
mod endless;
mod recovery;
mod silent;

use tokio::task::JoinHandle;

use crate::gateway::{
    fixture::Gateway,
    wire::{Upstream, Wire},
};

/// What is said of a service that cannot be reached, or does not speak HTTP.
const BAD: &str =
    r#"{"error":"bad_upstream","message":"The service behind this gateway cannot be reached or understood."}"#;
/// What is said of one that takes too long.
const SLOW: &str =
    r#"{"error":"upstream_timeout","message":"The service behind this gateway did not answer in time."}"#;

/// A service that answers `/well` as it should, and everything else by its mood.
struct Moody {
    url: String,
    task: JoinHandle<()>,
}

impl Moody {
    async fn start<F>(mood: impl Fn(String, Wire) -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let upstream = Upstream::start().await;
        let url = upstream.url();
        let serve = upstream.serve(move |mut wire| {
            let mood = mood.clone();
            async move {
                let head = wire.head().await;
                let path = head.split(' ').nth(1).unwrap();
                if path == "/well" {
                    wire.say("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nwell")
                        .await;
                } else {
                    mood(path.to_owned(), wire).await;
                }
            }
        });
        let task = tokio::spawn(serve);
        Self { url, task }
    }
}

impl Drop for Moody {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn others_are_answered(gateway: &Gateway) {
    for _ in 0..10 {
        assert_eq!(Wire::get(gateway, "/well").await, (200, "well".to_owned()));
    }
}
