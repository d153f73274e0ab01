//! What the layers of all kinds have in common: the store, the responder, what happens when the store fails, and waiting.

use std::{sync::Arc, time::Duration};

use crate::{
    respond::HttpResponder,
    store::{Fallback, MemoryStore},
    wait_queue::{DEFAULT_MAX_WAITERS, WaitConfig, WaitQueues},
};

#[derive(Clone, Debug)]
pub(crate) struct Settings<St, R> {
    pub(crate) store: St,
    pub(crate) respond: R,
    pub(crate) on_failure: OnFailure,
    /// How long denied requests wait, if waiting is enabled.
    pub(crate) wait: Option<WaitConfig>,
}

/// What happens to requests while the store fails. Charges carry it too, for a store that fails for some of them only.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum OnFailure {
    #[default]
    Open,
    Closed,
}

impl<St> Settings<St, HttpResponder> {
    pub(crate) fn new(store: St) -> Self {
        Self {
            store,
            respond: HttpResponder::new(),
            on_failure: OnFailure::default(),
            wait: None,
        }
    }
}

impl<St, R> Settings<St, R> {
    pub(crate) fn respond_with<T>(self, respond: T) -> Settings<St, T> {
        Settings {
            store: self.store,
            respond,
            on_failure: self.on_failure,
            wait: self.wait,
        }
    }

    pub(crate) fn fallback(self, memory: MemoryStore) -> Settings<Fallback<St>, R> {
        Settings {
            store: Fallback::new(self.store, memory),
            respond: self.respond,
            on_failure: self.on_failure,
            wait: self.wait,
        }
    }

    pub(crate) fn on_failure(self, on_failure: OnFailure) -> Self {
        Self { on_failure, ..self }
    }

    pub(crate) fn wait(mut self, max_wait: Duration) -> Self {
        let queues = match self.wait {
            Some(WaitConfig { queues, .. }) => queues,
            None => Arc::new(WaitQueues::new(DEFAULT_MAX_WAITERS)),
        };
        self.wait = Some(WaitConfig { max_wait, queues });
        self
    }

    pub(crate) fn max_waiters(mut self, max_waiters: usize) -> Self {
        let queues = Arc::new(WaitQueues::new(max_waiters));
        // A zero timeout disables waiting.
        let max_wait = self.wait.map_or(Duration::ZERO, |wait| wait.max_wait);
        self.wait = Some(WaitConfig { max_wait, queues });
        self
    }
}
