//! The charges of a request, as `RuleSet::charges` returns them.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use http::Request;
use tollgate::{Key, KeyError, ManualClock, MemoryStore, Operation, RuleSet, Store, extract::NoPeerAddr};

const FILE: &str = r#"
    [[limit]]
    name = "user"
    algorithm = "fixed_window"
    limit = 10
    window = "1m"
    key = "header:x-user-id"
    path = "/api/{*rest}"
    cost = 3

    [[limit]]
    name = "client"
    algorithm = "token_bucket"
    limit = 5
    window = "1m"
    key = "ip"
    default = "somewhere"
    path = "/api/{*rest}"

    [[exempt]]
    networks = ["10.0.0.0/8"]
"#;

fn from(address: Option<[u8; 4]>, path: &str, user: &str) -> Request<()> {
    let mut request = Request::get(path).header("x-user-id", user).body(()).unwrap();
    if let Some(address) = address {
        request.extensions_mut().insert(SocketAddr::from((address, 4711)));
    }
    request
}

#[tokio::test]
async fn charges_can_be_applied_without_a_layer() {
    let rules = RuleSet::parse(FILE).unwrap();
    let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
    let charges = rules.charges(&from(Some([192, 0, 2, 1]), "/api/a", "a")).unwrap();
    let Ok(decision) = store.apply(Operation::Acquire(charges)).await;
    let tiers = decision.tiers().iter();
    let charged: Vec<_> = tiers
        .map(|tier| (tier.limit().name(), tier.key().clone(), tier.verdict().remaining()))
        .collect();
    let user = ("user", Key::new("x-user-id:a"), 7);
    assert_eq!(charged, [user, ("client", Key::new("ip:192.0.2.1"), 4)]);
}

#[test]
fn exempt_and_unmatched_requests_have_no_charges_and_a_missing_key_is_an_error() {
    let rules = RuleSet::parse(FILE).unwrap();
    for (address, path) in [([10, 0, 0, 1], "/api/a"), ([192, 0, 2, 1], "/"), ([10, 0, 0, 1], "/")] {
        let charges = rules.charges(&from(Some(address), path, "")).unwrap();
        assert!(charges.is_empty(), "{path} from {address:?}");
    }
    let lacks = rules.charges(&from(Some([192, 0, 2, 1]), "/api/a", "")).unwrap_err();
    assert_eq!(lacks, KeyError::missing("the `x-user-id` header"));
}

/// The log as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_missing_peer_address_is_an_error_despite_a_default_key() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        let rules = RuleSet::parse(FILE).unwrap();
        for _ in 0..3 {
            let error = rules.charges(&from(None, "/api/a", "a")).unwrap_err();
            assert!(matches!(error, KeyError::NotProvided { .. }), "{error}");
        }
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(
        log.contains("ERROR") && log.contains("exemptions by network are off: requests have no peer address"),
        "{log}"
    );
    assert!(log.contains("there is no peer address to count requests by"), "{log}");
}

#[test]
fn a_request_marked_as_without_an_address_lacks_one() {
    let rules = RuleSet::parse(FILE).unwrap();
    let mut local = from(None, "/api/a", "a");
    local.extensions_mut().insert(NoPeerAddr);
    assert_eq!(rules.charges(&local).unwrap().len(), 2);
    let rules = RuleSet::parse(&FILE.replace("default = \"somewhere\"", "")).unwrap();
    assert_eq!(rules.charges(&local).unwrap_err(), KeyError::missing("a peer address"));
}
