//! The nodes, seen by the traffic generator: processes that it starts, sends requests to, and kills. All times are of one clock.

use std::{cell::RefCell, collections::HashMap, env, process::Stdio, rc::Rc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdout, Command},
    sync::mpsc,
    task::spawn_local,
    time::Instant,
};

use crate::{
    answer::Answer,
    limits::{LIMIT, NODES, WINDOW},
    node::READY,
};

/// A request, and its answer if there was one.
#[derive(Clone, Copy)]
pub struct Request {
    pub sent: Instant,
    pub answer: Option<(Instant, Answer)>,
}

type Requests = Rc<RefCell<HashMap<usize, Request>>>;

pub struct Fleet {
    limiter: &'static str,
    redis: String,
    requests: Requests,
    nodes: RefCell<Vec<Option<Node>>>,
}

struct Node {
    process: Child,
    input: mpsc::UnboundedSender<usize>,
}

impl Fleet {
    pub async fn start(limiter: &'static str, redis: String, nodes: usize) -> Self {
        let fleet = Self {
            limiter,
            redis,
            requests: Requests::default(),
            nodes: RefCell::default(),
        };
        for _ in 0..nodes {
            let node = fleet.start_node().await;
            fleet.nodes.borrow_mut().push(Some(node));
        }
        fleet
    }

    /// Starts a process, and waits until its limiter is connected.
    async fn start_node(&self) -> Node {
        let mut process = command(self.limiter, &self.redis)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program of the node");
        let mut output = BufReader::new(process.stdout.take().expect("a piped standard output"));
        let mut line = String::new();
        output.read_line(&mut line).await.expect("text");
        assert_eq!(line.trim_end(), READY, "{} did not start", self.limiter);
        spawn_local(receive(output, Rc::clone(&self.requests)));

        let (input, mut numbers) = mpsc::unbounded_channel::<usize>();
        let mut stdin = process.stdin.take().expect("a piped standard input");
        spawn_local(async move {
            while let Some(number) = numbers.recv().await {
                // A killed node cannot read it; the request stays unanswered.
                if stdin.write_all(format!("{number}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        Node { process, input }
    }

    /// Sends a request to a node. No request is sent to a node that was killed and is not yet replaced.
    pub fn send(&self, node: usize) {
        let nodes = self.nodes.borrow();
        let Some(node) = &nodes[node] else { return };
        let mut requests = self.requests.borrow_mut();
        let number = requests.len();
        let sent = Instant::now();
        requests.insert(number, Request { sent, answer: None });
        node.input.send(number).ok();
    }

    /// Kills a node with SIGKILL, starts another process, and sends the node's requests to it as soon as it is ready.
    pub async fn replace(&self, node: usize) {
        let killed = self.nodes.borrow_mut()[node].take();
        let mut killed = killed.expect("a running node");
        killed.process.kill().await.expect("a running process");
        let replacement = self.start_node().await;
        self.nodes.borrow_mut()[node] = Some(replacement);
    }

    /// Waits until every request is answered, for `timeout` at most, and ends the nodes.
    pub async fn finish(self, timeout: Duration) -> Vec<Request> {
        let end = Instant::now() + timeout;
        let is_complete = |requests: &Requests| requests.borrow().values().all(|request| request.answer.is_some());
        while !is_complete(&self.requests) && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.requests.borrow().values().copied().collect()
    }
}

/// The command of a node: this program, or the one of a limiter in another language.
fn command(limiter: &str, redis: &str) -> Command {
    match limiter.starts_with("rate_limiter_flexible") {
        true => {
            let mut command = Command::new("node");
            command
                .arg(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/src/limiters/rate_limiter_flexible/node.mjs"
                ))
                .args([limiter, redis])
                .args([LIMIT.to_string(), WINDOW.as_secs().to_string(), NODES.to_string()]);
            command
        }
        false => {
            let mut command = Command::new(env::current_exe().expect("the path of this program"));
            command.args(["node", limiter, redis]);
            command
        }
    }
}

async fn receive(output: BufReader<ChildStdout>, requests: Requests) {
    let mut lines = output.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let now = Instant::now();
        let (number, letter) = line.split_once(' ').expect("a number and an answer");
        let answer = Answer::from_letter(letter).expect("a known answer");
        let number: usize = number.parse().expect("a number");
        let mut requests = requests.borrow_mut();
        let request = requests.get_mut(&number).expect("a request that was sent");
        request.answer = Some((now, answer));
    }
}
