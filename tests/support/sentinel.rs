//! A primary, two replicas, and three sentinels that monitor them.

use tollgate::{RedisStore, RedisStoreBuilder};

use super::{
    folder::Folder,
    port::Port,
    redis::{DEADLINE, RedisServer, query},
    wait::until,
    wait::until_some,
};

const NAME: &str = "tollgate";
const REPLICAS: usize = 2;
const SENTINELS: usize = 3;

/// Milliseconds until an unresponsive server counts as down.
const LONG_TIMEOUT: u32 = 60_000;
const SHORT_TIMEOUT: u32 = 1500;

pub struct Sentinels {
    /// Dropped first: sentinels that outlive the servers would connect to ports that other tests use by then.
    pub sentinels: Vec<RedisServer>,
    /// The first one is the initial primary.
    pub servers: Vec<RedisServer>,
    _folders: Vec<Folder>,
}

impl Sentinels {
    /// Returns once all servers are discovered and the replicas are in sync.
    pub fn start() -> Self {
        let folders: Vec<_> = (0..=REPLICAS).map(|_| Folder::new("replicated")).collect();
        let mut servers = Vec::new();
        for folder in &folders {
            servers.push(start_server(folder, servers.first()));
        }
        let (sentinels, theirs) = start_sentinels(&servers);
        let all = Self {
            servers,
            sentinels,
            _folders: folders.into_iter().chain(theirs).collect(),
        };
        all.shorten_periods();
        all.await_replicas(REPLICAS);
        until("the sentinels know one another and the replicas", || {
            all.have_discovered_all()
        });
        all
    }

    /// A store on the current primary.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().sentinels(NAME, self.urls()).deadline(DEADLINE)
    }

    /// The URLs of the sentinels.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(RedisServer::url).collect()
    }

    /// The index of the primary, once all responding sentinels and the server itself agree.
    pub fn primary(&self) -> usize {
        until_some("there is one primary", || {
            let mut reported = self.sentinels.iter().filter_map(primary_by);
            let port = reported.next()?;
            let server = self.servers.iter().position(|server| server.port() == port)?;
            let is_primary = self.servers[server].info_contains("replication", "role:master");
            (is_primary && reported.all(|other| other == port)).then_some(server)
        })
    }

    /// Allows a failover, waits until another server is the primary, and returns its index.
    pub fn await_failover(&self, from: usize) -> usize {
        self.down_after(SHORT_TIMEOUT);
        until("another server is the primary", || self.primary() != from);
        self.down_after(LONG_TIMEOUT);
        // On a busy machine it may have failed over once more until then.
        self.primary()
    }

    /// Sets the time until an unresponsive server counts as down. It is long by default, so that a busy machine causes no
    /// failover.
    fn down_after(&self, milliseconds: u32) {
        for sentinel in &self.sentinels {
            sentinel.try_query::<()>(&format!("SENTINEL SET {NAME} down-after-milliseconds {milliseconds}"));
        }
    }

    /// Waits until this many replicas are in sync.
    pub fn await_replicas(&self, count: usize) {
        until("the replicas are in sync", || {
            let info: Option<String> = self.servers[self.primary()].try_query("INFO replication");
            info.is_some_and(|info| info.matches("state=online").count() == count)
        });
    }

    /// Shortens the sentinels' polling periods, which are seconds by default and most of a failover's duration. A restarted
    /// sentinel has the default periods again. The ping period leaves time for several pings before a server counts as down,
    /// so that none does on a busy machine; a replica is promoted only if it replied within five ping periods, though it is
    /// pinged only once a second during a failover.
    fn shorten_periods(&self) {
        for sentinel in &self.sentinels {
            query::<()>(
                &mut sentinel.client(),
                "SENTINEL DEBUG ping-period 400 info-period 200 publish-period 200 ask-period 200 tilt-trigger 600000",
            );
        }
    }

    fn have_discovered_all(&self) -> bool {
        let expected = format!(
            "status=ok,address=127.0.0.1:{},slaves={REPLICAS},sentinels={SENTINELS}",
            self.servers[0].port()
        );
        self.sentinels
            .iter()
            .all(|sentinel| sentinel.info_contains("sentinel", &expected))
    }
}

fn start_server(folder: &Folder, primary: Option<&RedisServer>) -> RedisServer {
    let path = folder.path().display().to_string();
    // By default, a primary waits five seconds for more replicas before a sync.
    let mut settings = vec!["--dir", &path, "--repl-diskless-sync-delay", "0"];
    let port = primary.map(|primary| primary.port().to_string());
    if let Some(port) = &port {
        settings.extend(["--replicaof", "127.0.0.1", port]);
    }
    RedisServer::start_with(&settings)
}

/// Starts the sentinels with each other's addresses, since discovery takes seconds.
fn start_sentinels(servers: &[RedisServer]) -> (Vec<RedisServer>, Vec<Folder>) {
    let ports: Vec<_> = (0..SENTINELS).map(|_| Port::free()).collect();
    let numbers: Vec<_> = ports.iter().map(Port::number).collect();
    let start = |(index, port)| {
        let folder = Folder::new("sentinel");
        std::fs::write(folder.file("sentinel.conf"), configuration(index, &numbers, servers)).unwrap();
        let (file, path) = (folder.file("sentinel.conf"), folder.path().display().to_string());
        let program = ["redis-server", &file, "--sentinel"];
        (RedisServer::launch(&program, port, &["--dir", &path]), folder)
    };
    ports.into_iter().enumerate().map(start).unzip()
}

fn configuration(index: usize, sentinels: &[u16], servers: &[RedisServer]) -> String {
    let id = |index| format!("{:040x}", index + 1);
    let mut lines = vec![
        format!("myid {}", id(index)),
        format!("monitor {NAME} 127.0.0.1 {} 2", servers[0].port()),
        format!("down-after-milliseconds {NAME} {LONG_TIMEOUT}"),
        format!("failover-timeout {NAME} 2000"),
    ];
    for replica in &servers[1..] {
        lines.push(format!("known-replica {NAME} 127.0.0.1 {}", replica.port()));
    }
    for (other, port) in sentinels.iter().enumerate().filter(|(other, _)| *other != index) {
        lines.push(format!("known-sentinel {NAME} 127.0.0.1 {port} {}", id(other)));
    }
    lines.iter().map(|line| format!("sentinel {line}\n")).collect()
}

/// The port of the primary, as a sentinel reports it.
fn primary_by(sentinel: &RedisServer) -> Option<u16> {
    let address: Option<(String, u16)> = sentinel.try_query(&format!("SENTINEL GET-MASTER-ADDR-BY-NAME {NAME}"));
    address.map(|(_, port)| port)
}
