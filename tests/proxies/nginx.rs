//! nginx, with auth_request.

use std::{fs, path::Path};

use support::folder::Folder;

use super::program::{APP, HTTP, PROXY, Program};

pub(crate) static NGINX: Program = Program {
    name: "nginx",
    files: &[("nginx.conf", &[PROXY, APP, HTTP])],
    service: HTTP,
    rules: "rules.toml",
    command,
    patient: ("timeout 1s;", "timeout 30s;"),
    closed: &[("error_page 502 504 = @unchecked;", "")],
    closed_status: 503,
    sends_headers: true,
};

/// Everything that nginx writes is in the folder. Debian's main file, which includes conf.d/, has these lines for its own paths.
/// nginx ignores `user` unless root starts it.
const MAIN: &str = "
user root;
worker_processes 2;
daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path client_body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include nginx.conf;
}
";

fn command(folder: &Folder) -> Vec<String> {
    fs::write(folder.file("main.conf"), MAIN).unwrap();
    let prefix = folder.path().display().to_string();
    [&executable(), "-p", &prefix, "-c", "main.conf", "-e", "stderr"]
        .map(str::to_owned)
        .into()
}

/// Debian installs it where only the PATH of root finds it.
pub(crate) fn executable() -> String {
    let path = std::env::var("PATH").unwrap();
    let mut folders = path.split(':').chain(["/usr/sbin"]);
    let found = folders.find(|folder| Path::new(folder).join("nginx").exists());
    let folder = found.expect("no nginx: install it (Debian: apt-get install nginx)");
    format!("{folder}/nginx")
}
