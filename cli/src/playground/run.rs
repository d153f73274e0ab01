//! Puts the playground together, and takes it down again.

use std::{
    io::{Write, stdout},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};
use tollgate::StoreError;
use tracing::level_filters::LevelFilter;

use super::{
    args::PlaygroundArgs,
    serve::{self, Scenes},
};
use crate::{
    args::OutputArgs,
    common::{
        failure::Failure,
        listening::listen,
        runtime,
        signals::Signals,
        store::{Place, Redis},
    },
};

/// How long scenes have for deleting what they wrote.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &PlaygroundArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    let place = args.store.place()?;
    runtime::of_all_cores()?.block_on(serve(args, place, output))
}

async fn serve(args: &PlaygroundArgs, place: Place, output: OutputArgs) -> Result<(), Failure> {
    let signals = Signals::listen();
    let counted = match &place {
        Place::Memory => "in memory".to_owned(),
        Place::Redis(redis) => check(redis)
            .await
            .map_err(|error| format!("--store cannot be used: {error}"))?,
    };
    let (listener, listening) = listen(args.listen, "--listen")?;
    if !output.quiet {
        // A reader that closes the pipe has read enough.
        writeln!(
            stdout(),
            "playground: open http://{listening} in a browser; limits count {counted}"
        )
        .ok();
    }

    let end = watch::Sender::new(false);
    let router = serve::router(Scenes::new(place, end.clone()));
    tokio::select! {
        served = axum::serve(listener, router) => return Ok(served?),
        _ = signals.any() => {}
    }
    end.send_replace(true);
    // A scene that hangs on a Redis which is gone has nothing to delete there.
    timeout(PATIENCE, end.closed()).await.ok();
    Ok(())
}

/// Asked once, so that whoever gave a wrong address learns of it here, not from five lanes.
async fn check(redis: &Redis) -> Result<String, StoreError> {
    let store = redis.builder().build()?;
    store.check().await?;
    Ok(format!("on Redis at {}", store.health().servers()[0].address()))
}
