//! `upstream` is a minimal HTTP service, to leave the CPU to the proxy in front of it.
//!
//! It prints its address, and answers every request head on one thread. It does not support request bodies.

use std::net::Ipv4Addr;

use tokio::{
    io::{self, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const END_OF_HEAD: &[u8] = b"\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello";

fn main() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("http://{}", listener.local_addr()?);
        loop {
            let (socket, _) = listener.accept().await?;
            tokio::spawn(serve(socket));
        }
    })
}

/// Serves a connection until the client closes it.
async fn serve(mut socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut read = Vec::with_capacity(4096);
    while socket.read_buf(&mut read).await? > 0 {
        while let Some(start) = read.windows(END_OF_HEAD.len()).position(|bytes| bytes == END_OF_HEAD) {
            read.drain(..start + END_OF_HEAD.len());
            socket.write_all(RESPONSE).await?;
        }
    }
    Ok(())
}
