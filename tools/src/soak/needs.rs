//! What has to be there before anything is tried.

use std::process::Command;

const HOW: &str = "install redis-server 7 or later (Debian: apt-get install redis-server), and have it on the PATH";

/// Says which Redis there is to break, or what to do about it.
pub(crate) fn check() -> Result<(), String> {
    let asked = Command::new("redis-server").arg("--version").output();
    let said = asked.map_err(|error| format!("there is no redis-server ({error}): {HOW}"))?;
    let said = String::from_utf8_lossy(&said.stdout);
    match version(&said) {
        Some(7..) => {
            println!("needs redis-server 7 or later, and has {}", said.trim());
            Ok(())
        }
        _ => Err(format!("this redis-server will not do ({}): {HOW}", said.trim())),
    }
}

/// The first number of `Redis server v=7.0.15 sha=..`.
fn version(said: &str) -> Option<u32> {
    let (_, version) = said.split_once("v=")?;
    version.split('.').next()?.parse().ok()
}
