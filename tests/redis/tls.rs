//! A Redis that speaks TLS, with a certificate of its own.

use std::{path::Path, process::Command};

use tollgate::{
    RedisStore, RedisStoreBuilder, StoreError,
    redis::{Client, ConnectionAddr, ConnectionInfo, TlsCertificates},
};

use support::{
    folder::Folder,
    patience::until,
    port::Port,
    redis::{DEADLINE, RedisServer},
};

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    let output = command.args(arguments.split(' ')).current_dir(folder).output();
    let output = output.expect("no openssl on the PATH: install it (Debian: apt-get install openssl)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An authority, and a certificate by it for 127.0.0.1.
fn certificates(folder: &Path) {
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
    openssl(
        folder,
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority",
    );
    openssl(
        folder,
        "req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=redis",
    );
    openssl(
        folder,
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -extfile names",
    );
}

/// A Redis with a certificate by an authority of its own, and a folder for both.
struct Safe {
    server: RedisServer,
    folder: Folder,
}

impl Safe {
    fn start(name: &str, settings: &[&str]) -> Self {
        let folder = Folder::new(name);
        certificates(folder.path());
        let [cert, key, ca, path] = ["cert.pem", "key.pem", "ca.pem", ""].map(|name| folder.file(name));
        let mut all = vec!["--port", "0", "--tls-port", "{port}", "--tls-auth-clients", "no"];
        all.extend([
            "--tls-cert-file",
            &cert,
            "--tls-key-file",
            &key,
            "--tls-ca-cert-file",
            &ca,
        ]);
        all.extend(["--dir", &path]);
        all.extend(settings);
        let server = RedisServer::start_with(&all);
        Self { server, folder }
    }

    fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.server.port())
    }

    fn ask(&self, command: &str) -> String {
        let port = self.server.port().to_string();
        let mut client = Command::new("redis-cli");
        client
            .args(["--tls", "--insecure", "-p", &port])
            .args(command.split(' '));
        String::from_utf8(client.output().unwrap().stdout).unwrap()
    }

    /// How to get in for whoever trusts the authority, though not where.
    fn info(&self) -> ConnectionInfo {
        let root_cert = Some(std::fs::read(self.folder.file("ca.pem")).unwrap());
        let certificates = TlsCertificates {
            client_tls: None,
            root_cert,
        };
        let client = Client::build_with_tls("rediss://nowhere.invalid:1", certificates).unwrap();
        client.get_connection_info().clone()
    }
}

async fn is_not_trusted(store: RedisStoreBuilder) {
    let stranger = store.build().unwrap().check().await.unwrap_err();
    assert!(matches!(stranger, StoreError::Connection { .. }));
    let advice = "; trust its issuer, or give its root certificate with builder().connection_info(..)";
    assert!(stranger.to_string().ends_with(advice), "{stranger}");
}

#[tokio::test]
async fn a_certificate_is_checked_and_its_issuer_can_be_given() {
    let safe = Safe::start("tls", &[]);
    is_not_trusted(RedisStore::builder().url(&safe.url()).deadline(DEADLINE)).await;
    let (host, port) = ("127.0.0.1".into(), safe.server.port());
    let address = match safe.info().addr().clone() {
        ConnectionAddr::TcpTls {
            insecure, tls_params, ..
        } => ConnectionAddr::TcpTls {
            host,
            port,
            insecure,
            tls_params,
        },
        other => panic!("{other}"),
    };
    let store = RedisStore::builder()
        .connection_info(safe.info().set_addr(address))
        .deadline(DEADLINE);
    store.build().unwrap().check().await.unwrap();
}

/// A cluster of one node, which has every slot.
#[tokio::test]
async fn the_nodes_of_a_cluster_are_spoken_to_safely_too() {
    // Unless it is named, it is 10,000 above the node's own, where there may be none.
    let bus = Port::free();
    let bus_port = bus.number().to_string();
    let settings = [
        "--cluster-enabled",
        "yes",
        "--tls-cluster",
        "yes",
        "--cluster-port",
        &bus_port,
    ];
    let safe = Safe::start("tls-cluster", &settings);
    is_not_trusted(RedisStore::builder().cluster([safe.url()]).deadline(DEADLINE)).await;
    let trusting = || RedisStore::builder().connection_info(safe.info()).deadline(DEADLINE);
    safe.ask("CLUSTER ADDSLOTSRANGE 0 16383");
    until("the cluster is up", || {
        safe.ask("CLUSTER INFO").contains("cluster_state:ok")
    });
    // In whichever order they are given.
    for builder in [
        trusting().cluster([safe.url()]),
        RedisStore::builder().cluster([safe.url()]).connection_info(safe.info()),
    ] {
        builder.deadline(DEADLINE).build().unwrap().check().await.unwrap();
    }
}
