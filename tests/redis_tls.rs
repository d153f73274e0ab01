//! A Redis that speaks TLS, with a certificate of its own.
#![cfg(feature = "tls")]

mod support;

use std::{path::Path, process::Command};

use support::redis::RedisServer;
use tollgate::{
    RedisStore, StoreError,
    redis::{Client, TlsCertificates},
};

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    let output = command.args(arguments.split(' ')).current_dir(folder).output();
    let output = output.expect("no openssl on the PATH: install it (Debian: apt-get install openssl)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An authority, and a certificate by it for 127.0.0.1.
fn certificates(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
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

#[tokio::test]
async fn a_certificate_is_checked_and_its_issuer_can_be_given() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tls-{}", std::process::id()));
    certificates(&folder);
    let file = |name: &str| folder.join(name).display().to_string();
    let server = RedisServer::start_with(&[
        "--port",
        "0",
        "--tls-port",
        "{port}",
        "--tls-auth-clients",
        "no",
        "--tls-cert-file",
        &file("cert.pem"),
        "--tls-key-file",
        &file("key.pem"),
        "--tls-ca-cert-file",
        &file("ca.pem"),
    ]);
    let url = format!("rediss://127.0.0.1:{}", server.port());

    let stranger = RedisStore::connect(&url).unwrap().check().await.unwrap_err();
    assert!(matches!(stranger, StoreError::Connection { .. }));
    let advice = "; trust its issuer, or give its root certificate with builder().connection_info(..)";
    assert!(stranger.to_string().ends_with(advice), "{stranger}");

    let root_cert = Some(std::fs::read(folder.join("ca.pem")).unwrap());
    let client = Client::build_with_tls(
        url,
        TlsCertificates {
            client_tls: None,
            root_cert,
        },
    )
    .unwrap();
    let store = RedisStore::builder()
        .connection_info(client.get_connection_info().clone())
        .build()
        .unwrap();
    store.check().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
