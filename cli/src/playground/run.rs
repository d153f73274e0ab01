//! Puts the playground together, and takes it down again.

use std::{
    io::{Write, stdout},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};
use tollgate::{RedisStore, StoreError};

use crate::{
    arguments::Options,
    common::{listening::listen, place::Place, signals::Signals},
    serve::{self, Scenes},
};

/// How long scenes have for deleting what they wrote.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn run(options: Options) -> Result<(), String> {
    let signals = Signals::listen();
    let counted = match &options.store {
        Place::Memory => "in memory".to_owned(),
        Place::Redis(url) => redis(url)
            .await
            .map_err(|error| format!("--store cannot be used: {error}"))?,
    };
    let (listener, listening) = listen(options.listen, "--listen")?;
    // Whoever has read enough may close the pipe.
    writeln!(
        stdout(),
        "playground: open http://{listening} in a browser; limits count {counted}"
    )
    .ok();

    let end = watch::Sender::new(false);
    let router = serve::router(Scenes::new(options.store, end.clone()));
    tokio::select! {
        served = axum::serve(listener, router) => return served.map_err(|error| error.to_string()),
        _ = signals.any() => {}
    }
    end.send_replace(true);
    // A scene that hangs on a Redis which is gone has nothing to delete there.
    timeout(PATIENCE, end.closed()).await.ok();
    Ok(())
}

/// Asked once, so that whoever gave a wrong address learns of it here, not from five lanes.
async fn redis(url: &str) -> Result<String, StoreError> {
    let store = RedisStore::connect(url)?;
    store.check().await?;
    Ok(format!("on Redis at {}", store.health().servers()[0].address()))
}
