//! A proxy program, its documented configuration, and what it does differently from the others.

use std::fs;

use support::{
    folder::Folder,
    project::{root, target},
};

/// The ports in the documented configurations.
pub(crate) const PROXY: u16 = 8080;
pub(crate) const APP: u16 = 3000;
pub(crate) const GRPC: u16 = 8081;
pub(crate) const HTTP: u16 = 8082;
/// Traefik asks the service through this port of its own.
pub(crate) const CHECK: u16 = 8083;

/// A text of a configuration, and what a test replaces it with.
pub(crate) type Edit = (&'static str, &'static str);

pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The files in docs/service/, with the ports that occur in each.
    pub(crate) files: &'static [(&'static str, &'static [u16])],
    /// The port of the service that it connects to: [`GRPC`] or [`HTTP`].
    pub(crate) service: u16,
    /// The rules in docs/service/.
    pub(crate) rules: &'static str,
    /// The command to run in the folder of its configuration. May add files to the folder.
    pub(crate) command: fn(&Folder) -> Vec<String>,
    /// Replaces the timeouts by ones that a busy machine does not exceed: a request would pass unchecked.
    pub(crate) patient: Edit,
    /// Makes it reject requests while the service is unreachable, as its documentation says.
    pub(crate) closed: &'static [Edit],
    /// The status of these rejections.
    pub(crate) closed_status: u16,
    /// Whether clients receive the rate limit headers of admitted requests.
    pub(crate) sends_headers: bool,
}

impl Program {
    /// A limit per tenant, of all requests or of those to one path, in a window that does not end while a test runs.
    pub(crate) fn limit(&self, name: &str, limit: usize, path: Option<&str>) -> String {
        let counted = match (self.service, path) {
            (GRPC, None) => "domain = 'edge'\ndescriptor = ['tenant']".to_owned(),
            (GRPC, Some(path)) => format!("domain = 'edge'\ndescriptor = ['tenant', 'path={path}']"),
            (_, None) => "key = 'header:x-tenant'\noptional = true".to_owned(),
            (_, Some(path)) => format!("key = 'header:x-tenant'\noptional = true\npath = '{path}'"),
        };
        let terms = "algorithm = 'fixed_window'\nwindow = '3650d'";
        format!("[[limit]]\nname = '{name}'\nlimit = {limit}\n{terms}\n{counted}\n")
    }
}

/// A file of docs/service/.
pub(crate) fn documented(file: &str) -> String {
    fs::read_to_string(root().join("docs/service").join(file)).unwrap()
}

/// A program that scripts/test has unpacked.
pub(crate) fn unpacked(name: &str) -> String {
    let program = target().join("proxies").join(name);
    assert!(
        program.exists(),
        "no {}: run scripts/test, which installs what tests/proxies/requirements.txt names",
        program.display()
    );
    program.display().to_string()
}
