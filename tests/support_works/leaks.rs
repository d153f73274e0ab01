//! Leaks are seen.

use std::net::TcpListener;

use support::{
    again::alone,
    leaks::{open_files, tasks},
    test_path,
};

#[test]
fn an_open_socket_is_counted() {
    alone(test_path!("an_open_socket_is_counted"), || {
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
