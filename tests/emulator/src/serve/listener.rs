//! The listening socket, which is really closed while connections are to be refused.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::certificates::Authority;
use super::connection::Context;
use crate::emulator::Emulator;
use crate::fault::Outages;

/// How many connections may wait to be accepted: more than any test opens at once.
const BACKLOG: u32 = 1024;

/// How long to wait before something is tried again that the machine refused, such as a socket too many.
const RETRY: Duration = Duration::from_millis(20);

/// How often the socket was closed and opened again: an odd number while it is closed. Counted, so that no closing is
/// missed that was short.
#[derive(Debug, Clone)]
pub(super) struct Door {
    moves: watch::Receiver<u64>,
    from: u64,
}

impl Door {
    /// Looks from now on.
    pub(super) fn now(&self) -> Door {
        let moves = self.moves.clone();
        let from = *moves.borrow();
        Door { moves, from }
    }

    /// Waits until it is closed, or was since the first look.
    pub(super) async fn closed(&self) {
        // It fails when nobody listens any more.
        let _ = self.moves.clone().wait_for(|&moves| moves > self.from || moves % 2 == 1).await;
    }

    /// Waits until it is open.
    pub(super) async fn open(&self) {
        let _ = self.moves.clone().wait_for(|&moves| moves % 2 == 0).await;
    }
}

/// A listening socket, and a hold on its port.
pub(super) struct Listener {
    address: SocketAddr,
    /// Bound and never listening, so that nobody is given the port while the other one is closed. None where the
    /// system does not allow two.
    _hold: Option<TcpSocket>,
    socket: TcpListener,
    moves: watch::Sender<u64>,
}

impl Listener {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Listener> {
        let hold = bound(address)?;
        let address = hold.local_addr()?;
        let moves = watch::Sender::new(0);
        match listening(address) {
            Ok(socket) => Ok(Listener { address, _hold: Some(hold), socket, moves }),
            Err(_) => {
                drop(hold);
                Ok(Listener { address, _hold: None, socket: listening(address)?, moves })
            }
        }
    }

    pub(super) fn door(&self) -> Door {
        Door { moves: self.moves.subscribe(), from: 0 }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts and serves connections for ever. When this is dropped, so are they.
    pub(super) async fn run(
        self,
        emulator: Emulator,
        mut outages: Outages,
        tls: Arc<ServerConfig>,
        authority: Arc<Authority>,
    ) {
        let door = self.door();
        let Listener { address, _hold, mut socket, moves } = self;
        let faults = emulator.faults().clone();
        let context = Context { emulator, tls: TlsAcceptor::from(tls), authority, door };
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = outages.next() => {
                    drop(socket);
                    moves.send_modify(|moves| *moves += 1);
                    faults.up().await;
                    socket = reopened(address).await;
                    moves.send_modify(|moves| *moves += 1);
                }
                accepted = socket.accept() => match accepted {
                    Ok((tcp, _)) => {
                        let context = Context { door: context.door.now(), ..context.clone() };
                        connections.spawn(context.serve(tcp));
                    }
                    Err(_) => tokio::time::sleep(RETRY).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A port is free again at once, in spite of connections that were closed on our side.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn listening(address: SocketAddr) -> io::Result<TcpListener> {
    bound(address)?.listen(BACKLOG)
}

async fn reopened(address: SocketAddr) -> TcpListener {
    loop {
        match listening(address) {
            Ok(socket) => return socket,
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}
