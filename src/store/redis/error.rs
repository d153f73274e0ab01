//! Errors of the Redis store, and their classification.

use std::{error, fmt, sync::Arc, time::Duration};

use deadpool_redis::redis::{ErrorKind, RedisError};

use crate::config_error::ConfigError;

/// Why a [`RedisStore`](crate::RedisStore) could not be built, or could not decide.
///
/// The message states what to do about it, and never contains a password.
///
/// ```
/// use tollgate::{RedisStore, StoreError};
///
/// let error = RedisStore::connect("localhost").unwrap_err();
/// assert!(matches!(error, StoreError::Address { .. }));
/// assert!(error.to_string().contains("it must be like redis://HOST:PORT"));
/// assert!(!error.may_have_charged() && !error.is_transient());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// An invalid address.
    #[non_exhaustive]
    Address {
        /// The address, with the password redacted.
        url: String,
        /// Why it is invalid.
        source: RedisCause,
    },
    /// An invalid setting.
    Setting(ConfigError),
    /// The connection failed, or was lost before the reply.
    #[non_exhaustive]
    Connection {
        /// Which Redis.
        address: Arc<str>,
        /// The cause.
        source: RedisCause,
        /// Whether the call may have reached Redis.
        sent: bool,
    },
    /// The call was made outside of a tokio runtime.
    NoRuntime,
    /// The deadline passed before the reply.
    #[non_exhaustive]
    Deadline {
        /// Which Redis.
        address: Arc<str>,
        /// The deadline.
        deadline: Duration,
        /// Whether the call may have reached Redis; it was still waiting for a connection otherwise.
        sent: bool,
    },
    /// Redis cannot keep up: the request could not be decided before its deadline, and was not sent.
    #[non_exhaustive]
    Overloaded {
        /// Which Redis.
        address: Arc<str>,
        /// The deadline.
        deadline: Duration,
    },
    /// The circuit breaker is open: calls fail fast until a probe succeeds.
    #[non_exhaustive]
    CircuitOpen {
        /// Which Redis.
        address: Arc<str>,
        /// The failure that opened it, or that of a later probe if the cause has changed.
        source: Arc<StoreError>,
    },
    /// Redis replied with an error.
    #[non_exhaustive]
    Server {
        /// Which Redis.
        address: Arc<str>,
        /// The error.
        source: RedisCause,
    },
    /// An answer about a concurrency limit was lost, and this node has corrected what it holds. The slots of this request, which was in
    /// flight meanwhile, are released.
    Superseded,
    /// The reply is not one that the script sends.
    #[non_exhaustive]
    Protocol {
        /// What is wrong with it.
        reason: String,
    },
}

/// The cause of a [`StoreError`], as the client library reports it: to display, not to match. It does not name the library's type, which
/// changes with its major versions.
#[derive(Clone, Debug)]
pub struct RedisCause(Arc<RedisError>);

impl RedisCause {
    pub(super) fn new(error: RedisError) -> Self {
        Self(Arc::new(error))
    }

    fn error(&self) -> &RedisError {
        &self.0
    }
}

impl fmt::Display for RedisCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl error::Error for RedisCause {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source()
    }
}

impl StoreError {
    /// Whether the call may have been charged all the same, so that it must not be sent again.
    pub fn may_have_charged(&self) -> bool {
        match self {
            Self::Connection { sent, .. } | Self::Deadline { sent, .. } => *sent,
            Self::Protocol { .. } | Self::Superseded => true,
            Self::Address { .. }
            | Self::Setting(_)
            | Self::NoRuntime
            | Self::Overloaded { .. }
            | Self::CircuitOpen { .. }
            | Self::Server { .. } => false,
        }
    }

    /// Whether the next call may succeed without an operator changing something: false for a wrong password, for example.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Address { .. } | Self::Setting(_) | Self::NoRuntime => false,
            Self::Connection { .. }
            | Self::Deadline { .. }
            | Self::Overloaded { .. }
            | Self::Superseded
            | Self::Protocol { .. } => true,
            Self::CircuitOpen { source, .. } => source.is_transient(),
            Self::Server { source, .. } => ServerFault::of(source.error()).is_none_or(ServerFault::is_transient),
        }
    }

    pub(super) fn kind(&self) -> FailureKind {
        match self {
            Self::Connection { source, .. } => FailureKind::of_connection(source.error()),
            Self::Deadline { .. } => FailureKind::Silence,
            Self::CircuitOpen { source, .. } => source.kind(),
            Self::Server { source, .. } => FailureKind::Server(ServerFault::of(source.error())),
            Self::Address { .. }
            | Self::Setting(_)
            | Self::NoRuntime
            | Self::Overloaded { .. }
            | Self::Superseded
            | Self::Protocol { .. } => FailureKind::Other,
        }
    }

    pub(super) fn protocol(reason: impl Into<String>) -> Self {
        Self::Protocol { reason: reason.into() }
    }

    pub(super) fn circuit_open(address: &Arc<str>, source: &Self) -> Self {
        Self::CircuitOpen {
            address: Arc::clone(address),
            source: Arc::new(source.clone()),
        }
    }

    pub(super) fn timeout(address: &Arc<str>, deadline: Duration, sent: bool) -> Self {
        let address = Arc::clone(address);
        Self::Deadline {
            address,
            deadline,
            sent,
        }
    }

    pub(super) fn overloaded(address: &Arc<str>, deadline: Duration) -> Self {
        let address = Arc::clone(address);
        Self::Overloaded { address, deadline }
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
            ErrorKind::Parse if sent => Self::protocol(in_one_line(&source)),
            ErrorKind::Io | ErrorKind::Parse => Self::Connection {
                address,
                source: RedisCause::new(source),
                sent,
            },
            _ => Self::Server {
                address,
                source: RedisCause::new(source),
            },
        }
    }
}

/// The kind of a failure: the log reports each kind, and not each failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// There is no connection, or it was lost.
    Connection,
    /// The certificate of the server is not trusted.
    Certificate,
    /// Redis does not answer.
    Silence,
    /// What answers is not a Redis.
    NotRedis,
    /// Redis replied with an error.
    Server(Option<ServerFault>),
    Other,
}

impl FailureKind {
    fn of_connection(error: &RedisError) -> Self {
        if error.kind() == ErrorKind::Parse {
            return Self::NotRedis;
        }
        match error.to_string().contains("certificate") {
            _ if error.is_connection_refusal() => Self::Connection,
            true => Self::Certificate,
            false if error.is_timeout() => Self::Silence,
            false => Self::Connection,
        }
    }

    /// What to do about a connection that cannot be made.
    const fn connection_advice(self) -> &'static str {
        match self {
            Self::Certificate => "trust its issuer, or give its root certificate with builder().connection_info(..)",
            Self::Silence => "it may be stopped or blocked, or a firewall may drop its packets",
            _ => "is it running, and is this its address?",
        }
    }
}

/// Errors about syntax have several lines.
fn in_one_line(error: &RedisError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong with a server that replies with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerFault {
    PasswordMissing,
    LoginFailed,
    PermissionMissing,
    IsReplica,
    OutOfMemory,
    NotPersisting,
    TooFewReplicas,
    ScriptRunning,
    IsClusterNode,
    ClusterDown,
    LuaMissing,
    TooOld,
}

/// Faults by the code that a reply begins with.
const FAULT_CODES: [(&str, ServerFault); 13] = [
    ("NOAUTH", ServerFault::PasswordMissing),
    ("WRONGPASS", ServerFault::LoginFailed),
    ("NOPERM", ServerFault::PermissionMissing),
    ("READONLY", ServerFault::IsReplica),
    ("MASTERDOWN", ServerFault::IsReplica),
    ("OOM", ServerFault::OutOfMemory),
    ("MISCONF", ServerFault::NotPersisting),
    ("NOREPLICAS", ServerFault::TooFewReplicas),
    ("BUSY", ServerFault::ScriptRunning),
    ("MOVED", ServerFault::IsClusterNode),
    ("ASK", ServerFault::IsClusterNode),
    ("CROSSSLOT", ServerFault::IsClusterNode),
    ("CLUSTERDOWN", ServerFault::ClusterDown),
];

/// Faults by a part of the message, for replies that have only the code ERR.
const FAULT_MESSAGES: [(&str, ServerFault); 7] = [
    ("unauthenticated", ServerFault::PasswordMissing),
    ("Authentication required", ServerFault::PasswordMissing),
    ("AuthenticationFailed", ServerFault::LoginFailed),
    ("can't run this command", ServerFault::PermissionMissing),
    ("has no permissions to run", ServerFault::PermissionMissing),
    ("Could not find scripting engine", ServerFault::LuaMissing),
    ("syntax error", ServerFault::TooOld),
];

impl ServerFault {
    fn of(error: &RedisError) -> Option<Self> {
        let code = error.code().unwrap_or_default();
        let by_code = FAULT_CODES.iter().find(|(known, _)| *known == code);
        let by_message = || {
            let message = error.to_string();
            FAULT_MESSAGES.iter().find(|(part, _)| message.contains(part))
        };
        by_code.or_else(by_message).map(|(_, fault)| *fault)
    }

    fn is_transient(self) -> bool {
        match self {
            Self::PasswordMissing | Self::LoginFailed | Self::PermissionMissing | Self::LuaMissing => false,
            Self::IsReplica
            | Self::OutOfMemory
            | Self::NotPersisting
            | Self::TooFewReplicas
            | Self::ScriptRunning
            | Self::IsClusterNode
            | Self::ClusterDown
            | Self::TooOld => true,
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::PasswordMissing => {
                "give it a password: redis://:PASSWORD@HOST as its URL; in code, also builder().password(..)"
            }
            Self::LoginFailed => "check the user name and the password",
            Self::PermissionMissing => {
                "allow the user the commands and keys in docs/security.md, Other users of Redis; ACL LOG shows what was denied"
            }
            Self::IsReplica => "this is a replica: connect to the primary",
            Self::OutOfMemory => "Redis is out of memory: raise maxmemory",
            Self::NotPersisting => {
                "Redis cannot save its data and refuses writes: see its log, and whether its disk is full"
            }
            Self::TooFewReplicas => "Redis refuses writes, since it has too few replicas: see min-replicas-to-write",
            Self::ScriptRunning => "another script is blocking Redis",
            Self::IsClusterNode => "this is a node of a cluster: name its nodes with builder().cluster(..)",
            Self::ClusterDown => "the cluster has lost nodes, or no node serves these keys: see CLUSTER INFO",
            Self::LuaMissing => {
                "this Valkey was built without Lua, or it was unloaded: limits need it (BUILD_LUA=yes, or MODULE LOAD)"
            }
            Self::TooOld => "Redis 6.2 or later is needed",
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { url, source } => write!(
                f,
                "url = {url:?}: {source}; it must be like redis://HOST:PORT (rediss:// needs the feature `tls`)"
            ),
            Self::Setting(error) => error.fmt(f),
            Self::Connection { address, source, .. } if self.kind() == FailureKind::NotRedis => {
                let cause = in_one_line(source.error());
                write!(f, "{address} does not answer like a Redis ({cause}); is this its address?")
            }
            Self::Connection { address, source, .. } => {
                let advice = self.kind().connection_advice();
                write!(f, "no connection to Redis at {address}: {source}; {advice}")
            }
            Self::NoRuntime => f.write_str("no tokio runtime: call the store from within one"),
            Self::Deadline {
                address,
                deadline,
                sent,
            } => {
                write!(f, "Redis at {address} did not answer within {deadline:?}")?;
                match sent {
                    true => f.write_str("; it accepted the connection, so it may be stopped or blocked"),
                    false => Ok(()),
                }
            }
            Self::Superseded => f.write_str(
                "an earlier answer about a concurrency limit was lost, and this node has corrected what it holds: the slots of this request are released",
            ),
            Self::Overloaded { address, deadline } => write!(
                f,
                "Redis at {address} cannot keep up: the request was not sent, since it could not be decided within {deadline:?}"
            ),
            Self::CircuitOpen { address, source } => {
                write!(f, "circuit breaker open for Redis at {address}: {source}")
            }
            Self::Server { address, source } => {
                write!(f, "Redis at {address} replied with an error: {source}")?;
                ServerFault::of(source.error()).map_or(Ok(()), |fault| write!(f, "; {}", fault.advice()))
            }
            Self::Protocol { reason } => write!(f, "unexpected reply from Redis: {reason}"),
        }
    }
}

impl error::Error for StoreError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Address { source, .. } | Self::Connection { source, .. } | Self::Server { source, .. } => {
                Some(source)
            }
            Self::Setting(error) => Some(error),
            Self::CircuitOpen { source, .. } => Some(&**source),
            Self::NoRuntime
            | Self::Deadline { .. }
            | Self::Overloaded { .. }
            | Self::Superseded
            | Self::Protocol { .. } => None,
        }
    }
}
