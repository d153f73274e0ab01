//! Who can ask at the admin address: nobody unless it is asked for, and no page in an operator's browser.

use std::{
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
};

use axum::http::Method;
use reqwest::Client;
use serde_json::json;

use super::{RULES, said};
use support::{http::Reply, patience::until};

use crate::gateway::{
    fixture::Gateway,
    program::{Running, program},
    service::Service,
};

/// A gateway with nothing but these options.
struct Plain(Running);

impl Plain {
    fn start(options: &[&str]) -> Self {
        let mut gateway = program();
        gateway.args(["--listen", "127.0.0.1:0"]).args(options);
        Self(Running::start(gateway.stderr(Stdio::null())))
    }

    /// What the banner says of the admin address.
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
                // 0A is a socket that listens.
                if state == "0A" && sockets.contains(&format!("{inode}]")) {
                    ports.push(u16::from_str_radix(local.rsplit_once(':').unwrap().1, 16).unwrap());
                }
            }
        }
        ports.sort_unstable();
        // While others come and go, the table may show one twice.
        ports.dedup();
        ports
    }
}

#[tokio::test]
async fn without_an_admin_address_there_is_no_admin_server() {
    let service = Service::start().await;
    let gateway = Plain::start(&["--upstream", &service.url()]);
    assert_eq!(gateway.admin(), "nowhere: --admin 9090 tells how things stand");
    let address = gateway.0.address("listening on http://");
    // While others come and go, the table may also miss one.
    until("it listens there and nowhere else", || {
        gateway.ports() == [address.port()]
    });
    // What is asked for there is the service's to answer.
    let client = Client::builder().no_proxy().build().unwrap();
    for path in ["/healthz", "/metrics", "/limits", "/keys/client/ip:127.0.0.1"] {
        let reply = Reply::to(client.get(format!("http://{address}{path}"))).await;
        assert_eq!((reply.status, reply.body), (200, format!("GET {path}")));
    }
}

#[tokio::test]
async fn a_port_alone_is_one_of_this_machine() {
    for port in ["0", ":0"] {
        let gateway = Plain::start(&["--admin", port]);
        let address: SocketAddr = gateway.admin().strip_prefix("http://").unwrap().parse().unwrap();
        assert_eq!(address.ip().to_string(), "127.0.0.1");
        let client = Client::builder().no_proxy().build().unwrap();
        assert_eq!(
            Reply::to(client.get(format!("http://{address}/healthz"))).await.status,
            200
        );
    }
}

/// There the name is in the target, and not in a header.
#[tokio::test]
async fn in_http_2_too() {
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
        let said = curl.arg(format!("http://{to}/limits")).output().unwrap().stdout;
        assert_eq!(str::from_utf8(&said), Ok(&*format!("2 {status}")), "{name}");
    }
}

#[tokio::test]
async fn a_name_that_was_made_to_point_here_is_refused() {
    let gateway = Gateway::start(RULES, &[]);
    let client = Client::builder().no_proxy().build().unwrap();
    let ask = async |host: &str, method: Method, path: &str| {
        let url = format!("http://{}{path}", gateway.admin);
        Reply::to(client.request(method, url).header("host", host)).await
    };
    let forbidden = json!({ "message": "ask by an address of this machine, or as localhost" });
    for host in [
        "example.com",
        "localhost.example.com",
        "127.0.0.1.example.com:80",
        "a",
        "1.2.3.4.5",
        // Not every name that a browser knows can be read.
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
            let reply = ask(host, Method::GET, path).await;
            assert_eq!(said(&reply), (403, forbidden.clone()), "{host} {path}");
        }
        let reply = ask(host, Method::DELETE, "/keys/user/x-user-id:alice").await;
        assert_eq!(said(&reply), (403, forbidden.clone()), "{host}");
    }
    for host in ["localhost", "LOCALHOST:9090", "127.0.0.1", "[::1]:9090"] {
        assert_eq!(ask(host, Method::GET, "/healthz").await.status, 200, "{host}");
    }
}

/// Who opens the address to others is asked by whatever name others have for the machine.
#[tokio::test]
async fn an_address_for_others_is_announced_and_asked_by_any_name() {
    let gateway = Plain::start(&["--admin", "0.0.0.0:0"]);
    let (address, warning) = gateway.admin().split_once(',').unwrap();
    assert_eq!(warning, " for everybody who can reach it");
    let address = address.replace("0.0.0.0", "127.0.0.1");
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client
        .get(format!("{address}/healthz"))
        .header("host", "gateway.internal");
    assert_eq!(Reply::to(request).await.status, 200);
}

#[tokio::test]
async fn nothing_is_changed_but_by_the_method_for_it() {
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
