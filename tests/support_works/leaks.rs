//! Leaks are seen.

use std::net::TcpListener;

use crate::support::leaks::{open_files, tasks};

#[test]
fn an_open_socket_is_counted() {
    // Other tests open and close files meanwhile, but not a thousand.
    let before = open_files();
    let sockets: Vec<_> = (0..1000).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    assert!(open_files().abs_diff(before + sockets.len()) < 500);
    drop(sockets);
    assert!(open_files().abs_diff(before) < 500);
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
