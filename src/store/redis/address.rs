//! Where Redis is, and on what terms it is asked.

use std::{fmt, sync::Arc};

use deadpool_redis::redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisError};

use super::{
    error::StoreError,
    servers::{Cluster, Sentinels, Server, Servers, Terms, Way},
};
use crate::invalid::Invalid;

#[derive(Clone)]
pub(super) enum Place {
    Url(String),
    /// Where the connection info says.
    Info(Box<ConnectionInfo>),
    /// Wherever the sentinels say that the primary of this name is.
    Sentinels(String, Vec<String>),
    /// Wherever these nodes say that a key's slot is.
    Cluster(Vec<String>),
}

/// Who logs in, and with what, instead of what the address says.
#[derive(Clone, Default)]
pub(super) struct Login {
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: Option<u32>,
}

impl Place {
    /// Whoever is to be asked, without asking yet; or what is wrong with the address.
    pub(super) fn servers(
        &self,
        login: &Login,
        terms: impl Fn(ConnectionInfo) -> Terms,
    ) -> Result<Servers, StoreError> {
        let one = |terms: Terms| {
            let (address, lanes) = (terms.address(), terms.lanes);
            // What is wrong with it is said now, and not when somebody first connects.
            terms.pool().map_err(|error| bad_address(&self.shown(), error))?;
            Ok(Servers::One(Arc::new(Server::new(
                &address,
                Way::straight(terms),
                lanes,
            ))))
        };
        match self {
            Self::Url(url) => one(terms(login.on(parse(url)?)?)),
            Self::Info(info) => one(terms(login.on((**info).clone())?)),
            Self::Sentinels(name, urls) => {
                let infos = parse_all("sentinels", urls)?;
                if name.is_empty() {
                    return Err(setting("name", "\"\"", "be what the sentinels call the primary"));
                }
                let address = format!("{name} of {}", self.shown());
                let redis = infos[0].clone().set_redis_settings(RedisConnectionInfo::default());
                let redis = terms(login.on(redis)?);
                let lanes = redis.lanes;
                let sentinels = Sentinels {
                    name: name.clone(),
                    terms: infos.into_iter().map(|info| terms(prompt(info))).collect(),
                };
                Ok(Servers::One(Arc::new(Server::new(
                    &address,
                    Way::by(sentinels, redis),
                    lanes,
                ))))
            }
            Self::Cluster(urls) => {
                let seeds = parse_all("cluster", urls)?;
                let first = terms(login.on(seeds[0].clone())?);
                let database = first.info.redis_settings().db();
                if database != 0 {
                    return Err(setting("database", database, "be 0 in a cluster, which has no other"));
                }
                let seed = |info: &ConnectionInfo| match info.addr() {
                    ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                        Ok(first.at(host, *port))
                    }
                    other => Err(setting("cluster", other, "name nodes by host and port")),
                };
                let seeds: Result<_, StoreError> = seeds.iter().map(seed).collect();
                Ok(Servers::Cluster(Arc::new(Cluster::new(seeds?))))
            }
        }
    }

    /// As errors and logs may show it.
    pub(super) fn shown(&self) -> String {
        let all = |urls: &[String]| {
            let shown: Vec<_> = urls.iter().map(|url| without_password(url)).collect();
            shown.join(",")
        };
        match self {
            Self::Url(url) => without_password(url),
            Self::Info(info) => info.addr().to_string(),
            Self::Sentinels(_, urls) | Self::Cluster(urls) => all(urls),
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

fn bad_address(url: &str, error: RedisError) -> StoreError {
    StoreError::Address {
        url: url.into(),
        source: Arc::new(error),
    }
}

/// Small writes that wait for an answer each: nothing is gained by holding them back.
fn prompt(info: ConnectionInfo) -> ConnectionInfo {
    let tcp = info.tcp_settings().clone().set_nodelay(true);
    info.set_tcp_settings(tcp)
}

impl Login {
    fn on(&self, info: ConnectionInfo) -> Result<ConnectionInfo, StoreError> {
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
        match (login.username(), login.password()) {
            (Some(name), None) => {
                let name = format_args!("{name:?}");
                Err(setting("username", name, "come with a password"))
            }
            _ => Ok(prompt(info).set_redis_settings(login)),
        }
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
