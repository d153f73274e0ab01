//! A limiter that synchronises: every node counts the requests that it admits in the current second, and decides by the total that it
//! last saw plus its own count since. Every 100 ms it adds its count to the total in Redis, and reads the new total.
//!
//! Between two synchronisations, a node does not see what the others admit. A node that is killed loses what it has not yet added.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use redis::{Client, aio::MultiplexedConnection};

use super::{Limiter, unix_time};
use crate::{answer::Answer, limits::LIMIT};

const PERIOD: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Count {
    /// The Unix time in seconds.
    window: u64,
    /// The total of all nodes when this node last synchronised.
    total: u32,
    /// What this node has admitted since then.
    own: u32,
}

impl Count {
    /// Starts the current window, if another one has begun.
    fn at(&mut self, window: u64) -> &mut Self {
        if self.window != window {
            *self = Self {
                window,
                ..Self::default()
            };
        }
        self
    }
}

pub async fn start(url: &str) -> Limiter {
    let client = Client::open(url).expect("a valid address");
    let redis = client.get_multiplexed_async_connection().await.expect("Redis is up");
    let count = Arc::<Mutex<Count>>::default();
    tokio::spawn(synchronise(redis, Arc::clone(&count)));
    Limiter::new(move || {
        let mut count = count.lock().expect("no thread panics");
        let count = count.at(unix_time().as_secs());
        let admits = count.total + count.own < LIMIT;
        count.own += u32::from(admits);
        std::future::ready(if admits { Answer::Admitted } else { Answer::Denied })
    })
}

async fn synchronise(mut redis: MultiplexedConnection, count: Arc<Mutex<Count>>) {
    let mut period = tokio::time::interval(PERIOD);
    loop {
        period.tick().await;
        let (window, own) = {
            let mut count = count.lock().expect("no thread panics");
            let count = count.at(unix_time().as_secs());
            (count.window, count.own)
        };
        let key = format!("sync:{window}");
        let mut call = redis::pipe();
        call.incr(&key, own).expire(&key, 2).ignore();
        // If Redis does not answer, the node continues with what it knows, and tries again.
        let reply: Result<(u32,), _> = call.query_async(&mut redis).await;
        let mut count = count.lock().expect("no thread panics");
        if let Ok((total,)) = reply
            && count.window == window
        {
            count.total = total;
            count.own -= own;
        }
    }
}
