//! Why a Redis store could not be built, or could not decide.

use std::{error, fmt, sync::Arc, time::Duration};

use deadpool_redis::redis::{ErrorKind, RedisError};

use crate::invalid::Invalid;

/// Why a [`RedisStore`](crate::RedisStore) could not be built, or could not decide.
///
/// Its words tell what to do about it, and never hold a password.
///
/// ```
/// use tollgate::{RedisStore, StoreError};
///
/// let error = RedisStore::connect("localhost").unwrap_err();
/// assert!(matches!(error, StoreError::Address { .. }));
/// assert!(error.to_string().contains("it must be like redis://HOST:PORT"));
/// assert!(!error.may_have_charged());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// An address that is none.
    #[non_exhaustive]
    Address {
        /// The address, without what may be a password.
        url: String,
        /// Why it will not do.
        source: Arc<RedisError>,
    },
    /// A setting that cannot work.
    Setting(Invalid),
    /// No connection could be made, or it was lost before the answer came.
    #[non_exhaustive]
    Connection {
        /// Which Redis.
        address: Arc<str>,
        /// What happened.
        source: Arc<RedisError>,
        /// Whether the call may have reached Redis before that.
        sent: bool,
    },
    /// No answer came in time.
    #[non_exhaustive]
    Deadline {
        /// Which Redis.
        address: Arc<str>,
        /// How long it was waited for.
        deadline: Duration,
        /// Whether the call may have reached Redis, or was still waiting for a connection.
        sent: bool,
    },
    /// Redis has failed so often that it is not asked until it answers again.
    #[non_exhaustive]
    Down {
        /// Which Redis.
        address: Arc<str>,
        /// Why it failed the last time.
        source: Arc<StoreError>,
    },
    /// Redis answered that it will not.
    #[non_exhaustive]
    Refused {
        /// Which Redis.
        address: Arc<str>,
        /// What it said.
        source: Arc<RedisError>,
    },
    /// Redis answered something that the program never says.
    #[non_exhaustive]
    Reply {
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// Whether the call may have been charged all the same. It is not known, and it must not be sent again.
    pub fn may_have_charged(&self) -> bool {
        match self {
            Self::Connection { sent, .. } | Self::Deadline { sent, .. } => *sent,
            Self::Reply { .. } => true,
            Self::Address { .. } | Self::Setting(_) | Self::Down { .. } | Self::Refused { .. } => false,
        }
    }

    /// Whether it may be better the next time. Otherwise somebody has to see to it.
    pub(super) fn heals(&self) -> bool {
        match self {
            Self::Address { .. } | Self::Setting(_) => false,
            Self::Connection { .. } | Self::Deadline { .. } | Self::Reply { .. } => true,
            Self::Down { source, .. } => source.heals(),
            Self::Refused { source, .. } => ![PASSWORD, LOGIN, PERMISSION, NO_LUA].contains(&advice(source)),
        }
    }

    pub(super) fn reply(reason: impl Into<String>) -> Self {
        Self::Reply { reason: reason.into() }
    }

    pub(super) fn down(address: &Arc<str>, source: &Self) -> Self {
        Self::Down {
            address: Arc::clone(address),
            source: Arc::new(source.clone()),
        }
    }

    pub(super) fn late(address: &Arc<str>, deadline: Duration, sent: bool) -> Self {
        let address = Arc::clone(address);
        Self::Deadline {
            address,
            deadline,
            sent,
        }
    }

    pub(super) fn before_sending(address: &Arc<str>, source: RedisError) -> Self {
        Self::of(address, source, false)
    }

    pub(super) fn after_sending(address: &Arc<str>, source: RedisError) -> Self {
        Self::of(address, source, true)
    }

    fn of(address: &Arc<str>, source: RedisError, sent: bool) -> Self {
        let address = Arc::clone(address);
        match source.kind() {
            ErrorKind::Io => Self::Connection {
                address,
                source: Arc::new(source),
                sent,
            },
            ErrorKind::Parse => Self::reply(source.to_string()),
            _ => Self::Refused {
                address,
                source: Arc::new(source),
            },
        }
    }
}

/// What to do about a connection that cannot be made.
fn connection_advice(source: &RedisError) -> &'static str {
    let said = source.to_string();
    match said.contains("certificate") {
        true => "trust its issuer, or give its root certificate with builder().connection_info(..)",
        false if said.contains("no tokio runtime") => "ask from within one",
        false => "is it running, and is this its address?",
    }
}

const PASSWORD: &str = "; give it a password: redis://:PASSWORD@HOST, or builder().password(..)";
const LOGIN: &str = "; check the user name and the password";
const NO_LUA: &str =
    "; this Valkey was built without Lua, or it was unloaded: limits need it (BUILD_LUA=yes, or MODULE LOAD)";
const PERMISSION: &str = "; allow the user the commands that lua/README.md lists, on our keys";

/// What to do about what Redis said.
fn advice(source: &RedisError) -> &'static str {
    match source.code().unwrap_or_default() {
        "NOAUTH" => return PASSWORD,
        "WRONGPASS" => return LOGIN,
        "NOPERM" => return PERMISSION,
        "READONLY" | "MASTERDOWN" => return "; this is a replica: connect to the primary",
        "OOM" => return "; Redis is out of memory: raise maxmemory",
        "BUSY" => return "; another script is keeping Redis from answering",
        "MOVED" | "ASK" | "CROSSSLOT" => {
            return "; this is a node of a cluster: name its nodes with builder().cluster(..)";
        }
        "CLUSTERDOWN" => return "; the cluster has lost nodes, or nobody has these keys: see CLUSTER INFO",
        _ => {}
    }
    // What has no code of its own is known by its words.
    let said = source.to_string();
    let known = [
        ("unauthenticated", PASSWORD),
        ("Authentication required", PASSWORD),
        ("AuthenticationFailed", LOGIN),
        ("can't run this command", PERMISSION),
        ("has no permissions to run", PERMISSION),
        ("Could not find scripting engine", NO_LUA),
        ("syntax error", "; Redis 6.2 or later is needed"),
    ];
    known
        .iter()
        .find(|(words, _)| said.contains(words))
        .map_or("", |(_, advice)| advice)
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { url, source } => write!(
                f,
                "url = {url:?}: {source}; it must be like redis://HOST:PORT (rediss:// needs the feature `tls`)"
            ),
            Self::Setting(invalid) => invalid.fmt(f),
            Self::Connection { address, source, .. } => {
                let advice = connection_advice(source);
                write!(f, "no connection to Redis at {address}: {source}; {advice}")
            }
            Self::Deadline { address, deadline, .. } => {
                write!(f, "Redis at {address} did not answer within {deadline:?}")
            }
            Self::Down { address, source } => {
                write!(f, "Redis at {address} is not asked until it answers again: {source}")
            }
            Self::Refused { address, source } => {
                write!(f, "Redis at {address} refused: {source}{}", advice(source))
            }
            Self::Reply { reason } => write!(f, "Redis gave an answer that is not tollgate's: {reason}"),
        }
    }
}

impl error::Error for StoreError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Address { source, .. } | Self::Connection { source, .. } | Self::Refused { source, .. } => {
                Some(&**source)
            }
            Self::Setting(invalid) => Some(invalid),
            Self::Down { source, .. } => Some(&**source),
            Self::Deadline { .. } | Self::Reply { .. } => None,
        }
    }
}
