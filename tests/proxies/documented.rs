//! docs/service.md contains the files of docs/service/.

use std::fs;

use support::project::root;

use super::program::documented;

const FILES: [&str; 7] = [
    "rules.toml",
    "envoy_rules.toml",
    "nginx.conf",
    "traefik/traefik.yaml",
    "traefik/dynamic.yaml",
    "Caddyfile",
    "envoy.yaml",
];

#[test]
fn the_page_shows_each_file() {
    let page = fs::read_to_string(root().join("docs/service.md")).unwrap();
    let blocks: Vec<_> = page
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .collect();
    for file in FILES {
        let text = documented(file);
        assert!(
            blocks.iter().any(|(_, block)| *block == text),
            "docs/service.md does not contain {file}"
        );
    }
}
