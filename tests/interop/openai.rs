//! OpenAI's clients understand the responses of the example `llm`.

use support::{example_server::ExampleServer, project::example};

use crate::interop::client;

/// Each request reserves 52 tokens and uses 40, so that a second one within two seconds is denied.
async fn is_understood(script: &str) {
    let mut llm = example("llm");
    llm.env("REQUESTS", "10").env("TOKENS", "80").env("WINDOW_SECONDS", "2");
    let server = ExampleServer::start(llm);
    let output = client::run(script, std::slice::from_ref(&server.url)).await;
    let expected = [
        "limit requests 10",
        "limit tokens 80",
        "remaining requests 9",
        "remaining tokens 28",
        "usage 40",
        "streamed 20 usage 40",
        "denied tokens rate_limit_exceeded",
        // Without `Retry-After`, it would have retried after half a second, and would have been denied again.
        "retries 1 usage 40",
    ];
    assert_eq!(output, expected);
}

#[tokio::test]
async fn the_python_client_reads_the_headers_and_waits_for_retry_after() {
    is_understood("openai_client.py").await;
}

#[tokio::test]
async fn the_node_client_reads_the_headers_and_waits_for_retry_after() {
    is_understood("openai_client.mjs").await;
}
