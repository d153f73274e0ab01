//! Denied clients wait as long as the headers state, and are admitted on the retry.

use tollgate::{HttpResponder, ResetUnit};

use crate::interop::{
    client,
    server::{RecordingServer, Time},
};

/// The client sends two requests. The second is denied for a second; the client retries it and prints the final status.
async fn retries_in_time(script: &str, answers: HttpResponder, time: Time) {
    let server = RecordingServer::start(answers, time).await;
    assert_eq!(client::run(script, &[server.url()]).await, ["200", "200"]);
    let exchanges = server.exchanges();
    let responses: Vec<_> = exchanges
        .iter()
        .map(|exchange| (exchange.response.0, exchange.response.1.as_str()))
        .collect();
    assert_eq!(responses, [(200, "-"), (429, "1"), (200, "-")]);
    // Not earlier than a second after the first request, to the microsecond.
    assert!(
        exchanges[2].decided >= exchanges[0].decided + 1_000_000,
        "{exchanges:?}"
    );
}

#[tokio::test]
async fn ky_waits_for_retry_after() {
    retries_in_time("ky.mjs", HttpResponder::new(), Time::Elapsed).await;
}

#[tokio::test]
async fn urllib3_waits_for_retry_after() {
    retries_in_time("urllib3_retry.py", HttpResponder::new(), Time::Elapsed).await;
}

#[tokio::test]
async fn a_client_waits_for_a_reset_timestamp_in_x_headers() {
    let answers = HttpResponder::new().without_ietf_headers();
    retries_in_time("until_reset.mjs", answers, Time::System).await;
}

#[tokio::test]
async fn a_client_waits_for_reset_seconds_in_x_headers() {
    let answers = HttpResponder::new().without_ietf_headers().reset_unit(ResetUnit::Delta);
    retries_in_time("until_reset.mjs", answers, Time::Elapsed).await;
}

#[tokio::test]
async fn a_client_waits_for_reset_seconds_in_headers_of_earlier_drafts() {
    let answers = HttpResponder::new()
        .without_ietf_headers()
        .header_names(["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
        .reset_unit(ResetUnit::Delta);
    retries_in_time("until_reset.mjs", answers, Time::Elapsed).await;
}
