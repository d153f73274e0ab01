//! The sessions of one kind that run: each gets commands by its id.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

/// Commands that may wait for a session.
const CHANNEL_CAPACITY: usize = 4;

pub(super) struct Running<C> {
    max: usize,
    senders: Arc<Mutex<HashMap<String, mpsc::Sender<C>>>>,
}

impl<C> Running<C> {
    /// At most `max` sessions, each of which has an open page.
    pub(super) fn new(max: usize) -> Self {
        let senders = Arc::default();
        Self { max, senders }
    }

    /// Adds a session, and returns the receiver of its commands.
    pub(super) fn add(&self, id: &str) -> Result<mpsc::Receiver<C>, String> {
        let mut senders = self.senders();
        let max = self.max;
        if senders.len() >= max {
            return Err(format!("{max} pages are already open: close one and reload this page"));
        }
        let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
        senders.insert(id.to_owned(), sender);
        Ok(receiver)
    }

    pub(super) fn remove(&self, id: &str) {
        self.senders().remove(id);
    }

    /// Sends a command to a session. Returns false if it has ended.
    pub(super) async fn send(&self, id: &str, command: C) -> bool {
        let sender = self.senders().get(id).cloned();
        match sender {
            Some(sender) => sender.send(command).await.is_ok(),
            None => false,
        }
    }

    fn senders(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<C>>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Clone for Running<C> {
    fn clone(&self) -> Self {
        let senders = Arc::clone(&self.senders);
        Self { senders, ..*self }
    }
}
