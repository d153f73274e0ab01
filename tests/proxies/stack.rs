//! An application, proxies in front of it, a service beside each, and one Redis.

use std::sync::Arc;

use tokio::task::JoinSet;

use support::redis::RedisServer;

use super::{
    app::App,
    program::{Edit, Program},
    proxy::Proxy,
    service::Service,
};

/// The number of clients that send requests at the same time.
const CLIENTS: usize = 16;

pub(crate) struct Stack {
    pub(crate) proxies: Vec<Arc<Proxy>>,
    pub(crate) services: Vec<Service>,
    pub(crate) app: App,
    pub(crate) redis: RedisServer,
}

impl Stack {
    /// With patient timeouts.
    pub(crate) async fn start(program: &Program, rules: &str, instances: usize) -> Self {
        Self::start_with(program, rules, instances, &[program.patient], &[]).await
    }

    /// With these edits of the configuration, and these options of the service.
    pub(crate) async fn start_with(
        program: &Program,
        rules: &str,
        instances: usize,
        edits: &[Edit],
        options: &[&str],
    ) -> Self {
        let (redis, app) = (RedisServer::start(), App::start().await);
        let start = |_| Service::start(program, rules, &redis, options);
        let services: Vec<_> = (0..instances).map(start).collect();
        let mut proxies = Vec::new();
        for service in &services {
            proxies.push(Arc::new(Proxy::start(program, app.port(), service.port(), edits).await));
        }
        Self {
            proxies,
            services,
            app,
            redis,
        }
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        &self.proxies[0]
    }

    /// Concurrent clients of all proxies send requests as one tenant: the number of responses with 200, and with 429. There are no
    /// others.
    pub(crate) async fn send_concurrently(&self, requests: usize, path: &str, tenant: &str) -> (usize, usize) {
        let clients = (0..CLIENTS).map(|client| {
            let proxy = Arc::clone(&self.proxies[client % self.proxies.len()]);
            let (path, tenant) = (path.to_owned(), tenant.to_owned());
            async move {
                let (mut admitted, mut denied) = (0, 0);
                for _ in (client..requests).step_by(CLIENTS) {
                    let reply = proxy.get(&path, &[("x-tenant", &tenant)]).await;
                    match reply.status {
                        200 => admitted += 1,
                        429 => denied += 1,
                        _ => panic!("{reply:?}"),
                    }
                }
                (admitted, denied)
            }
        });
        let counts = clients.collect::<JoinSet<_>>().join_all().await;
        counts
            .into_iter()
            .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
    }
}
