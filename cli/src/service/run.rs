//! Starts the service.

use futures_util::future::OptionFuture;

use super::{
    args::{Addresses, ServiceArgs},
    banner::Banner,
    grpc,
    http::HttpService,
    metrics::ServiceMetrics,
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

pub(crate) fn run(args: &ServiceArgs, output: OutputArgs) -> Result<(), Failure> {
    server::start(&args.server, output, |store| serve(args, store, output))
}

async fn serve(args: &ServiceArgs, store: StoreConfig, output: OutputArgs) -> Result<(), Failure> {
    let rules_file = args.rules.as_deref();
    let server = Server::new("service", &args.server, &store, rules_file, SAMPLE_RULES)?;
    let Addresses { grpc, http } = args.addresses();
    let grpc = grpc.map(|address| bind(address, "--grpc")).transpose()?;
    let http = http.map(|address| bind(address, "--http")).transpose()?;
    let store_lines = StoreLines::check(&server.store).await;
    let banner = match output.quiet {
        true => None,
        false => {
            let banner = Banner {
                addresses: Addresses {
                    grpc: grpc.as_ref().map(|(_, address)| *address),
                    http: http.as_ref().map(|(_, address)| *address),
                },
                rules: RulesLines {
                    file: rules_file,
                    rules: &server.rules,
                },
                store: store_lines,
                admin: AdminLine(server.admin_address()),
            };
            Some(banner.to_string())
        }
    };

    let metrics = ServiceMetrics::new(server.metrics.clone());
    let (store, rules, shutdown) = (server.store.clone(), server.rules.clone(), server.shutdown());
    let client_timeout = args.server.client_timeout;
    let drain = Drain {
        timeout: args.drain_timeout,
        option: "--drain-timeout",
    };
    let http = http.map(|(listener, _)| {
        let service = HttpService::new(&server, client_timeout, metrics.clone());
        let proxies = Listener::new(client_timeout, drain, metrics.server().clone());
        proxies.serve(listener, move |request| service.clone().call(request), shutdown.clone())
    });
    let serving = async move {
        let grpc =
            grpc.map(|(listener, _)| grpc::serve(listener, &store, rules, metrics, client_timeout, shutdown, drain));
        tokio::join!(OptionFuture::from(http), OptionFuture::from(grpc));
    };
    server.run(banner, serving).await;
    Ok(())
}
