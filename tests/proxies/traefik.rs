//! Traefik, with ForwardAuth.

use support::folder::Folder;

use super::program::{APP, CHECK, HTTP, PROXY, Program, unpacked};

pub(crate) static TRAEFIK: Program = Program {
    name: "traefik",
    files: &[
        ("traefik/traefik.yaml", &[PROXY, CHECK]),
        ("traefik/dynamic.yaml", &[APP, HTTP, CHECK]),
    ],
    service: HTTP,
    rules: "rules.toml",
    command,
    patient: ("Timeout: 1s", "Timeout: 30s"),
    closed: &[("middlewares: [unchecked]", "middlewares: []")],
    closed_status: 502,
    sends_headers: false,
};

fn command(_: &Folder) -> Vec<String> {
    vec![unpacked("traefik"), "--configFile=traefik.yaml".to_owned()]
}
