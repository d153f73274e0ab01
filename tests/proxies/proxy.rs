//! A proxy as a process at free ports, with the documented configuration.

use std::{
    collections::BTreeMap,
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
};

use axum::http::Method;

use support::{folder::Folder, port::Port, process::Process, wait::eventually};

use super::{
    client::{Client, Reply, request},
    program::{APP, CHECK, Edit, PROXY, Program, documented},
};

/// Runs a program in a folder, with its output in the file `log`.
const RUN: &str = r#"cd "$1"; shift; echo started; "$@" >log 2>&1; echo exited >>log"#;

pub(crate) struct Proxy {
    address: SocketAddr,
    client: Client,
    folder: Folder,
    _process: Process,
    _ports: [Port; 2],
}

impl Proxy {
    /// Returns once the application is reachable through it. Each edit has to apply to one of its files.
    pub(crate) async fn start(program: &Program, app: u16, service: u16, edits: &[Edit]) -> Self {
        let ports = [Port::free(), Port::free()];
        let [proxy, check] = ports.each_ref().map(Port::number);
        let actual = BTreeMap::from([(PROXY, proxy), (CHECK, check), (APP, app), (program.service, service)]);
        let mut texts: Vec<String> = program.files.iter().map(|(file, _)| documented(file)).collect();
        for (from, to) in edits {
            assert!(
                texts.iter().any(|text| text.contains(from)),
                "{}: no {from:?}",
                program.name
            );
            texts.iter_mut().for_each(|text| *text = text.replace(from, to));
        }
        // A short path, since Caddy has a socket in it.
        let folder = Folder::short(program.name);
        for ((file, documented), text) in program.files.iter().zip(texts) {
            let name = Path::new(file).file_name().unwrap().to_str().unwrap();
            let text = with_ports(file, text, documented, &actual);
            fs::write(folder.file(name), text).unwrap();
        }
        let path = folder.path().display().to_string();
        let mut command = ["sh", "-c", RUN, "sh", &path].map(str::to_owned).to_vec();
        command.extend((program.command)(&folder));
        let proxy = Self {
            address: (Ipv4Addr::LOCALHOST, proxy).into(),
            client: Client::new(),
            _process: Process::start(&command, &["started"]),
            folder,
            _ports: ports,
        };
        eventually("the proxy is ready", async || proxy.is_ready().await).await;
        proxy
    }

    async fn is_ready(&self) -> bool {
        let log = self.log();
        assert!(!log.ends_with("exited\n"), "{log}");
        let reply = self
            .client
            .try_send(request(Method::GET, &self.url("/healthz"), &[], ""))
            .await;
        reply.is_some_and(|reply| reply.body == "ready")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap_or_default()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send_from(&self.client, Method::GET, path, headers, "").await
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &'static str) -> Reply {
        self.send_from(&self.client, Method::POST, path, headers, body).await
    }

    pub(crate) async fn send_from(
        &self,
        client: &Client,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &'static str,
    ) -> Reply {
        let reply = client.try_send(request(method, &self.url(path), headers, body)).await;
        reply.unwrap_or_else(|| panic!("{path}: no response: {}", self.log()))
    }
}

/// Replaces the documented ports. In two passes, since the digits of one may occur in a free port.
fn with_ports(file: &str, text: String, documented: &[u16], actual: &BTreeMap<u16, u16>) -> String {
    let marked = documented.iter().fold(text, |text, port| {
        let number = port.to_string();
        assert!(text.contains(&number), "{file}: no port {number}");
        text.replace(&number, &format!("<port {port:x}>"))
    });
    documented.iter().fold(marked, |text, port| {
        text.replace(&format!("<port {port:x}>"), &actual[port].to_string())
    })
}
