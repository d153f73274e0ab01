//! The gateway, called with no arguments. It wants a port that may be anybody's.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    process::Stdio,
};

use crate::gateway::{
    program::{Running, program},
    wire::Wire,
};

const AT: &str = "127.0.0.1:8080";
const IN_USE: &str = "error: cannot listen at 127.0.0.1:8080, which is in use: choose another with --listen ADDR\n";

/// One that serves, or why it has ended.
fn start() -> Result<Running, (Option<i32>, String)> {
    let mut program = program();
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut errors = child.stderr.take().unwrap();
    let mut banner = String::new();
    while !banner.contains("curl") {
        if output.read_line(&mut banner).unwrap() == 0 {
            let mut why = String::new();
            errors.read_to_string(&mut why).unwrap();
            assert_eq!(banner, "");
            return Err((child.wait().unwrap().code(), why));
        }
    }
    // Whoever stops reading a pipe stops its writer.
    std::thread::spawn(move || errors.read_to_end(&mut Vec::new()));
    Ok(Running { child, banner })
}

#[tokio::test]
async fn it_listens_where_it_says_or_says_that_somebody_else_does() {
    let in_use = (Some(1), IN_USE.to_owned());
    if let Ok(_ours) = TcpListener::bind(AT) {
        assert_eq!(start().err(), Some(in_use.clone()));
    }
    let running = match start() {
        Ok(running) => running,
        // Somebody else has it, or was faster.
        Err(why) => return assert_eq!(why, in_use),
    };
    let (_, upstream) = running.banner.split_once("upstream  http://").unwrap();
    let (upstream, _) = upstream.split_once(',').unwrap();
    let banner = format!(
        "listening on http://{AT}, a gateway to
  upstream  http://{upstream}, which is built in to try
  rules     built in to try: --rules FILE for your own
            global: 10000 per 60s, sliding_counter
            client: 100 per 60s, token_bucket
            expensive: 10 per 60s, sliding_log
  store     memory, of this gateway alone
  admin     nowhere: --admin 9090 tells how things stand

try it:
  curl -i http://{AT}/hello
"
    );
    assert_eq!(running.banner, banner);

    let mut client = Wire::at(AT.parse().unwrap()).await;
    client.say("GET /hello HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let (status, body) = client.answer().await;
    assert_eq!(status, 200);
    assert!(body.starts_with("GET /hello\n"), "{body}");
    assert!(body.contains("\nx-forwarded-for: 127.0.0.1\n"), "{body}");
}
