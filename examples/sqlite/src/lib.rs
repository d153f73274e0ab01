//! A store over SQLite, as an example of a store of your own.
//!
//! The database has one row per limit and key. An operation is one transaction that reads its rows, lets tollgate do the arithmetic,
//! and writes them. SQLite locks the file, so several processes on one machine can share it.

use std::{
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::runtime::Handle;
use tollgate::{Algorithm, Charge, Clock, Decision, Micros, Operation, State, Store};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS states (
        prefix TEXT, name TEXT, state TEXT NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (prefix, name)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS expiry ON states (prefix, expires_at);";

/// How long an operation waits for the transactions of other processes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A store in an SQLite file. Clones share a connection.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    connection: Arc<Mutex<Connection>>,
    /// Keeps several sets of limits apart in one file.
    prefix: Arc<str>,
    clock: Clock,
}

impl SqliteStore {
    /// Opens the file, and creates it if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be opened, or is not a database.
    pub fn open(file: &Path, prefix: &str, clock: impl Into<Clock>) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Readers do not block the writer, and a commit does not wait for the disk: a limit need not survive a power cut.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            prefix: prefix.into(),
            clock: clock.into(),
        })
    }

    fn apply_blocking(&self, operation: &Operation) -> rusqlite::Result<Decision> {
        let mut connection = self.lock();
        // Locks the file before reading: otherwise another process could charge the same state.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now = self.clock.now();
        let charges: Vec<Charge> = operation.charges().cloned().collect();
        let load = |charge| self.load(&transaction, charge);
        let mut states = charges.iter().map(load).collect::<rusqlite::Result<Vec<State>>>()?;
        let before = states.clone();
        let decision = operation.apply_to(&mut states, now);
        for ((charge, state), before) in charges.iter().zip(&states).zip(&before) {
            if state != before {
                self.save(&transaction, charge, state)?;
            }
        }
        transaction
            .prepare_cached("DELETE FROM states WHERE prefix = ? AND expires_at <= ?")?
            .execute(params![self.prefix, now as i64])?;
        transaction.commit()?;
        Ok(decision)
    }

    fn load(&self, transaction: &Transaction<'_>, charge: &Charge) -> rusqlite::Result<State> {
        let mut select = transaction.prepare_cached("SELECT state FROM states WHERE prefix = ? AND name = ?")?;
        let text: Option<String> = select
            .query_row([&*self.prefix, &name(charge)], |row| row.get(0))
            .optional()?;
        // A row that is not a state counts as fresh.
        let state = text.and_then(|text| charge.limit().algorithm().parse_state(&text));
        Ok(state.unwrap_or_default())
    }

    fn save(&self, transaction: &Transaction<'_>, charge: &Charge, state: &State) -> rusqlite::Result<()> {
        let expires_at: Micros = charge.limit().algorithm().expires_at(state);
        let mut replace = transaction.prepare_cached("REPLACE INTO states VALUES (?, ?, ?, ?)")?;
        replace.execute(params![self.prefix, name(charge), state.to_string(), expires_at as i64])?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a charge's row: two limits never share one.
fn name(charge: &Charge) -> String {
    format!("{}:{}", charge.limit(), charge.key().as_str())
}

impl Store for SqliteStore {
    type Error = rusqlite::Error;
    type Future = Pin<Box<dyn Future<Output = rusqlite::Result<Decision>> + Send>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        let store = self.clone();
        Box::pin(async move {
            match Handle::try_current() {
                // On another thread: it waits for the file.
                Ok(runtime) => {
                    let applied = runtime.spawn_blocking(move || store.apply_blocking(&operation));
                    applied.await.expect("applying an operation does not panic")
                }
                // A refund after the end of the runtime.
                Err(_) => store.apply_blocking(&operation),
            }
        })
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }
}
