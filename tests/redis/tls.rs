//! TLS connections to a Redis with a certificate of a private authority.

use std::{path::Path, process::Command};

use tollgate::{
    RedisStore, RedisStoreBuilder, StoreError,
    redis::{Client, ConnectionAddr, ConnectionInfo, TlsCertificates},
};

use support::{
    folder::Folder,
    port::Port,
    redis::{DEADLINE, RedisServer},
    wait::until,
};

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    let output = command.args(arguments.split(' ')).current_dir(folder).output();
    let output = output.expect("no openssl on the PATH: install it (Debian: apt-get install openssl)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Creates a certificate authority and a certificate for 127.0.0.1.
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

/// A Redis with TLS, and the folder of its certificates.
struct TlsServer {
    server: RedisServer,
    folder: Folder,
}

impl TlsServer {
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

    fn query(&self, command: &str) -> String {
        let port = self.server.port().to_string();
        let mut client = Command::new("redis-cli");
        client
            .args(["--tls", "--insecure", "-p", &port])
            .args(command.split(' '));
        String::from_utf8(client.output().unwrap().stdout).unwrap()
    }

    /// Connection info with the root certificate, but without the server's address.
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

async fn assert_not_trusted(store: RedisStoreBuilder) {
    let error = store.build().unwrap().check().await.unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }));
    let advice = "; trust its issuer, or give its root certificate with builder().connection_info(..)";
    assert!(error.to_string().ends_with(advice), "{error}");
}

#[tokio::test]
async fn the_certificate_is_verified_against_the_given_root() {
    let server = TlsServer::start("tls", &[]);
    assert_not_trusted(RedisStore::builder().url(&server.url()).deadline(DEADLINE)).await;
    let (host, port) = ("127.0.0.1".into(), server.server.port());
    let address = match server.info().addr().clone() {
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
        .connection_info(server.info().set_addr(address))
        .deadline(DEADLINE);
    store.build().unwrap().check().await.unwrap();
}

/// A cluster of one node, which owns every slot.
#[tokio::test]
async fn cluster_nodes_are_connected_with_tls() {
    // The default bus port is the node's port plus 10,000, which may exceed 65,535.
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
    let server = TlsServer::start("tls-cluster", &settings);
    assert_not_trusted(RedisStore::builder().cluster([server.url()]).deadline(DEADLINE)).await;
    let trusting = || RedisStore::builder().connection_info(server.info()).deadline(DEADLINE);
    server.query("CLUSTER ADDSLOTSRANGE 0 16383");
    until("the cluster is up", || {
        server.query("CLUSTER INFO").contains("cluster_state:ok")
    });
    // The order of the setters does not matter.
    for builder in [
        trusting().cluster([server.url()]),
        RedisStore::builder()
            .cluster([server.url()])
            .connection_info(server.info()),
    ] {
        builder.deadline(DEADLINE).build().unwrap().check().await.unwrap();
    }
}
