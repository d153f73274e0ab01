//! Passes a request on to the service, and its answer back.

use std::{net::SocketAddr, time::Duration};

use axum::body::Body;
use http::{
    HeaderValue, Request, Response, Uri, Version,
    header::VIA,
    uri::{Authority, Scheme},
};
use hyper::body::{Body as _, Incoming};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use tollgate::RuleSet;

use super::{
    download::Download,
    failure,
    link::Connector,
    tunnel::Wish,
    upload::{Party, Upload, Wait},
};
use crate::{
    common::unique::unique,
    gateway::{
        answer::{Answer, Failing, Passed},
        bounds::{MOST_OF_A_HEAD, Timeouts},
        forwarding,
        guest::Unread,
        measures::Measures,
        sanitize::sanitize_forwarded,
        seldom::Seldom,
    },
};

/// Shorter than what services are known to keep a connection for that is not used: who reuses one just as it is closed does not
/// know whether its request has been heard.
const IDLE: Duration = Duration::from_secs(4);

pub(crate) struct Proxy {
    client: Client<Connector, Body>,
    to: Authority,
    timeouts: Timeouts,
    /// Says what may be believed.
    rules: RuleSet,
    /// What this gateway is called on a request's way.
    name: HeaderValue,
    measures: Measures,
    failures: Seldom,
}

impl Proxy {
    pub(crate) fn new(to: Authority, timeouts: Timeouts, rules: RuleSet, measures: Measures) -> Self {
        let mut client = Client::builder(TokioExecutor::new());
        client.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        client.http1_max_buf_size(MOST_OF_A_HEAD);
        let name = format!("1.1 tollgate-{}", unique());
        Self {
            client: client.build(Connector::new(timeouts.upstream)),
            to,
            timeouts,
            rules,
            name: name.try_into().expect("letters and digits"),
            measures,
            failures: Seldom::default(),
        }
    }

    /// The service's answer, or the gateway's in place of it.
    pub(crate) async fn pass(&self, request: Request<Incoming>) -> Answer {
        let passed = self.ask(request).await;
        if let Err(failing @ (Failing::BadUpstream | Failing::UpstreamTooSlow)) = passed {
            self.failures.tell(|failures| {
                tracing::warn!(upstream = %self.to, error = failing.name(), failures, "the service fails");
            });
        }
        passed.unwrap_or_else(Failing::answer)
    }

    async fn ask(&self, mut request: Request<Incoming>) -> Result<Answer, Failing> {
        if request.headers().get_all(VIA).iter().any(|via| self.is_in(via)) {
            return Err(Failing::Loop);
        }
        let wish = Wish::of(&mut request);
        forwarding::strip_request(request.headers_mut());
        let peer: Option<SocketAddr> = request.extensions().get().copied();
        let headers = request.headers_mut();
        sanitize_forwarded(headers, peer.map(|peer| peer.ip()), &self.rules.trusted_proxies());
        forwarding::tell(headers);
        headers.append(VIA, self.name.clone());
        if wish.is_some() {
            Wish::express(headers);
        }
        let (response, wait) = self.send(request).await?;
        self.receive(wish, response, wait)
    }

    async fn send(&self, request: Request<Incoming>) -> Result<(Response<Incoming>, Wait), Failing> {
        let (mut head, body) = request.into_parts();
        let mut target = head.uri.into_parts();
        (target.scheme, target.authority) = (Some(Scheme::HTTP), Some(self.to.clone()));
        head.uri = Uri::from_parts(target).expect("a plain path at a known service");
        head.version = Version::HTTP_11;
        let has_no_body = body.is_end_stream();
        let (upload, mut wait) = Upload::new(body, head.extensions.remove::<Unread>());
        // What is empty from the start is not announced.
        let body = if has_no_body { Body::empty() } else { Body::new(upload) };
        let began = std::time::Instant::now();
        tokio::select! {
            answer = self.client.request(Request::from_parts(head, body)) => {
                let answer = answer.map_err(|error| failure::reason(&error))?;
                self.measures.upstream_took(began.elapsed());
                Ok((answer, wait))
            }
            party = wait.too_long(self.timeouts) => Err(match party {
                Party::Client => Failing::ClientTooSlow,
                Party::Upstream => Failing::UpstreamTooSlow,
            }),
        }
    }

    fn receive(&self, wish: Option<Wish>, mut response: Response<Incoming>, wait: Wait) -> Result<Answer, Failing> {
        if forwarding::is_encoded_for_transfer(response.headers()) {
            return Err(Failing::BadUpstream);
        }
        *response.version_mut() = Version::HTTP_11;
        response.extensions_mut().insert(Passed);
        let is_fulfilled = Wish::is_fulfilled(&response);
        let switches = response.status().is_informational();
        forwarding::strip(response.headers_mut());
        match wish {
            Some(wish) if is_fulfilled => {
                wish.connect(&mut response, self.timeouts.upstream);
                Wish::express(response.headers_mut());
                Ok(response.map(|_| Body::empty()))
            }
            // It switches to what nobody has asked for.
            _ if switches => Err(Failing::BadUpstream),
            _ if response.body().is_end_stream() => Ok(response.map(|_| Body::empty())),
            _ => Ok(response.map(|body| Body::new(Download::new(body, self.timeouts.upstream, wait)))),
        }
    }

    fn is_in(&self, via: &HeaderValue) -> bool {
        let name = self.name.as_bytes();
        via.as_bytes().windows(name.len()).any(|window| window == name)
    }
}
