//! Ports, processes, and the counters of open files and tasks.

use std::{collections::BTreeSet, net::TcpListener, path::Path};

use support::{
    folder::Folder,
    leaks::{open_files, tasks},
    port::Port,
    process::Process,
    subprocess::in_own_process,
    test_path,
};

/// Many more ports than the system hands out before it reuses one.
const PORTS: usize = 2_000;

#[test]
fn a_released_port_is_not_reused() {
    let ports: BTreeSet<u16> = (0..PORTS).map(|_| Port::free().number()).collect();
    assert_eq!(ports.len(), PORTS);
}

/// Starts and drops a process with a child that runs this command, in which `FILE` is the path of a file. Returns whether the
/// child has created the file. The child prints `ready`, since only then is it in its final process group.
fn child_creates_file(command: &str) -> bool {
    let folder = Folder::new("process");
    let file = folder.file("written");
    let script = format!("{} & wait", command.replace("FILE", &file));
    drop(Process::start(&["sh".into(), "-c".into(), script], &["ready"]));
    Path::new(&file).exists()
}

#[test]
fn children_in_the_process_group_are_killed() {
    assert!(!child_creates_file("(echo ready; sleep 30; touch 'FILE')"));
}

#[test]
fn children_in_another_process_group_are_awaited() {
    assert!(child_creates_file("setsid sh -c \"echo ready; sleep 1; touch 'FILE'\""));
}

#[test]
fn an_open_socket_is_counted() {
    in_own_process(test_path!("an_open_socket_is_counted"), || {
        let before = open_files();
        let sockets = [(); 10].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        assert_eq!(open_files(), before + sockets.len());
        drop(sockets);
        assert_eq!(open_files(), before);
    });
}

#[tokio::test]
async fn a_task_is_counted_until_it_ends() {
    let before = tasks();
    let task = tokio::spawn(std::future::pending::<()>());
    assert_eq!(tasks(), before + 1);
    task.abort();
    task.await.unwrap_err();
    assert_eq!(tasks(), before);
}
