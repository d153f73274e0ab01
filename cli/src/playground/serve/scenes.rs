//! The scenes that are played: one per open page, each on a store of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{mpsc, watch};
use tollgate::{ManualClock, MemoryStore, Store};

use crate::{
    common::{store::Place, unique::unique},
    playground::scene::{Command, Frame, Opening, Scene, Settings},
};

/// A room full of people, and no more than a machine can draw for.
const MOST_SCENES: usize = 64;

/// Frames that a page may be behind. A scene waits for it then.
const BEHIND: usize = 4;

/// A scene's time waits for the store: one that is slow for once is no reason to show a request that was not counted.
const DEADLINE: Duration = Duration::from_secs(30);

type Playing = HashMap<String, mpsc::Sender<Command>>;

#[derive(Clone)]
pub(crate) struct Scenes {
    place: Place,
    playing: Arc<Mutex<Playing>>,
    end: watch::Sender<bool>,
}

impl Scenes {
    /// None yet. They end when `end` says so, and listen to it for as long as they last.
    pub(crate) fn new(place: Place, end: watch::Sender<bool>) -> Self {
        let playing = Arc::default();
        Self { place, playing, end }
    }

    /// Plays a scene for as long as the frames are received, or says why it cannot.
    pub(crate) fn play(&self, settings: Settings) -> Result<(Opening, mpsc::Receiver<Frame>), String> {
        let id = unique();
        let clock = ManualClock::at(0);
        match &self.place {
            Place::Memory => {
                let store = MemoryStore::builder().clock(clock.clone()).build();
                self.play_on(&store, "memory", clock, id, settings)
            }
            Place::Redis(redis) => {
                let store = redis
                    .builder()
                    .prefix(redis.prefix_of_its_own(&format!("playground:{id}")))
                    .pool_size(1)
                    .deadline(DEADLINE);
                let store = store.clock(clock.clone()).build().map_err(|error| error.to_string())?;
                self.play_on(&store, "redis", clock, id, settings)
            }
        }
    }

    fn play_on<St: Store>(
        &self,
        store: &St,
        counted_in: &'static str,
        clock: ManualClock,
        id: String,
        settings: Settings,
    ) -> Result<(Opening, mpsc::Receiver<Frame>), String> {
        let scene = Scene::new(settings, store, clock).map_err(|error| error.to_string())?;
        let (told, commands) = mpsc::channel(BEHIND);
        let (frames, shown) = mpsc::channel(BEHIND);
        let mut playing = self.playing();
        if playing.len() >= MOST_SCENES {
            return Err(format!(
                "{MOST_SCENES} pages are open already: close one, and load this one again"
            ));
        }
        playing.insert(id.clone(), told);
        drop(playing);
        let opening = scene.opening(id.clone(), counted_in);
        let (scenes, ending) = (self.clone(), self.end.subscribe());
        tokio::spawn(async move {
            scene.play(commands, frames, ending).await;
            scenes.playing().remove(&id);
        });
        Ok((opening, shown))
    }

    /// Tells a scene what its page wants, unless it is over.
    pub(crate) async fn tell(&self, id: &str, command: Command) -> bool {
        let scene = self.playing().get(id).cloned();
        match scene {
            Some(scene) => scene.send(command).await.is_ok(),
            None => false,
        }
    }

    fn playing(&self) -> MutexGuard<'_, Playing> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
