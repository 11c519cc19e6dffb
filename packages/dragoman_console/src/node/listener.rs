//! Connections of the web server, not more than a number of them at a time. Those that send no request in time end, and if
//! all places are taken, the oldest one that is not a WebSocket gives its place to a new one: idle connections do not
//! keep others out. What has not arrived completely is bounded as well: see [`Received`].

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use dragoman_io::net::{TcpListener, TcpStream};
use dragoman_time::{Held, Sleep};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Pause after an error of the system, such as too many open files.
const ERROR_PAUSE: Duration = Duration::from_millis(500);
/// Time for a request, and after a response for the next one.
const REQUEST_TIME: Duration = Duration::from_secs(10);

/// Maximum length of a request, whose body nothing needs, bytes.
const MAX_REQUEST: usize = 64 << 10;
/// Maximum length of the incomplete messages of all WebSockets, bytes; beyond it a WebSocket has its share only.
const MAX_INCOMPLETE: usize = 64 << 20;
const INCOMPLETE_SHARE: usize = 1 << 20;
/// Length of a control frame of a client without its data, bytes (RFC 6455, 5.2 and 5.5).
const CONTROL_FRAME: usize = 6;

/// Connections that may lose their place, by the order of their arrival.
type Evictable = Arc<Mutex<BTreeMap<u64, oneshot::Sender<()>>>>;

/// A listener with a limited number of connections.
pub(crate) struct Limited {
    listener: TcpListener,
    free: Arc<Semaphore>,
    evictable: Evictable,
    last: u64,
    request_time: Duration,
    /// The sum of what all connections have [`Received`].
    received: Arc<AtomicUsize>,
}

impl Limited {
    /// `received` is shared by the listeners of a server.
    pub(crate) fn new(listener: TcpListener, most: usize, received: Arc<AtomicUsize>) -> Self {
        let (free, evictable) = (Arc::new(Semaphore::new(most)), Evictable::default());
        Self { listener, free, evictable, last: 0, request_time: REQUEST_TIME, received }
    }

    /// Waits for a place; if there is none, the oldest connection that is not a WebSocket ends.
    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
                return place;
            }
            if let Some((_, evict)) = self.evictable.lock().pop_first() {
                // It may just have ended.
                let _ = evict.send(());
            }
            // The semaphore is never closed.
            if let Ok(place) = Arc::clone(&self.free).acquire_owned().await {
                return place;
            }
        }
    }
}

/// A connection; its place is free when it is dropped.
pub(crate) struct Connection {
    stream: TcpStream,
    number: u64,
    peer: Peer,
    /// End of the time for a request.
    deadline: Sleep,
    request_time: Duration,
    evicted: oneshot::Receiver<()>,
    is_evicted: bool,
    evictable: Evictable,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Counts received bytes; returns the reason if the connection must end because of them.
    fn take(&self, count: usize) -> Option<io::Error> {
        let is_upgraded = self.peer.is_upgraded.load(Ordering::Relaxed);
        if self.peer.received.take(count, is_upgraded) {
            return None;
        }
        let what = if is_upgraded { "incomplete message" } else { "request" };
        tracing::warn!(client = %self.peer.address, "client disconnected: {what} too long");
        Some(io::Error::other("too long"))
    }

    /// Reason why the connection must end.
    fn end(&mut self, task: &mut Context<'_>) -> Option<io::Error> {
        if self.peer.is_upgraded.load(Ordering::Relaxed) {
            self.evictable.lock().remove(&self.number);
            return None;
        }
        // A receiver must not be asked again after its message.
        self.is_evicted = self.is_evicted || Pin::new(&mut self.evicted).poll(task).is_ready();
        if self.is_evicted {
            return Some(io::Error::other("the place is needed"));
        }
        let is_late = self.deadline.poll_unpin(task).is_ready();
        is_late.then(|| io::Error::new(io::ErrorKind::TimedOut, "no request in time"))
    }

    /// After a part of a response.
    fn extend(&mut self) {
        if !self.peer.is_upgraded.load(Ordering::Relaxed) {
            self.peer.received.complete();
        }
        self.deadline.reset(dragoman_time::now() + self.request_time);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.evictable.lock().remove(&self.number);
    }
}

/// The address of a client, and its connection.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    is_upgraded: Arc<AtomicBool>,
    pub(crate) received: Arc<Received>,
    /// What follows when the connection has become a WebSocket.
    continuation: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
}

/// Bytes of a request, or of a message of a WebSocket, that has not arrived completely.
#[derive(Debug)]
pub(crate) struct Received {
    own: Held,
    all: Arc<AtomicUsize>,
}

impl Received {
    fn new(all: Arc<AtomicUsize>) -> Self {
        Self { own: Held::new("bytes of incomplete web messages"), all }
    }

    /// Takes bytes; returns whether there is room for them.
    fn take(&self, count: usize, is_upgraded: bool) -> bool {
        let own = self.own.add(count);
        let all = self.all.fetch_add(count, Ordering::Relaxed) + count;
        if is_upgraded { own <= INCOMPLETE_SHARE || all <= MAX_INCOMPLETE } else { own <= MAX_REQUEST }
    }

    /// The request or message is complete.
    pub(crate) fn complete(&self) {
        let own = self.own.get();
        self.own.remove(own);
        self.all.fetch_sub(own, Ordering::Relaxed);
    }

    /// A control frame with `length` bytes of data is complete; a message may be around it.
    pub(crate) fn complete_control(&self, length: usize) {
        let count = self.own.get().min(length + CONTROL_FRAME);
        self.own.remove(count);
        self.all.fetch_sub(count, Ordering::Relaxed);
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        self.complete();
    }
}

impl Peer {
    /// The connection is a WebSocket now: the time for requests does not apply, and it keeps its place.
    pub(crate) fn upgrade(&self) {
        self.is_upgraded.store(true, Ordering::Relaxed);
    }

    /// Sets what the task of the connection does when no more requests come.
    pub(crate) fn continue_with(&self, continuation: impl Future<Output = ()> + Send + 'static) {
        let continuation: BoxFuture<'static, ()> = Box::pin(continuation);
        *self.continuation.lock() = Some(continuation);
    }

    /// What was set with [`continue_with`](Self::continue_with).
    pub(crate) fn take_continuation(&self) -> Option<BoxFuture<'static, ()>> {
        self.continuation.lock().take()
    }
}

impl Limited {
    /// The next connection, when there is a place for it.
    pub(crate) async fn accept(&mut self) -> Connection {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "setting TCP_NODELAY failed");
                    }
                    let place = self.place().await;
                    self.last += 1;
                    let (evict, evicted) = oneshot::channel();
                    self.evictable.lock().insert(self.last, evict);
                    let connection = Connection {
                        stream,
                        number: self.last,
                        peer: Peer {
                            address,
                            is_upgraded: Arc::default(),
                            received: Arc::new(Received::new(Arc::clone(&self.received))),
                            continuation: Arc::default(),
                        },
                        deadline: dragoman_time::sleep(self.request_time),
                        request_time: self.request_time,
                        evicted,
                        is_evicted: false,
                        evictable: Arc::clone(&self.evictable),
                        _place: place,
                    };
                    return connection;
                }
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    dragoman_time::sleep(ERROR_PAUSE).await;
                }
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(task, buffer);
        let count = buffer.filled().len() - before;
        // Also when bytes arrive: a head that comes byte by byte must not take longer.
        let end = self.take(count).or_else(|| self.end(task));
        match end {
            Some(error) => {
                // A reading that fails gives no bytes.
                buffer.set_filled(before);
                Poll::Ready(Err(error))
            }
            None => polled,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(task, bytes);
        self.written(polled, task)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(task)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(task, buffers);
        self.written(polled, task)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

impl Connection {
    /// A response goes on; a client that does not take it must not keep its place for ever.
    fn written(
        &mut self,
        polled: Poll<io::Result<usize>>,
        task: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if polled.is_ready() {
            self.extend();
            return polled;
        }
        match self.end(task) {
            Some(error) => Poll::Ready(Err(error)),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    /// A listener with one place, and its address.
    async fn listener() -> (Limited, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap(), 16).unwrap();
        let address = listener.local_addr().unwrap();
        (Limited::new(listener, 1, Arc::default()), address)
    }

    async fn read(connection: &mut Connection) -> io::Result<usize> {
        connection.read(&mut [0; 8]).await
    }

    #[tokio::test]
    async fn a_connection_without_a_request_ends() {
        let (mut limited, address) = listener().await;
        limited.request_time = Duration::from_millis(50);
        let _client = TcpStream::connect(address).await.unwrap();
        let mut idle = limited.accept().await;
        assert_eq!(read(&mut idle).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn the_oldest_connection_without_a_web_socket_gives_its_place() {
        let (mut limited, address) = listener().await;
        let mut clients = vec![TcpStream::connect(address).await.unwrap()];
        let mut idle = limited.accept().await;
        clients.push(TcpStream::connect(address).await.unwrap());
        let ended = tokio::spawn(async move { read(&mut idle).await.unwrap_err().to_string() });
        let mut second = limited.accept().await;
        assert_eq!(ended.await.unwrap(), "the place is needed");
        // A WebSocket keeps its place.
        second.peer.upgrade();
        let serving = tokio::spawn(async move { read(&mut second).await });
        tokio::task::yield_now().await;
        clients.push(TcpStream::connect(address).await.unwrap());
        let third = tokio::time::timeout(Duration::from_millis(100), limited.accept()).await;
        assert!(third.is_err() && !serving.is_finished());
    }

    #[tokio::test]
    async fn a_request_is_not_longer_than_its_bound() {
        let (mut limited, address) = listener().await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut connection = limited.accept().await;
        let all = Arc::clone(&limited.received);
        let sending = tokio::spawn(async move {
            use tokio::io::AsyncWriteExt;
            let _ = client.write_all(&vec![b'x'; 2 * MAX_REQUEST]).await;
        });
        let mut request = Vec::new();
        let error = connection.read_to_end(&mut request).await.unwrap_err();
        assert_eq!(error.to_string(), "too long");
        drop(connection);
        assert_eq!(all.load(Ordering::Relaxed), 0);
        sending.await.unwrap();
    }

    #[test]
    fn incomplete_messages_are_bounded_in_all() {
        let all: Arc<AtomicUsize> = Arc::default();
        let client = || Received::new(Arc::clone(&all));
        let greedy: Vec<Received> = (0..9).map(|_| client()).collect();
        let taken = greedy.iter().filter(|received| received.take(8 << 20, true)).count();
        assert_eq!(taken, MAX_INCOMPLETE / (8 << 20));
        let modest = client();
        assert!(modest.take(INCOMPLETE_SHARE, true), "a modest client keeps working");
        modest.complete();
        // Answers to pings do not add up.
        for _ in 0..1_000 {
            assert!(modest.take(CONTROL_FRAME + 4, true));
            modest.complete_control(4);
        }
        assert_eq!(modest.own.get(), 0);
        drop(greedy);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
