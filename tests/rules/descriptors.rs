//! Limits with a `domain` and a `descriptor`.

use std::convert::Infallible;

use tollgate::{
    MemoryStore, Rejection, RuleSet, RulesLayer,
    rules::{Descriptor, DescriptorRequest},
};
use tower::{Layer, ServiceExt, service_fn};

/// A file of limits of 1,000 per minute in the domain `edge`, each with a name, a descriptor and further lines.
fn rules(limits: &[(&str, &str, &str)]) -> RuleSet {
    let tables = limits.iter().map(|(name, descriptor, lines)| {
        format!(
            "[[limit]]\nname = \"{name}\"\nalgorithm = \"fixed_window\"\nlimit = 1000\nwindow = \"1m\"\n\
             domain = \"edge\"\ndescriptor = {descriptor}\n{lines}\n"
        )
    });
    RuleSet::parse(&tables.collect::<String>()).unwrap()
}

/// The keys and values of a descriptor.
type Entries<'e> = &'e [(&'e str, &'e str)];

/// The charges of descriptors in a domain, as `limit key cost`.
fn charges(rules: &RuleSet, domain: &str, descriptors: &[Entries<'_>]) -> Vec<String> {
    let descriptors = descriptors
        .iter()
        .map(|entries| Descriptor::new(entries.iter().copied()));
    charged(rules, &DescriptorRequest::new(domain, descriptors))
}

fn charged(rules: &RuleSet, request: &DescriptorRequest) -> Vec<String> {
    let charges = rules.descriptor_charges(request);
    let charges = charges.iter().map(|charge| {
        let shadow = if charge.is_shadow() { " shadow" } else { "" };
        format!("{} {} {}{shadow}", charge.limit().name(), charge.key(), charge.cost())
    });
    charges.collect()
}

#[test]
fn a_limit_applies_to_descriptors_with_its_domain_and_keys() {
    let rules = rules(&[
        ("tenant", r#"["tenant"]"#, ""),
        ("search", r#"["tenant", "path=/search"]"#, ""),
    ]);
    let cases: [(&str, Entries<'_>, &[&str]); 8] = [
        ("edge", &[("tenant", "acme")], &["tenant tenant:acme 1"]),
        (
            "edge",
            &[("tenant", "acme"), ("path", "/search")],
            &["search tenant:acme:path:/search 1"],
        ),
        ("other", &[("tenant", "acme")], &[]),
        ("edge", &[("Tenant", "acme")], &[]),
        ("edge", &[("tenant", "acme"), ("path", "/other")], &[]),
        ("edge", &[("path", "/search"), ("tenant", "acme")], &[]),
        (
            "edge",
            &[("tenant", "acme"), ("path", "/search"), ("method", "GET")],
            &[],
        ),
        ("edge", &[], &[]),
    ];
    for (domain, descriptor, expected) in cases {
        assert_eq!(
            charges(&rules, domain, &[descriptor]),
            expected,
            "{domain} {descriptor:?}"
        );
    }
    let both: [Entries<'_>; 2] = [&[("tenant", "a")], &[("tenant", "a"), ("path", "/search")]];
    assert_eq!(
        charges(&rules, "edge", &both),
        ["tenant tenant:a 1", "search tenant:a:path:/search 1"]
    );
}

#[test]
fn the_most_specific_limits_apply() {
    let rules = rules(&[
        ("any", r#"["tenant", "path"]"#, ""),
        ("any_hourly", r#"["tenant", "path"]"#, ""),
        ("api", r#"["tenant", "path=/api/*"]"#, ""),
        ("users", r#"["tenant", "path=/api/users*"]"#, ""),
        ("me", r#"["tenant", "path=/api/users/me"]"#, ""),
        ("big", r#"["tenant=big", "path"]"#, ""),
    ]);
    let cases: [(&str, &str, &[&str]); 7] = [
        ("acme", "/", &["any", "any_hourly"]),
        ("acme", "/api", &["any", "any_hourly"]),
        ("acme", "/api/", &["api"]),
        ("acme", "/api/users", &["users"]),
        ("acme", "/api/users/me", &["me"]),
        ("acme", "/api/users/me/", &["users"]),
        // The first entry decides.
        ("big", "/api/users/me", &["big"]),
    ];
    for (tenant, path, expected) in cases {
        let charges = charges(&rules, "edge", &[&[("tenant", tenant), ("path", path)]]);
        let names: Vec<_> = charges.iter().map(|charge| charge.split(' ').next().unwrap()).collect();
        assert_eq!(names, expected, "{tenant} {path}");
    }
}

#[test]
fn a_shadow_replaces_no_enforced_limit() {
    let rules = rules(&[
        ("any", r#"["tenant"]"#, ""),
        ("big", r#"["tenant=big"]"#, "shadow = true"),
        ("small", r#"["tenant=small"]"#, ""),
        ("all", r#"["tenant"]"#, "shadow = true"),
    ]);
    let of = |tenant| charges(&rules, "edge", &[&[("tenant", tenant)]]);
    assert_eq!(of("acme"), ["any tenant:acme 1", "all tenant:acme 1 shadow"]);
    assert_eq!(of("big"), ["any tenant:big 1", "big tenant:big 1 shadow"]);
    assert_eq!(of("small"), ["small tenant:small 1"]);
}

#[test]
fn an_exempt_descriptor_is_not_counted_and_the_others_are() {
    let text = rules(&[("tenant", r#"["tenant"]"#, "")]).text();
    let rules = RuleSet::parse(&format!(
        "{text}[[exempt]]\ndomain = \"edge\"\ndescriptor = [\"tenant=internal\"]"
    ))
    .unwrap();
    let both: [Entries<'_>; 2] = [&[("tenant", "internal")], &[("tenant", "acme")]];
    assert_eq!(charges(&rules, "edge", &both), ["tenant tenant:acme 1"]);
}

#[test]
fn costs_of_equal_descriptors_are_added() {
    let rules = rules(&[("tenant", r#"["tenant"]"#, "")]);
    let descriptor = |tenant, cost| Descriptor::new([("tenant", tenant)]).with_cost(cost);
    let costs = |first, second| {
        let descriptors = [descriptor("a", first), descriptor("b", 0), descriptor("a", second)];
        charged(&rules, &DescriptorRequest::new("edge", descriptors))
    };
    assert_eq!(costs(2, 3), ["tenant tenant:a 5", "tenant tenant:b 0"]);
    assert_eq!(costs(u32::MAX, 1), ["tenant tenant:a 4294967295", "tenant tenant:b 0"]);
}

#[test]
fn different_descriptors_have_different_keys() {
    let descriptors: [Entries<'_>; 9] = [
        &[("a", "b")],
        &[("a", "b:c:d")],
        &[("a", "b"), ("c", "d")],
        &[("a:b", "c")],
        &[("a", "b:c")],
        &[("a", "")],
        &[("", "a")],
        &[("a", "b"), ("c", "d"), ("e", "f")],
        &[("a", "(b)"), ("c", "d")],
    ];
    let mut keys: Vec<_> = descriptors
        .iter()
        .map(|entries| Descriptor::new(entries.iter().copied()).key().to_string())
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), descriptors.len(), "{keys:?}");
}

#[test]
fn operators_name_the_values_of_a_key() {
    let rules = rules(&[
        ("tenant", r#"["tenant"]"#, ""),
        ("search", r#"["tenant", "path=/search"]"#, ""),
        ("big", r#"["tenant=big"]"#, ""),
        ("api", r#"["path=/api/*"]"#, ""),
        ("twice", r#"["generic_key", "generic_key"]"#, ""),
    ]);
    let key = |limit, values: &[(&str, &str)]| match rules.key(limit, values) {
        Ok(key) => key.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(key("tenant", &[("tenant", "acme")]), "tenant:acme");
    assert_eq!(key("search", &[("tenant", "acme")]), "tenant:acme:path:/search");
    assert_eq!(
        key("search", &[("path", "/search"), ("tenant", "acme")]),
        "tenant:acme:path:/search"
    );
    assert_eq!(key("api", &[("path", "/api/users")]), "path:/api/users");
    assert_eq!(
        key("twice", &[("generic_key", "a"), ("generic_key", "b")]),
        "generic_key:a:generic_key:b"
    );
    let must = "it must be tenant=VALUE and path=/search";
    assert_eq!(key("search", &[("user", "a")]), format!("key = user=a: {must}"));
    assert_eq!(
        key("search", &[("tenant", "a"), ("tenant", "b")]),
        format!("key = tenant=b: {must}")
    );
    assert_eq!(key("search", &[]), format!("key = nothing: {must}"));
    assert_eq!(
        key("search", &[("tenant", "acme"), ("path", "/")]),
        format!("key = path=/: {must}")
    );
    assert_eq!(
        key("search", &[("tenant", "acme"), ("user", "a")]),
        format!("key = user=a: {must}")
    );
    assert_eq!(key("api", &[("path", "/")]), "key = path=/: it must be path=/api/..");
    assert_eq!(
        rules.stored_key("tenant", "tenant:acme").unwrap().as_str(),
        "tenant:acme"
    );
    assert!(rules.stored_key("tenant", "ip:192.0.2.1").is_err());
    assert_eq!(rules.stored_key("big", "tenant:big").unwrap().as_str(), "tenant:big");
    assert!(rules.stored_key("big", "tenant:bigger").is_err());
    assert_eq!(rules.limit("tenant", None).unwrap().name(), "tenant");
    assert_eq!(rules.limit("tenant", Some("pro")), None);
}

#[tokio::test]
async fn a_layer_limits_a_service_of_descriptors_all_or_none() {
    let rules = rules(&[
        ("tenant", r#"["tenant"]"#, "anchored = true"),
        ("search", r#"["tenant", "path=/search"]"#, "anchored = true"),
    ]);
    rules
        .replace(
            &rules
                .text()
                .replacen("limit = 1000", "limit = 3", 1)
                .replacen("limit = 1000", "limit = 1", 1),
        )
        .unwrap();
    let denied_by = |rejection: Rejection| match rejection {
        Rejection::Limited(decision) => {
            let denied = decision
                .tiers()
                .iter()
                .filter(|tier| !tier.verdict().outcome().admits());
            denied.map(|tier| tier.limit().name()).collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?}"),
    };
    let service = service_fn(async |_: DescriptorRequest| Ok::<_, Infallible>("admitted".to_owned()));
    let service = RulesLayer::new(rules, MemoryStore::new())
        .respond_with(denied_by)
        .layer(service);
    let tenant = || Descriptor::new([("tenant", "acme")]);
    let search = || Descriptor::new([("tenant", "acme"), ("path", "/search")]);
    let call = async |descriptors: Vec<Descriptor>| {
        let request = DescriptorRequest::new("edge", descriptors);
        service.clone().oneshot(request).await.unwrap()
    };
    assert_eq!(call(vec![tenant(), search()]).await, "admitted");
    for _ in 0..10 {
        assert_eq!(call(vec![tenant(), search()]).await, "search");
    }
    // The denied requests have cost the tenant nothing: two of three remain.
    assert_eq!(call(vec![tenant()]).await, "admitted");
    assert_eq!(call(vec![tenant()]).await, "admitted");
    assert_eq!(call(vec![tenant()]).await, "tenant");
}
