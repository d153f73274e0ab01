//! Starts the gateway.

use super::{
    args::GatewayArgs,
    banner::Banner,
    metrics::GatewayMetrics,
    service::GatewayService,
    upstream::{Proxy, Timeouts, echo},
};
use crate::{
    args::OutputArgs,
    common::{listen::bind, output::Failure, store::StoreConfig},
    server::{
        self, Server,
        banner::{AdminLine, RulesLines, StoreLines},
        listener::{Drain, Listener},
    },
};

const SAMPLE_RULES: &str = include_str!("rules.toml");

pub(crate) fn run(args: &GatewayArgs, output: OutputArgs) -> Result<(), Failure> {
    server::start(&args.server, output, |store| serve(args, store, output))
}

async fn serve(args: &GatewayArgs, store: StoreConfig, output: OutputArgs) -> Result<(), Failure> {
    let rules_file = args.rules.as_deref();
    let server = Server::new("gateway", &args.server, &store, rules_file, SAMPLE_RULES)?;
    let (listener, listen_address) = bind(args.listen, "--listen")?;
    let (is_built_in, upstream) = match &args.upstream {
        Some(upstream) => (false, upstream.clone()),
        None => (
            true,
            echo::start()
                .await
                .map_err(|error| format!("cannot start the built-in upstream: {error}"))?,
        ),
    };
    let store_lines = StoreLines::check(&server.store).await;
    let banner = match output.quiet {
        true => None,
        false => {
            let banner = Banner {
                listen: listen_address,
                rules: RulesLines {
                    file: rules_file,
                    rules: &server.rules,
                },
                has_limits: !args.no_limits,
                store: store_lines,
                upstream: &upstream,
                is_built_in,
                admin: AdminLine(server.admin_address()),
            };
            Some(banner.to_string())
        }
    };

    let metrics = GatewayMetrics::new();
    let timeouts = Timeouts {
        client: args.server.client_timeout,
        upstream: args.upstream_timeout,
    };
    let proxy = Proxy::new(upstream, timeouts, server.rules.clone(), metrics.clone());
    let limits = (!args.no_limits).then_some((&server.store, server.rules.clone()));
    let service = GatewayService::new(proxy, limits, metrics);
    let drain = Drain {
        timeout: args.upstream_timeout,
        option: "--upstream-timeout",
    };
    let clients = Listener::new(timeouts.client, drain, server.metrics.clone());
    let serving = clients.serve(
        listener,
        move |request| service.clone().call(request),
        server.shutdown(),
    );
    server.run(banner, serving).await;
    Ok(())
}
