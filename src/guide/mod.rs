// The pages are in docs/, where their links point to files. Markdown uses the first definition of a link, so the definitions
// before a page override its own. Links to items of a disabled feature keep the URL that the page defines.
#![doc = include_str!("links.md")]
#![cfg_attr(feature = "rules", doc = "[rules]: crate::rules")]
#![doc = ""]
#![doc = include_str!("../../docs/guide/README.md")]

/// Modules with a page of the guide each, and text to append to it.
macro_rules! pages {
    ($($name:ident: $file:literal $($end:expr)?;)*) => {$(
        // Not for doctests, so that failures report the page's own line numbers.
        #[cfg_attr(not(doctest), doc = include_str!("links.md"))]
        #[cfg_attr(all(not(doctest), feature = "rules"), doc = "[rules]: crate::rules")]
        #[cfg_attr(all(not(doctest), feature = "redis"), doc = "[builder]: crate::RedisStoreBuilder")]
        #[cfg_attr(not(doctest), doc = "")]
        #[doc = include_str!(concat!("../../docs/", $file))]
        $(#[doc = $end])?
        pub mod $name {}
    )*};
}

/// The plots of a page. Its image links are file names, which do not resolve in rustdoc, so the plots are appended; each in its
/// own shadow tree, so that its style applies to nothing else.
macro_rules! plots {
    ($($name:literal)*) => {
        concat!(
            "\n## Plots\n\nIn the order of their mention in this page.\n\n",
            "<style>.docblock img { display: none }</style>\n\n",
            $(
                "<div><template shadowrootmode=\"open\"><style>svg { max-width: 100%; height: auto }</style>\n",
                include_str!(concat!("../../docs/img/", $name, ".svg")),
                "</template></div>\n\n",
            )*
        )
    };
}

pages! {
    quick_start: "guide/quick_start.md";
    tiers: "guide/tiers.md";
    behind_proxies: "guide/behind_proxies.md";
    when_redis_fails: "guide/when_redis_fails.md";
    sentinels_and_clusters: "guide/sentinels_and_clusters.md";
    concurrency: "concurrency.md";
    token_budgets: "guide/token_budgets.md";
    leases: "leases.md";
    testing: "guide/testing.md";
    choosing: "choosing.md" plots!["boundary" "burst" "steady" "ramp" "on-off" "over-admission" "accuracy"];
    headers: "headers.md";
    reliability: "reliability.md" plots!["overload"];
}

// Their examples need an exporter and tower_governor, so `tests/` runs them.
#[cfg(not(doctest))]
pages! {
    migrating: "guide/migrating.md";
    observability: "observability.md";
}
