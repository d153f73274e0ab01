//! Access to the admin server: disabled by default, and closed to web pages in an operator's browser.

use std::{
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
};

use axum::http::Method;
use reqwest::Client;
use serde_json::json;

use super::{RULES, status_and_json};
use support::{http::Reply, wait::until};

use crate::{
    gateway::{
        fixture::{Gateway, program},
        service::Service,
    },
    server_process::Running,
};

/// A gateway with only these options.
struct BareGateway(Running);

impl BareGateway {
    fn start(options: &[&str]) -> Self {
        let mut gateway = program();
        gateway.args(["--listen", "127.0.0.1:0"]).args(options);
        Self(Running::start(gateway.stderr(Stdio::null())))
    }

    /// The admin address in the banner.
    fn admin(&self) -> &str {
        let lines = &mut self.0.banner.lines();
        lines
            .find_map(|line| line.trim_start().strip_prefix("admin     "))
            .unwrap()
    }

    /// Every port at which this process listens.
    fn ports(&self) -> Vec<u16> {
        let process = format!("/proc/{}", self.0.child.id());
        let files = fs::read_dir(format!("{process}/fd")).unwrap();
        let files = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
        let sockets: Vec<_> = files
            .filter_map(|file| Some(file.to_str()?.strip_prefix("socket:[")?.to_owned()))
            .collect();
        let mut ports = Vec::new();
        for table in ["tcp", "tcp6"] {
            let table = fs::read_to_string(format!("{process}/net/{table}")).unwrap();
            for line in table.lines().skip(1) {
                let columns: Vec<_> = line.split_whitespace().collect();
                let (local, state, inode) = (columns[1], columns[3], columns[9]);
                // 0A is LISTEN.
                if state == "0A" && sockets.contains(&format!("{inode}]")) {
                    ports.push(u16::from_str_radix(local.rsplit_once(':').unwrap().1, 16).unwrap());
                }
            }
        }
        ports.sort_unstable();
        // The table may list a socket twice while other sockets open and close.
        ports.dedup();
        ports
    }
}

#[tokio::test]
async fn without_an_admin_address_there_is_no_admin_server() {
    let service = Service::start().await;
    let gateway = BareGateway::start(&["--upstream", &service.url()]);
    assert_eq!(gateway.admin(), "disabled; enable it with --admin 9090");
    let address = gateway.0.address("listening on http://");
    // The table may also miss a socket while others open and close.
    until("it listens at one port only", || gateway.ports() == [address.port()]);
    // At the gateway's own address, the service answers these paths.
    let client = Client::builder().no_proxy().build().unwrap();
    for path in ["/healthz", "/metrics", "/limits", "/keys/client/ip:127.0.0.1"] {
        let reply = Reply::to(client.get(format!("http://{address}{path}"))).await;
        assert_eq!((reply.status, reply.body), (200, format!("GET {path}")));
    }
}

#[tokio::test]
async fn a_port_alone_binds_to_loopback() {
    for port in ["0", ":0"] {
        let gateway = BareGateway::start(&["--admin", port]);
        let address: SocketAddr = gateway.admin().strip_prefix("http://").unwrap().parse().unwrap();
        assert_eq!(address.ip().to_string(), "127.0.0.1");
        let client = Client::builder().no_proxy().build().unwrap();
        assert_eq!(
            Reply::to(client.get(format!("http://{address}/healthz"))).await.status,
            200
        );
    }
}

/// HTTP/2 has the host name in `:authority`, and no Host header.
#[tokio::test]
async fn dns_rebinding_is_rejected_in_http_2() {
    let gateway = Gateway::start(RULES, &[]);
    for (name, status) in [("example.com", "403"), ("localhost", "200")] {
        let to = format!("{name}:{}", gateway.admin.port());
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--http2-prior-knowledge",
            "--output",
            "/dev/null",
            "--write-out",
        ]);
        curl.args(["%{http_version} %{http_code}", "--resolve", &format!("{to}:127.0.0.1")]);
        let output = curl.arg(format!("http://{to}/limits")).output().unwrap().stdout;
        assert_eq!(str::from_utf8(&output), Ok(&*format!("2 {status}")), "{name}");
    }
}

#[tokio::test]
async fn dns_rebinding_is_rejected() {
    let gateway = Gateway::start(RULES, &[]);
    let client = Client::builder().no_proxy().build().unwrap();
    let send = async |host: &str, method: Method, path: &str| {
        let url = format!("http://{}{path}", gateway.admin);
        Reply::to(client.request(method, url).header("host", host)).await
    };
    let forbidden = json!({ "message": "the Host header must be an IP address or localhost" });
    for host in [
        "example.com",
        "localhost.example.com",
        "127.0.0.1.example.com:80",
        "a",
        "1.2.3.4.5",
        // Browsers send some host names that do not parse.
        "a%7b.example.com",
        "{a}.example.com:80",
        "\u{e9}.example.com",
        "localhost localhost.example.com",
    ] {
        for path in [
            "/healthz",
            "/metrics",
            "/limits",
            "/keys/user/x-user-id:alice",
            "/nothing",
        ] {
            let reply = send(host, Method::GET, path).await;
            assert_eq!(status_and_json(&reply), (403, forbidden.clone()), "{host} {path}");
        }
        let reply = send(host, Method::DELETE, "/keys/user/x-user-id:alice").await;
        assert_eq!(status_and_json(&reply), (403, forbidden.clone()), "{host}");
    }
    for host in ["localhost", "LOCALHOST:9090", "127.0.0.1", "[::1]:9090"] {
        assert_eq!(send(host, Method::GET, "/healthz").await.status, 200, "{host}");
    }
}

/// Bound to all interfaces, the admin server accepts any host name of the machine.
#[tokio::test]
async fn a_public_admin_address_warns_and_accepts_any_host_name() {
    let gateway = BareGateway::start(&["--admin", "0.0.0.0:0"]);
    let (address, warning) = gateway.admin().split_once(',').unwrap();
    assert_eq!(warning, " reachable from other machines without authentication");
    let address = address.replace("0.0.0.0", "127.0.0.1");
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client
        .get(format!("{address}/healthz"))
        .header("host", "gateway.internal");
    assert_eq!(Reply::to(request).await.status, 200);
}

#[tokio::test]
async fn other_methods_are_a_405() {
    let gateway = Gateway::start(RULES, &[]);
    for (path, methods) in [
        ("/healthz", "GET,HEAD"),
        ("/metrics", "GET,HEAD"),
        ("/limits", "GET,HEAD"),
        ("/keys/user/x-user-id:alice", "GET,HEAD,DELETE"),
    ] {
        for method in [Method::POST, Method::PUT, Method::PATCH] {
            let reply = gateway.admin(method.clone(), path).await;
            assert_eq!(
                (reply.status, reply.header("allow")),
                (405, methods.into()),
                "{method} {path}"
            );
        }
    }
    assert_eq!(gateway.admin(Method::DELETE, "/healthz").await.status, 405);
}
