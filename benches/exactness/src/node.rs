//! A node: a process that decides about requests. It reads the number of a request per line of standard input, and writes the number
//! and the answer as soon as the limiter has decided. It ends with its standard input.

use tokio::io::{AsyncBufReadExt, BufReader};

use crate::limiters::Limiter;

/// The line that a node writes when its limiter is connected.
pub const READY: &str = "ready";

pub async fn serve(limiter: Limiter) {
    println!("{READY}");
    let mut requests = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(number)) = requests.next_line().await {
        let decision = limiter.decide();
        tokio::spawn(async move {
            let answer = decision.await;
            println!("{number} {}", answer.letter());
        });
    }
}
