//! Clients that are refused wait for as long as they are told, and pass the second time.

use tollgate::{HttpAnswers, ResetUnit};

use crate::interop::{
    client,
    server::{Time, Watched},
};

/// Asked twice: the second time, a client is told to wait for a second, does so by itself, and shows only the end of it.
async fn comes_back_in_time(script: &str, answers: HttpAnswers, time: Time) {
    let server = Watched::start(answers, time).await;
    assert_eq!(client::run(script, &[server.url()]).await, ["200", "200"]);
    let visits = server.visits();
    let told: Vec<_> = visits
        .iter()
        .map(|visit| (visit.told.0, visit.told.1.as_str()))
        .collect();
    assert_eq!(told, [(200, "-"), (429, "1"), (200, "-")]);
    // The moment it was told: a second after the first request, to the microsecond.
    assert!(visits[2].decided >= visits[0].decided + 1_000_000, "{visits:?}");
}

#[tokio::test]
async fn ky_by_retry_after() {
    comes_back_in_time("ky.mjs", HttpAnswers::new(), Time::Elapsed).await;
}

#[tokio::test]
async fn urllib3_by_retry_after() {
    comes_back_in_time("urllib3_retry.py", HttpAnswers::new(), Time::Elapsed).await;
}

#[tokio::test]
async fn whoever_is_told_a_date_in_x_headers() {
    let answers = HttpAnswers::new().without_ietf_headers();
    comes_back_in_time("until_reset.mjs", answers, Time::Calendar).await;
}

#[tokio::test]
async fn whoever_is_told_seconds_in_x_headers() {
    let answers = HttpAnswers::new().without_ietf_headers().reset_unit(ResetUnit::Delta);
    comes_back_in_time("until_reset.mjs", answers, Time::Elapsed).await;
}

#[tokio::test]
async fn whoever_is_told_seconds_as_earlier_drafts_have_it() {
    let answers = HttpAnswers::new()
        .without_ietf_headers()
        .header_names(["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
        .reset_unit(ResetUnit::Delta);
    comes_back_in_time("until_reset.mjs", answers, Time::Elapsed).await;
}
