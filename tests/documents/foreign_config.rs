//! Configuration of other programs: that of proxies is in files that tests run, and that of other services is translated correctly.

use std::{fs, path::Path};

use support::{
    page::{Kind, Page},
    project::root,
};

/// The files in a folder, recursively.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.flat_map(|path| match path.is_dir() {
        true => files(&path),
        false => vec![fs::read_to_string(path).unwrap()],
    });
    texts.collect()
}

/// tests/proxies/ runs the proxies with the files of docs/service/, and tests/simulate/nginx.rs runs nginx with a block of docs/simulate.md.
#[test]
fn configuration_of_proxies_is_in_files() {
    let mut files = files(&root().join("docs/service"));
    let trace = fs::read_to_string(root().join("docs/simulate.md")).unwrap();
    let trace = trace
        .split("```nginx\n")
        .nth(1)
        .and_then(|block| block.split("```").next());
    files.extend(trace.map(str::to_owned));
    for block in Page::blocks_of(Kind::ForeignConfig) {
        // Other tests compare translations with their originals, and excerpts with the files.
        let is_compared = ["docs/service_migration.md", "docs/recipes.md"].iter();
        let is_compared = is_compared.copied().any(|page| block.location.starts_with(page));
        assert!(
            is_compared || files.contains(&block.text),
            "{} is in no file",
            block.location
        );
    }
}

/// What a limit is in each format: domain, descriptor, limit, and seconds. An exemption has no limit.
type Limit = (String, Vec<String>, Option<(u32, u32)>);

/// The value of a field in a line of YAML.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = line.split_once(&format!("{name}: "))?;
    Some(value.split([',', '}', '#']).next().unwrap_or_default().trim())
}

/// The limits of a file of envoyproxy/ratelimit, in which `key`, `value` and `rate_limit` stand in this order.
fn of_envoyproxy(yaml: &str) -> Vec<Limit> {
    let mut domain = String::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut limits = Vec::new();
    for line in yaml.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(name) = field(line, "domain") {
            domain = name.to_owned();
        } else if let Some(key) = field(line, "- key") {
            path.retain(|(outer, _)| *outer < indent);
            path.push((indent, key.to_owned()));
        } else if line.contains(" rate_limit: ") {
            let seconds = field(line, "unit").map(|unit| match unit {
                "minute" => 60,
                "hour" => 3600,
                unit => panic!("{unit}"),
            });
            let limit = field(line, "requests_per_unit").map(|number| number.parse().unwrap());
            assert_eq!(limit.is_none(), field(line, "unlimited") == Some("true"), "{line}");
            let descriptor = path.iter().map(|(_, entry)| entry.clone()).collect();
            limits.push((domain.clone(), descriptor, limit.zip(seconds)));
        } else if let Some(value) = field(line, " value") {
            let (_, entry) = path.last_mut().unwrap();
            *entry = format!("{entry}={value}");
        } else {
            assert_eq!(line.trim(), "descriptors:");
        }
    }
    limits
}

/// The limits of a file of Limitador, whose conditions compare with `==`.
fn of_limitador(yaml: &str) -> Vec<Limit> {
    let limits = yaml.split("- namespace: ").skip(1).map(|limit| {
        let line = |name: &str| limit.lines().find_map(|line| field(line, name)).unwrap();
        let number = |name: &str| line(name).parse().unwrap();
        let quoted = |text: &str| text.split('\'').skip(1).step_by(2).collect::<Vec<_>>().join("=");
        let descriptor = [line("conditions"), line("variables")].map(quoted);
        (
            limit.lines().next().unwrap().to_owned(),
            descriptor.to_vec(),
            Some((number("max_value"), number("seconds"))),
        )
    });
    limits.collect()
}

fn of_rules(rules: &str) -> Vec<Limit> {
    let rules: toml::Table = rules.parse().unwrap();
    let tables = ["limit", "exempt"]
        .into_iter()
        .filter_map(|name| rules.get(name)?.as_array());
    let limits = tables.flatten().map(|limit| {
        let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
        let seconds = limit.get("window").map(|window| match window.as_str().unwrap() {
            "1m" => 60,
            "1h" => 3600,
            window => panic!("{window}"),
        });
        let number = limit.get("limit").map(|number| number.as_integer().unwrap() as u32);
        let descriptor = limit["descriptor"].as_array().unwrap().iter().map(text);
        (text(&limit["domain"]), descriptor.collect(), number.zip(seconds))
    });
    limits.collect()
}

#[test]
fn files_of_other_services_are_translated_to_the_same_limits() {
    let page = Page::read("docs/service_migration.md");
    let blocks: Vec<_> = page.blocks().into_iter().map(|(block, _)| block).collect();
    assert!(!blocks.is_empty());
    for pair in blocks.chunks(2) {
        let [there, here] = pair else {
            panic!("{} has no translation", pair[0].location);
        };
        assert_eq!((&*there.info, &*here.info), ("yaml", "toml"), "{}", there.location);
        let limits = match there.text.contains("- namespace: ") {
            true => of_limitador(&there.text),
            false => of_envoyproxy(&there.text),
        };
        assert_eq!(of_rules(&here.text), limits, "{}", here.location);
    }
}
