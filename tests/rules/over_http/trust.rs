//! Trust in proxies: for the client's address, and for headers that only they may set.

use super::fixture::{NOTHING, TRUST, TestStore, on_both_stores, send, serve, ten};

on_both_stores![
    the_client_address_is_in_the_forwarding_header_of_the_proxy,
    an_untrusted_peer_is_counted_by_its_own_address,
    a_trusted_header_counts_in_a_key_only_from_a_proxy,
    cookies_can_be_a_trusted_header,
    a_header_that_is_not_listed_counts_from_any_client,
    the_last_line_of_a_trusted_header_counts,
];

const XFF: (&str, &str) = ("x-forwarded-for", "203.0.113.9, 192.0.2.1");
const FORWARDED: (&str, &str) = ("forwarded", "for=203.0.113.9, for=192.0.2.2;proto=https");

async fn the_client_address_is_in_the_forwarding_header_of_the_proxy<St: TestStore>() {
    for (forwarded, client) in [
        ("", "192.0.2.1"),
        ("forwarded = \"x-forwarded-for\"\n", "192.0.2.1"),
        ("forwarded = \"forwarded\"\n", "192.0.2.2"),
    ] {
        let file = ten("api", "key = \"ip\"") + TRUST + forwarded;
        let (server, ..) = serve::<St>(&file).await;
        let reply = send(&server, "/", &[XFF, FORWARDED]).await;
        assert_eq!(reply.body, format!("api ip:{client}, 9 left"), "{forwarded}");
        let reply = server.get("/").await;
        assert_eq!(reply.body, "api ip:127.0.0.1, 9 left", "{forwarded}");
    }
}

async fn an_untrusted_peer_is_counted_by_its_own_address<St: TestStore>() {
    for trust in [
        "",
        "[trust]\n",
        "[trust]\nproxies = []\n",
        "[trust]\nproxies = [\"10.0.0.0/8\", \"127.0.0.2\"]\n",
        "[trust]\nproxies = [\"::1/128\"]\nforwarded = \"forwarded\"\n",
        // A proxy in the middle of the list is trusted only if the one before it is.
        "[trust]\nproxies = [\"192.0.2.0/24\"]\n",
    ] {
        let (server, ..) = serve::<St>(&(ten("api", "key = \"ip\"") + trust)).await;
        for (headers, left) in [(&[XFF][..], 9), (&[FORWARDED], 8), (&[], 7)] {
            let reply = send(&server, "/", headers).await;
            assert_eq!(reply.body, format!("api ip:127.0.0.1, {left} left"), "{trust}");
        }
    }
}

async fn a_trusted_header_counts_in_a_key_only_from_a_proxy<St: TestStore>() {
    let trust = |proxy: &str| format!("[trust]\nproxies = [\"{proxy}\"]\nheaders = [\"X-User-Id\"]\n");
    let (ours, others) = (trust("127.0.0.0/8"), trust("10.0.0.0/8"));
    for (key, header, value, expected) in [
        ("header:x-user-id", "x-user-id", "1", "x-user-id:1"),
        (
            "apikey:x-user-id",
            "x-user-id",
            "secret",
            "apikey:2bb80d537b1da3e38bd30361aa855686",
        ),
    ] {
        let with_default = ten("api", &format!("key = \"{key}\"\ndefault = \"anonymous\""));
        let (server, ..) = serve::<St>(&format!("{with_default}{ours}")).await;
        assert_eq!(
            send(&server, "/", &[(header, value)]).await.body,
            format!("api {expected}, 9 left")
        );
        let (server, ..) = serve::<St>(&format!("{with_default}{others}")).await;
        assert_eq!(
            send(&server, "/", &[(header, value)]).await.body,
            "api ~anonymous, 9 left"
        );

        let without_default = ten("api", &format!("key = \"{key}\""));
        let (server, ..) = serve::<St>(&format!("{without_default}{others}")).await;
        let reply = send(&server, "/", &[(header, value)]).await;
        assert_eq!(reply.all(), (400, "-".into(), NOTHING.into()), "{key}");
        assert_eq!(reply.json()["message"], "the request lacks the `x-user-id` header");
    }
}

async fn cookies_can_be_a_trusted_header<St: TestStore>() {
    let key = ten("api", "key = \"cookie:session\"\ndefault = \"anonymous\"");
    for (proxy, expected) in [("127.0.0.0/8", "cookie/session:1"), ("10.0.0.0/8", "~anonymous")] {
        let trust = format!("[trust]\nproxies = [\"{proxy}\"]\nheaders = [\"Cookie\"]\n");
        let (server, ..) = serve::<St>(&(key.clone() + &trust)).await;
        let reply = send(&server, "/", &[("cookie", "session=1")]).await;
        assert_eq!(reply.body, format!("api {expected}, 9 left"), "{proxy}");
    }
}

async fn a_header_that_is_not_listed_counts_from_any_client<St: TestStore>() {
    let trust = "[trust]\nproxies = [\"10.0.0.0/8\"]\nheaders = [\"x-plan\"]\n";
    let (server, ..) = serve::<St>(&(ten("api", "key = \"header:x-user-id\"") + trust)).await;
    assert_eq!(server.get_as("1").await.body, "api x-user-id:1, 9 left");
}

/// Some proxies append to a client's headers instead of replacing them.
async fn the_last_line_of_a_trusted_header_counts<St: TestStore>() {
    let more = "key = \"header:x-user-id\"\nplan = \"header:x-plan\"\nplans.free = { limit = 5 }\nplans.pro = { limit = 100 }\n\
                cost = \"header:x-cost\"";
    let trust = "[trust]\nproxies = [\"127.0.0.0/8\"]\nheaders = [\"x-user-id\", \"x-plan\", \"x-cost\"]\n";
    let (server, ..) = serve::<St>(&(ten("api", more) + trust)).await;
    let client = [("x-user-id", "made-up"), ("x-plan", "pro"), ("x-cost", "1")];
    let proxy = [("x-user-id", "alice"), ("x-plan", "free"), ("x-cost", "2")];
    let reply = send(&server, "/", &[client, proxy].concat()).await;
    assert_eq!(reply.body, "api x-user-id:alice, 3 left");
}
