// The pages are in docs/, where their links lead to files. Of several definitions of a link the first counts, so what comes
// before a page says where its links lead to from here. What needs a feature that is off keeps the address that its page has.
#![doc = include_str!("links.md")]
#![cfg_attr(feature = "rules", doc = "[rules]: crate::rules")]
#![doc = ""]
#![doc = include_str!("../../docs/guide/README.md")]

/// Pages of the guide, and what comes after a page's end.
macro_rules! pages {
    ($($name:ident: $file:literal $($end:expr)?;)*) => {$(
        // Not for tests: those that fail are then told by their page and line.
        #[cfg_attr(not(doctest), doc = include_str!("links.md"))]
        #[cfg_attr(all(not(doctest), feature = "rules"), doc = "[rules]: crate::rules")]
        #[cfg_attr(all(not(doctest), feature = "redis"), doc = "[builder]: crate::RedisStoreBuilder")]
        #[cfg_attr(not(doctest), doc = "")]
        #[doc = include_str!(concat!("../../docs/", $file))]
        $(#[doc = $end])?
        pub mod $name {}
    )*};
}

/// The figures of a page. Where they belong it has names of files, which lead nowhere from here, so they are at the end; and
/// each in a tree of its own, so that its style is for nothing else.
macro_rules! figures {
    ($($name:literal)*) => {
        concat!(
            "\n## Figures\n\nIn the order in which this page speaks of them.\n\n",
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
    testing: "guide/testing.md";
    choosing: "choosing.md" figures!["boundary" "burst" "steady" "ramp" "on-off" "over-admission" "accuracy"];
    reliability: "reliability.md";
}

// Their examples need an exporter, and what they migrate from: they are run from `tests/`.
#[cfg(not(doctest))]
pages! {
    migrating: "guide/migrating.md";
    observability: "observability.md";
}
