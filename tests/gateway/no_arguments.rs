//! The gateway without arguments. Another program may use its default port.

use std::{net::TcpListener, process::Stdio};

use crate::{
    gateway::{fixture::program, socket::Socket},
    server_process::Running,
};

const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";
const IN_USE: &str =
    "error: cannot listen on 127.0.0.1:8080: the address is in use; choose another with --listen ADDR\n";

/// A running gateway, or its exit code and error.
fn start() -> Result<Running, (Option<i32>, String)> {
    Running::try_start("curl", program().stderr(Stdio::piped()))
}

#[tokio::test]
async fn it_listens_at_the_default_address_or_reports_it_in_use() {
    let in_use = (Some(1), IN_USE.to_owned());
    if let Ok(_ours) = TcpListener::bind(DEFAULT_ADDRESS) {
        assert_eq!(start().err(), Some(in_use.clone()));
    }
    let running = match start() {
        Ok(running) => running,
        // Another program uses the port.
        Err(why) => return assert_eq!(why, in_use),
    };
    let (_, upstream) = running.banner.split_once("upstream  http://").unwrap();
    let (upstream, _) = upstream.split_once(',').unwrap();
    let banner = format!(
        "gateway listening on http://{DEFAULT_ADDRESS}
  upstream  http://{upstream}, a built-in echo service
  rules     built-in sample; use your own with --rules FILE
            global: 10000 per 60s, sliding_counter
            client: 100 per 60s, token_bucket
            expensive: 10 per 60s, sliding_log
  store     memory of this process
  admin     disabled; enable it with --admin 9090

try it:
  curl -i http://{DEFAULT_ADDRESS}/hello
"
    );
    assert_eq!(running.banner, banner);

    let mut client = Socket::connect_to(DEFAULT_ADDRESS.parse().unwrap()).await;
    client.send("GET /hello HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let (status, body) = client.response().await;
    assert_eq!(status, 200);
    assert!(body.starts_with("GET /hello\n"), "{body}");
    assert!(body.contains("\nx-forwarded-for: 127.0.0.1\n"), "{body}");
}
