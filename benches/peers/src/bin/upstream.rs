//! `upstream` is a service that does as little as a service can, to leave the processor to what is in front of it.
//!
//! It says where it listens, and answers every head that it reads, on one thread. It does not look for bodies.

use std::net::Ipv4Addr;

use tokio::{
    io::{self, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const END_OF_A_HEAD: &[u8] = b"\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello";

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

/// Until the client leaves, whichever way.
async fn serve(mut socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut read = Vec::with_capacity(4096);
    while socket.read_buf(&mut read).await? > 0 {
        while let Some(start) = read
            .windows(END_OF_A_HEAD.len())
            .position(|bytes| bytes == END_OF_A_HEAD)
        {
            read.drain(..start + END_OF_A_HEAD.len());
            socket.write_all(ANSWER).await?;
        }
    }
    Ok(())
}
