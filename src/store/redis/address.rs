//! Where Redis is, and on what terms it is asked.

use std::{fmt, sync::Arc};

use deadpool_redis::redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisError};

use super::{
    error::StoreError,
    servers::{Cluster, Sentinels, Server, Servers, Terms, Way},
};
use crate::invalid::Invalid;

/// Where Redis is if nothing else is said.
const HERE: &str = "redis://127.0.0.1:6379";

/// Where Redis is, and how to get in.
#[derive(Clone, Default)]
pub(super) struct Address {
    /// Unless it is where the connection info says, or on this machine.
    pub(super) place: Option<Place>,
    /// What is said to every Redis.
    pub(super) info: Option<Box<ConnectionInfo>>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: Option<u32>,
}

#[derive(Clone)]
pub(super) enum Place {
    Url(String),
    /// Wherever the sentinels say that the primary of this name is.
    Sentinels(String, Vec<String>),
    /// Wherever these nodes say that a key's slot is.
    Cluster(Vec<String>),
}

impl Address {
    /// Whoever is to be asked, without asking yet; or what is wrong with the address.
    pub(super) fn servers(&self, terms: impl Fn(ConnectionInfo) -> Terms) -> Result<Servers, StoreError> {
        let one = |info| self.one(terms(self.log_in(info)?));
        match (&self.place, self.info.as_deref()) {
            (Some(Place::Cluster(urls)), _) => self.cluster(urls, terms),
            (Some(Place::Sentinels(name, urls)), _) => self.behind_sentinels(name, urls, terms),
            (Some(Place::Url(url)), _) => one(parse(url)?),
            (None, Some(info)) => one(info.clone()),
            (None, None) => one(parse(HERE)?),
        }
    }

    fn one(&self, terms: Terms) -> Result<Servers, StoreError> {
        // What is wrong with it is said now, and not when somebody first connects.
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
            return Err(setting("name", "\"\"", "be what the sentinels call the primary"));
        }
        // What their addresses say of users is for the sentinels alone.
        let stranger = infos[0].clone().set_redis_settings(RedisConnectionInfo::default());
        let redis = self.info.as_deref().cloned().unwrap_or(stranger);
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
            return Err(setting("database", database, "be 0 in a cluster, which has no other"));
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
        // redis-rs would log nobody in, and the default user would do the work.
        if let (Some(name), None) = (login.username(), login.password()) {
            return Err(setting("username", format_args!("{name:?}"), "come with a password"));
        }
        // Small writes that wait for an answer each: nothing is gained by holding them back.
        let tcp = info.tcp_settings().clone().set_nodelay(true);
        Ok(info.set_tcp_settings(tcp).set_redis_settings(login))
    }

    /// As errors and logs may show it.
    pub(super) fn shown(&self) -> String {
        let all = |urls: &[String]| {
            let shown: Vec<_> = urls.iter().map(|url| without_password(url)).collect();
            shown.join(",")
        };
        match (&self.place, &self.info) {
            (Some(Place::Url(url)), _) => without_password(url),
            (Some(Place::Sentinels(_, urls) | Place::Cluster(urls)), _) => all(urls),
            (None, Some(info)) => info.addr().to_string(),
            (None, None) => HERE.into(),
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
    StoreError::Setting(Invalid::new(field, value, must))
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

/// An address as it may be shown: without whatever could be a password, wherever it stands.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split_once('?').map_or(place, |(place, _)| place);
    // Without a host, what stands where the port would is a password that lost its `@`.
    let (host, port) = place.split_once(':').unwrap_or((place, ""));
    let place = if host.is_empty() && !port.is_empty() { "" } else { place };
    let hidden = if place.len() == rest.len() { "" } else { "***" };
    match scheme {
        "" => format!("{hidden}{place}"),
        _ => format!("{scheme}://{hidden}{place}"),
    }
}
