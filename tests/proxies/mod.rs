//! Third-party proxies in front of an application, with `tollgate service` beside them: all as processes, with the configuration
//! of `docs/service/`.

mod addresses;
mod app;
mod caddy;
mod client;
mod documented;
mod envoy;
mod failing_closed;
mod forged;
mod load;
pub(crate) mod nginx;
mod outage;
mod program;
mod proxy;
mod rejections;
mod responses;
mod service;
mod shared_limits;
mod stack;
mod traefik;

/// Generates a test per proxy from each `async fn name(program: &'static Program)`.
macro_rules! for_each_proxy {
    ($($test:ident),* $(,)?) => {
        $crate::proxies::for_proxies! { [nginx NGINX, traefik TRAEFIK, caddy CADDY, envoy ENVOY] $($test),* }
    };
}

/// The same, for the proxies that describe a request in headers.
macro_rules! for_each_http_proxy {
    ($($test:ident),* $(,)?) => {
        $crate::proxies::for_proxies! { [nginx NGINX, traefik TRAEFIK, caddy CADDY] $($test),* }
    };
}

macro_rules! for_proxies {
    ([$($proxy:ident $program:ident),*] $test:ident) => {
        mod $test {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $proxy() {
                super::$test(&$crate::proxies::$proxy::$program).await;
            })*
        }
    };
    ($proxies:tt $test:ident, $($more:ident),*) => {
        $crate::proxies::for_proxies! { $proxies $test }
        $crate::proxies::for_proxies! { $proxies $($more),* }
    };
}

use {for_each_http_proxy, for_each_proxy, for_proxies};
