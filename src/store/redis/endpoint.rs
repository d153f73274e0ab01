//! The address of Redis, and the credentials.

use std::fmt;

use deadpool_redis::redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisError};

use super::{
    connection::{ConnectionConfig, Connector, Sentinels},
    error::{RedisCause, StoreError},
    router::Seeds,
};
use crate::config_error::ConfigError;

/// The address if none is set.
const DEFAULT_URL: &str = "redis://127.0.0.1:6379";

/// The address and the credentials of a Redis, its sentinels or its cluster.
#[derive(Clone, Default)]
pub(super) struct Endpoint {
    /// `None` for the address in `info`, or for the default address if there is no `info` either.
    pub(super) deployment: Option<Deployment>,
    /// The settings of every connection.
    pub(super) info: Option<Box<ConnectionInfo>>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: Option<u32>,
}

#[derive(Clone)]
pub(super) enum Deployment {
    Url(String),
    /// The primary of this name, at the address that these sentinels report.
    Sentinels(String, Vec<String>),
    /// A cluster, whose slot map these nodes report.
    Cluster(Vec<String>),
}

impl Endpoint {
    /// The addresses to connect to, or an error if one is invalid.
    pub(super) fn seeds(&self, config: impl Fn(ConnectionInfo) -> ConnectionConfig) -> Result<Seeds, StoreError> {
        let standalone = |info| self.standalone(config(self.log_in(info)?));
        match (&self.deployment, self.info.as_deref()) {
            (Some(Deployment::Cluster(urls)), _) => self.cluster(urls, config),
            (Some(Deployment::Sentinels(name, urls)), _) => self.behind_sentinels(name, urls, config),
            (Some(Deployment::Url(url)), _) => standalone(parse(url)?),
            (None, Some(info)) => standalone(info.clone()),
            (None, None) => standalone(parse(DEFAULT_URL)?),
        }
    }

    fn standalone(&self, config: ConnectionConfig) -> Result<Seeds, StoreError> {
        // Reports an invalid address now, not at the first connection.
        config.pool().map_err(|error| bad_address(&self.redacted(), error))?;
        let (address, pool_size) = (config.address(), config.pool_size);
        let connector = Box::new(Connector::direct(config));
        Ok(Seeds::Standalone {
            address,
            connector,
            pool_size,
        })
    }

    fn behind_sentinels(
        &self,
        name: &str,
        urls: &[String],
        config: impl Fn(ConnectionInfo) -> ConnectionConfig,
    ) -> Result<Seeds, StoreError> {
        let infos = parse_all("sentinels", urls)?;
        if name.is_empty() {
            return Err(setting(
                "name",
                "\"\"",
                "be the name of the primary in the configuration of the sentinels",
            ));
        }
        // Credentials in the addresses of sentinels apply to the sentinels only.
        let anonymous = infos[0].clone().set_redis_settings(RedisConnectionInfo::default());
        let redis = self.info.as_deref().cloned().unwrap_or(anonymous);
        let redis = config(self.log_in(redis)?);
        let sentinel = |info: ConnectionInfo| {
            let (host, port) = host_and_port("sentinels", &info)?;
            let sentinel = redis.at(host, port);
            let info = sentinel.info.set_redis_settings(info.redis_settings().clone());
            Ok(config(info))
        };
        let sentinels = Sentinels {
            name: name.into(),
            configs: infos.into_iter().map(sentinel).collect::<Result<_, StoreError>>()?,
        };
        let (address, pool_size) = (format!("{name} of {}", self.redacted()), redis.pool_size);
        let connector = Box::new(Connector::by_sentinels(sentinels, redis));
        Ok(Seeds::Standalone {
            address,
            connector,
            pool_size,
        })
    }

    fn cluster(
        &self,
        urls: &[String],
        config: impl Fn(ConnectionInfo) -> ConnectionConfig,
    ) -> Result<Seeds, StoreError> {
        let infos = parse_all("cluster", urls)?;
        let first = self.info.as_deref().unwrap_or(&infos[0]);
        let first = config(self.log_in(first.clone())?);
        let database = first.info.redis_settings().db();
        if database != 0 {
            return Err(setting(
                "database",
                database,
                "be 0 in a cluster, which has no other databases",
            ));
        }
        let seed = |info: &ConnectionInfo| {
            let (host, port) = host_and_port("cluster", info)?;
            Ok(first.at(host, port))
        };
        let seeds = infos.iter().map(seed).collect::<Result<_, StoreError>>()?;
        Ok(Seeds::Cluster(seeds))
    }

    fn log_in(&self, info: ConnectionInfo) -> Result<ConnectionInfo, StoreError> {
        let mut login = info.redis_settings().clone();
        if login.lib_name().is_none() {
            login = login.set_lib_name("tollgate", env!("CARGO_PKG_VERSION"));
        }
        if let Some(username) = &self.username {
            login = login.set_username(username);
        }
        if let Some(password) = &self.password {
            login = login.set_password(password);
        }
        if let Some(database) = self.database {
            login = login.set_db(database.into());
        }
        // Without a password, redis-rs does not authenticate, and calls would run as the default user.
        if let (Some(name), None) = (login.username(), login.password()) {
            return Err(setting(
                "username",
                format_args!("{name:?}"),
                "be set together with a password",
            ));
        }
        // Each write is small and waits for its reply: Nagle's algorithm would only add latency.
        let tcp = info.tcp_settings().clone().set_nodelay(true);
        Ok(info.set_tcp_settings(tcp).set_redis_settings(login))
    }

    /// The address for errors and logs, without passwords.
    pub(super) fn redacted(&self) -> String {
        let all = |urls: &[String]| {
            let urls: Vec<_> = urls.iter().map(|url| redact(url)).collect();
            urls.join(",")
        };
        match (&self.deployment, &self.info) {
            (Some(Deployment::Url(url)), _) => redact(url),
            (Some(Deployment::Sentinels(_, urls) | Deployment::Cluster(urls)), _) => all(urls),
            (None, Some(info)) => info.addr().to_string(),
            (None, None) => DEFAULT_URL.into(),
        }
    }
}

fn parse(url: &str) -> Result<ConnectionInfo, StoreError> {
    url.into_connection_info()
        .map_err(|error| bad_address(&redact(url), error))
}

fn parse_all(field: &'static str, urls: &[String]) -> Result<Vec<ConnectionInfo>, StoreError> {
    if urls.is_empty() {
        return Err(setting(field, "[]", "name at least one address"));
    }
    urls.iter().map(|url| parse(url)).collect()
}

fn setting(field: &'static str, value: impl fmt::Display, must: &'static str) -> StoreError {
    StoreError::Setting(ConfigError::new(field, value, must))
}

fn host_and_port<'a>(field: &'static str, info: &'a ConnectionInfo) -> Result<(&'a str, u16), StoreError> {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => Ok((host, *port)),
        other => Err(setting(field, other, "name hosts and ports")),
    }
}

fn bad_address(url: &str, error: RedisError) -> StoreError {
    StoreError::Address {
        url: url.into(),
        source: RedisCause::new(error),
    }
}

/// Redacts every part of an address that may be a password.
fn redact(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split_once('?').map_or(place, |(place, _)| place);
    // Without a host, the part in the position of the port may be a password whose `@` is missing.
    let (host, port) = place.split_once(':').unwrap_or((place, ""));
    let place = if host.is_empty() && !port.is_empty() { "" } else { place };
    let hidden = if place.len() == rest.len() { "" } else { "***" };
    match scheme {
        "" => format!("{hidden}{place}"),
        _ => format!("{scheme}://{hidden}{place}"),
    }
}
