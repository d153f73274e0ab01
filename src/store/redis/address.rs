//! The address of Redis, and the credentials.

use std::{fmt, sync::Arc};

use deadpool_redis::redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisError};

use super::{
    error::StoreError,
    servers::{Cluster, Sentinels, Server, Servers, Terms, Way},
};
use crate::config_error::ConfigError;

/// The address if none is set.
const DEFAULT_URL: &str = "redis://127.0.0.1:6379";

/// The address and the credentials of a Redis, its sentinels or its cluster.
#[derive(Clone, Default)]
pub(super) struct Address {
    /// `None` for the address in `info`, or for the default address if there is no `info` either.
    pub(super) place: Option<Place>,
    /// The settings of every connection.
    pub(super) info: Option<Box<ConnectionInfo>>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: Option<u32>,
}

#[derive(Clone)]
pub(super) enum Place {
    Url(String),
    /// The primary of this name, at the address that these sentinels report.
    Sentinels(String, Vec<String>),
    /// A cluster, whose slot map these nodes report.
    Cluster(Vec<String>),
}

impl Address {
    /// The servers, without connecting, or an error if the address is invalid.
    pub(super) fn servers(&self, terms: impl Fn(ConnectionInfo) -> Terms) -> Result<Servers, StoreError> {
        let one = |info| self.one(terms(self.log_in(info)?));
        match (&self.place, self.info.as_deref()) {
            (Some(Place::Cluster(urls)), _) => self.cluster(urls, terms),
            (Some(Place::Sentinels(name, urls)), _) => self.behind_sentinels(name, urls, terms),
            (Some(Place::Url(url)), _) => one(parse(url)?),
            (None, Some(info)) => one(info.clone()),
            (None, None) => one(parse(DEFAULT_URL)?),
        }
    }

    fn one(&self, terms: Terms) -> Result<Servers, StoreError> {
        // Reports an invalid address now, not at the first connection.
        terms.pool().map_err(|error| bad_address(&self.shown(), error))?;
        let (address, lanes) = (terms.address(), terms.lanes);
        let server = Server::new(&address, Way::straight(terms), lanes);
        Ok(Servers::One(Arc::new(server)))
    }

    fn behind_sentinels(
        &self,
        name: &str,
        urls: &[String],
        terms: impl Fn(ConnectionInfo) -> Terms,
    ) -> Result<Servers, StoreError> {
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
        let redis = terms(self.log_in(redis)?);
        let sentinel = |info: ConnectionInfo| {
            let (host, port) = host_and_port("sentinels", &info)?;
            let sentinel = redis.at(host, port);
            let info = sentinel.info.set_redis_settings(info.redis_settings().clone());
            Ok(terms(info))
        };
        let sentinels = Sentinels {
            name: name.into(),
            terms: infos.into_iter().map(sentinel).collect::<Result<_, StoreError>>()?,
        };
        let (address, lanes) = (format!("{name} of {}", self.shown()), redis.lanes);
        let server = Server::new(&address, Way::by(sentinels, redis), lanes);
        Ok(Servers::One(Arc::new(server)))
    }

    fn cluster(&self, urls: &[String], terms: impl Fn(ConnectionInfo) -> Terms) -> Result<Servers, StoreError> {
        let infos = parse_all("cluster", urls)?;
        let first = self.info.as_deref().unwrap_or(&infos[0]);
        let first = terms(self.log_in(first.clone())?);
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
        Ok(Servers::Cluster(Arc::new(Cluster::new(seeds))))
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
    pub(super) fn shown(&self) -> String {
        let all = |urls: &[String]| {
            let shown: Vec<_> = urls.iter().map(|url| without_password(url)).collect();
            shown.join(",")
        };
        match (&self.place, &self.info) {
            (Some(Place::Url(url)), _) => without_password(url),
            (Some(Place::Sentinels(_, urls) | Place::Cluster(urls)), _) => all(urls),
            (None, Some(info)) => info.addr().to_string(),
            (None, None) => DEFAULT_URL.into(),
        }
    }
}

fn parse(url: &str) -> Result<ConnectionInfo, StoreError> {
    url.into_connection_info()
        .map_err(|error| bad_address(&without_password(url), error))
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
        source: Arc::new(error),
    }
}

/// Redacts every part of an address that may be a password.
fn without_password(url: &str) -> String {
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
