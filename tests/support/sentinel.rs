//! A primary, two replicas, and three sentinels that watch over them.

use tollgate::{RedisStore, RedisStoreBuilder};

use super::{
    folder::Folder,
    patience::until,
    patience::until_some,
    port::Port,
    redis::{DEADLINE, RedisServer, ask},
};

const NAME: &str = "tollgate";
const REPLICAS: usize = 2;
const SENTINELS: usize = 3;

/// In milliseconds, until a server that does not answer has failed.
const LONG_TIMEOUT: u32 = 60_000;
const SHORT_TIMEOUT: u32 = 1500;

pub struct Sentinels {
    /// They end first: else they would go on to call servers whose ports are others' by then.
    pub sentinels: Vec<RedisServer>,
    /// The first one is the primary to begin with.
    pub servers: Vec<RedisServer>,
    _folders: Vec<Folder>,
}

impl Sentinels {
    /// Returns when all know of one another, and the replicas have what the primary has.
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
        all.hurry();
        all.await_replicas(REPLICAS);
        until("the sentinels know one another and the replicas", || all.know_all());
        all
    }

    /// A store on whatever is the primary.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().sentinels(NAME, self.urls()).deadline(DEADLINE)
    }

    /// Of the sentinels.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(RedisServer::url).collect()
    }

    /// Which of the servers is the primary, by the word of every sentinel that answers and by its own.
    pub fn primary(&self) -> usize {
        until_some("there is one primary", || {
            let mut named = self.sentinels.iter().filter_map(primary_by);
            let port = named.next()?;
            let server = self.servers.iter().position(|server| server.port() == port)?;
            let is_primary = self.servers[server].tells("replication", "role:master");
            (is_primary && named.all(|other| other == port)).then_some(server)
        })
    }

    /// Lets a replica take over, waits until another server than this one is the primary, and tells which.
    pub fn await_failover(&self, from: usize) -> usize {
        self.down_after(SHORT_TIMEOUT);
        let primary = until_some("another server is the primary", || {
            Some(self.primary()).filter(|primary| *primary != from)
        });
        self.down_after(LONG_TIMEOUT);
        primary
    }

    /// When a server that does not answer has failed. Otherwise none has, however long the machine lets it wait.
    fn down_after(&self, milliseconds: u32) {
        for sentinel in &self.sentinels {
            sentinel.answer::<()>(&format!("SENTINEL SET {NAME} down-after-milliseconds {milliseconds}"));
        }
    }

    /// Waits until so many replicas follow the primary and have what it has.
    pub fn await_replicas(&self, count: usize) {
        until("the replicas are in sync", || {
            let info: Option<String> = self.servers[self.primary()].answer("INFO replication");
            info.is_some_and(|info| info.matches("state=online").count() == count)
        });
    }

    /// They look at everything every few seconds, which is most of what a failover takes. One that is restarted takes
    /// its time again. A server is asked several times before it counts as down, so that none does on a busy machine;
    /// and a replica is promoted only if it answered within five pings, though it is asked but once a second then.
    fn hurry(&self) {
        for sentinel in &self.sentinels {
            ask::<()>(
                &mut sentinel.client(),
                "SENTINEL DEBUG ping-period 400 info-period 200 publish-period 200 ask-period 200 tilt-trigger 600000",
            );
        }
    }

    fn know_all(&self) -> bool {
        let known = format!(
            "status=ok,address=127.0.0.1:{},slaves={REPLICAS},sentinels={SENTINELS}",
            self.servers[0].port()
        );
        self.sentinels.iter().all(|sentinel| sentinel.tells("sentinel", &known))
    }
}

fn start_server(folder: &Folder, primary: Option<&RedisServer>) -> RedisServer {
    let path = folder.path().display().to_string();
    // A primary waits five seconds for more replicas to come, by default.
    let mut settings = vec!["--dir", &path, "--repl-diskless-sync-delay", "0"];
    let port = primary.map(|primary| primary.port().to_string());
    if let Some(port) = &port {
        settings.extend(["--replicaof", "127.0.0.1", port]);
    }
    RedisServer::start_with(&settings)
}

/// Each is told who the others are. They would find out by themselves, but take seconds to.
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

/// The port of the primary, by the word of a sentinel.
fn primary_by(sentinel: &RedisServer) -> Option<u16> {
    let address: Option<(String, u16)> = sentinel.answer(&format!("SENTINEL GET-MASTER-ADDR-BY-NAME {NAME}"));
    address.map(|(_, port)| port)
}
