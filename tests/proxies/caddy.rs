//! Caddy, with `reverse_proxy` to the service and then to the application.

use support::folder::Folder;

use super::program::{APP, HTTP, PROXY, Program, unpacked};

pub(crate) static CADDY: Program = Program {
    name: "caddy",
    files: &[("Caddyfile", &[PROXY, APP, HTTP])],
    service: HTTP,
    rules: "rules.toml",
    command,
    patient: ("timeout 1s", "timeout 30s"),
    closed: &[("handle_errors 502 504 {", "handle_errors 599 {")],
    closed_status: 502,
    sends_headers: true,
};

/// Its data, its settings and its admin socket are in the folder.
fn command(folder: &Folder) -> Vec<String> {
    let path = folder.path().display();
    let admin = format!("CADDY_ADMIN=unix//{path}/admin.sock");
    let [data, config] = ["DATA", "CONFIG"].map(|kind| format!("XDG_{kind}_HOME={path}"));
    [
        "env",
        &admin,
        &data,
        &config,
        &unpacked("caddy"),
        "run",
        "--config",
        "Caddyfile",
    ]
    .map(str::to_owned)
    .into()
}
