// The pages are in docs/, where their links point to files. Markdown uses the first definition of a link, so the definitions
// before a page override its own. Links to items of a disabled feature keep the URL that the page defines.
#![doc = include_str!("links.md")]
#![cfg_attr(feature = "rules", doc = include_str!("links_to_rules.md"))]
#![doc = ""]
#![doc = include_str!("../../docs/guide/README.md")]
#![allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "pages have blocks with the title of a file, which tests write before they run the commands of the page"
)]

/// Modules with a page of the guide each, and text to append to it.
macro_rules! pages {
    ($($name:ident: $file:literal $($end:expr)?;)*) => {$(
        // Not for doctests, so that failures report the page's own line numbers.
        #[cfg_attr(not(doctest), doc = include_str!("links.md"))]
        #[cfg_attr(all(not(doctest), feature = "rules"), doc = include_str!("links_to_rules.md"))]
        #[cfg_attr(all(not(doctest), feature = "redis"), doc = "[builder]: crate::RedisStoreBuilder")]
        #[cfg_attr(not(doctest), doc = "")]
        #[doc = include_str!(concat!("../../docs/", $file))]
        $(#[doc = $end])?
        pub mod $name {}
    )*};
}

/// The images of a page. Its image links are file names, which do not resolve in rustdoc, so the images are appended; each in its
/// own shadow tree, so that its style applies to nothing else.
macro_rules! images {
    ($($file:literal)*) => {
        concat!(
            "\n## Images\n\nIn the order of their mention in this page.\n\n",
            "<style>.docblock img { display: none }</style>\n\n",
            $(
                "<div><template shadowrootmode=\"open\"><style>svg { max-width: 100%; height: auto }</style>\n",
                include_str!(concat!("../../docs/", $file, ".svg")),
                "</template></div>\n\n",
            )*
        )
    };
}

pages! {
    quick_start: "guide/quick_start.md";
    choosing: "choosing.md" images!["img/boundary" "img/burst" "img/steady" "img/ramp" "img/on-off" "img/over-admission" "img/accuracy"];
    recipes: "recipes.md";
    tiers: "guide/tiers.md";
    keys: "guide/keys.md";
    behind_proxies: "guide/behind_proxies.md";
    limiter: "guide/limiter.md";
    concurrency: "concurrency.md";
    token_budgets: "guide/token_budgets.md";
    testing: "guide/testing.md";
    when_redis_fails: "guide/when_redis_fails.md";
    stores: "guide/stores.md";
    sentinels_and_clusters: "guide/sentinels_and_clusters.md";
    leases: "leases.md";
    headers: "headers.md";
    reliability: "reliability.md" images!["img/overload"];
}

// Pages without examples in Rust, and pages whose examples need an exporter or tower_governor: `tests/` runs those.
#[cfg(not(doctest))]
pages! {
    migrating: "guide/migrating.md";
    observability: "observability.md";
    exactness: "exactness.md" images!["img/exactness-edge" "img/exactness-overload" "img/exactness-killed-node" "img/exactness-paused-redis"];
    cli: "cli.md" images!["check"];
    simulate: "simulate.md";
    gateway: "gateway.md";
    service: "service.md";
    service_migration: "service_migration.md";
    security: "security.md";
    glossary: "glossary.md";
}
