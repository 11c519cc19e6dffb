//! One WebSocket client: its session and its connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use futures::SinkExt;
use futures::stream::{SplitSink, SplitStream, StreamExt};
use parking_lot::Mutex;
use tokio::io::AsyncReadExt;
use tokio::sync::{Notify, Semaphore};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::bounds::{Account, BYTES, CALLS, Share};
use super::driving::Commands;
use super::hub::Hub;
use super::listener::Received;
use super::outbox::{Next, Outbox};
use super::temporary::Slot;
use super::websocket::WebSocket;
use crate::foxglove;
use crate::rosbridge::{self, Frame, Level, Outgoing, Sample, Session};

/// Bytes of frames whose orders wait, beyond which no more are read.
const MAX_UNEXECUTED: usize = 8 << 10;
/// Bytes of frames after which other clients are served: a socket delivers hundreds of small frames at once.
const TURN: usize = 1 << 10;
/// What a frame counts at least.
const MIN_FRAME: usize = 64;
/// Requests of a client that are new at a time: further orders wait until one of them has ended, or is not new any more.
/// So a client that floods a service delays only itself.
const MAX_NEW: usize = 4;
/// Time for which a request is new, while not more than the new ones wait. Slow services hold up nothing.
const NEW_TIME: Duration = Duration::from_millis(20);
/// Time for the orders and requests that a client sent before it left.
const LAST_ORDERS_TIME: Duration = Duration::from_secs(1);
/// Interval of pings, and time without a sign of a client after which it is disconnected.
const PING_PERIOD: Duration = Duration::from_secs(5);
const LOST_AFTER: Duration = Duration::from_secs(20);
/// Time without a command after which a driver with Foxglove's protocol stops, though it answers pings. Its panels repeat
/// a command once a second by default.
const FOXGLOVE_SILENCE: Duration = Duration::from_millis(2500);

/// The session of a client.
pub(crate) enum Protocol {
    Rosbridge(Session),
    Foxglove(foxglove::Session),
}

/// A request of a client that is executed in ROS.
enum Order {
    Rosbridge(rosbridge::Order),
    Foxglove(foxglove::Order),
}

impl Protocol {
    fn handle_text(&mut self, now: Duration, frame: &str) {
        match self {
            Self::Rosbridge(session) => session.handle_text(now, frame),
            Self::Foxglove(session) => session.handle_text(frame),
        }
    }

    fn handle_binary(&mut self, now: Duration, frame: &[u8]) {
        match self {
            Self::Rosbridge(session) => session.handle_binary(now, frame),
            Self::Foxglove(session) => session.handle_binary(frame),
        }
    }

    fn handle_sample(&mut self, now: Duration, topic: &str, sample: &Arc<Sample>) {
        match self {
            Self::Rosbridge(session) => session.handle_sample(now, topic, sample),
            Self::Foxglove(session) => session.handle_sample(topic, sample),
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        if let Self::Rosbridge(session) = self {
            session.handle_timeout(now);
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Rosbridge(session) => session.poll_timeout(),
            Self::Foxglove(_) => None,
        }
    }

    fn poll_frame(&mut self) -> Option<Outgoing> {
        match self {
            Self::Rosbridge(session) => session.poll_frame(),
            Self::Foxglove(session) => session.poll_frame(),
        }
    }

    fn poll_warning(&mut self) -> Option<String> {
        match self {
            Self::Rosbridge(session) => session.poll_warning(),
            Self::Foxglove(_) => None,
        }
    }

    fn has_orders(&self) -> bool {
        match self {
            Self::Rosbridge(session) => session.has_orders(),
            Self::Foxglove(session) => session.has_orders(),
        }
    }

    fn poll_order(&mut self) -> Option<Order> {
        match self {
            Self::Rosbridge(session) => session.poll_order().map(Order::Rosbridge),
            Self::Foxglove(session) => session.poll_order().map(Order::Foxglove),
        }
    }
}

/// A connected client.
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) address: SocketAddr,
    pub(crate) since: Instant,
    protocol: Mutex<Protocol>,
    outbox: Outbox,
    /// The node of what it offers.
    pub(crate) offers: Slot,
    /// Requests that wait for their response.
    calls: Arc<Account>,
    /// Bytes that are kept for it.
    bytes: Arc<Account>,
    /// Places of new requests.
    new_requests: Arc<Semaphore>,
    /// The services and actions by which it has commanded something.
    pub(crate) commands: Commands,
    /// Whether it drives: it is asked for signs of life more often.
    pub(crate) is_driving: AtomicBool,
    /// A timeout of the session may have changed, or orders were executed.
    changed: Notify,
    /// Orders wait, or no more will come.
    ordered: Notify,
    has_left: AtomicBool,
    /// It has left.
    left: Notify,
    /// Bytes of frames since no orders waited.
    unexecuted: AtomicUsize,
}

/// What all clients have together.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    calls: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
    queued: Arc<AtomicUsize>,
}

impl Client {
    pub(crate) fn new(
        id: u64,
        address: SocketAddr,
        protocol: Protocol,
        max_queued: usize,
        all: &Sums,
    ) -> Self {
        Self {
            id,
            address,
            since: dragoman_time::now(),
            protocol: Mutex::new(protocol),
            outbox: Outbox::new(max_queued, &all.queued),
            offers: Slot::default(),
            calls: Arc::new(Account::new("calls of web clients that wait", &all.calls)),
            bytes: Arc::new(Account::new("bytes that are kept for web clients", &all.bytes)),
            new_requests: Arc::new(Semaphore::new(MAX_NEW)),
            commands: Commands::default(),
            is_driving: AtomicBool::new(false),
            changed: Notify::new(),
            ordered: Notify::new(),
            has_left: AtomicBool::new(false),
            left: Notify::new(),
            unexecuted: AtomicUsize::new(0),
        }
    }

    /// Runs an action with the session of a client of rosbridge, and sends its frames to the client.
    pub(crate) fn with(&self, act: impl FnOnce(&mut Session)) {
        self.act(|protocol| {
            if let Protocol::Rosbridge(session) = protocol {
                act(session);
            }
        });
    }

    /// As [`with`](Self::with), of a client of Foxglove's protocol.
    pub(crate) fn with_foxglove(&self, act: impl FnOnce(&mut foxglove::Session)) {
        self.act(|protocol| {
            if let Protocol::Foxglove(session) = protocol {
                act(session);
            }
        });
    }

    /// Whether it is a client of Foxglove's protocol.
    pub(crate) fn is_foxglove(&self) -> bool {
        self.act(|protocol| matches!(protocol, Protocol::Foxglove(_)))
    }

    fn act<T>(&self, act: impl FnOnce(&mut Protocol) -> T) -> T {
        let mut protocol = self.protocol.lock();
        let result = act(&mut protocol);
        while let Some(frame) = protocol.poll_frame() {
            self.outbox.push(frame);
        }
        if let Some(warning) = protocol.poll_warning() {
            tracing::warn!(client = %self.address, "{warning}");
        }
        result
    }

    /// Gives a message of a topic.
    pub(crate) fn deliver(&self, topic: &str, sample: &Arc<Sample>) {
        let now = self.now();
        let waits = self.act(|session| {
            session.handle_sample(now, topic, sample);
            session.poll_timeout().is_some()
        });
        if waits {
            self.changed.notify_one();
        }
    }

    /// Reports an error.
    pub(crate) fn error(&self, id: Option<&serde_json::Value>, message: &str) {
        self.act(|protocol| match protocol {
            Protocol::Rosbridge(session) => session.status(Level::Error, id, message),
            Protocol::Foxglove(session) => session.status(Level::Error, message),
        });
    }

    /// Runs a request with this number of bytes concurrently with others, if there are not too many.
    pub(crate) fn in_background(
        self: &Arc<Self>,
        bytes: usize,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), String> {
        let waiting = self.begin_call(bytes)?;
        // There is one: see `execute_all`.
        let place = Arc::clone(&self.new_requests).try_acquire_owned();
        let new_time = new_time(self.calls.get().0);
        let owner = Arc::clone(self);
        dragoman_time::spawn(async move {
            // The receiver of the answer is gone.
            let gone = async {
                owner.gone().await;
                dragoman_time::sleep(LAST_ORDERS_TIME).await;
            };
            let work = while_new(place, new_time, work);
            futures::future::select(std::pin::pin!(work), std::pin::pin!(gone)).await;
            drop(waiting);
        });
        Ok(())
    }

    /// Waits until it has left.
    async fn gone(&self) {
        let left = self.left.notified();
        if !self.has_left.load(Ordering::Acquire) {
            left.await;
        }
    }

    /// Checks whether an answer of about this number of bytes may be created.
    ///
    /// # Errors
    /// Too much waits for clients: the reason for this one.
    pub(crate) fn room(&self, bytes: usize) -> Result<(), String> {
        self.outbox.room(bytes)
    }

    /// Whether this number of bytes would exceed the limit of waiting answers and requests.
    pub(crate) fn is_busy(&self, bytes: usize) -> bool {
        self.outbox.is_busy(bytes)
    }

    /// Counts a request with this number of bytes until the returned guard is dropped, if there are not too many.
    pub(crate) fn begin_call(&self, bytes: usize) -> Result<[Share; 2], String> {
        Ok([self.calls.take(1, &CALLS)?, self.keep(bytes)?])
    }

    /// Counts bytes kept for the client until the returned guard is dropped.
    ///
    /// # Errors
    /// It is too much.
    pub(crate) fn keep(&self, bytes: usize) -> Result<Share, String> {
        self.bytes.take(bytes, &BYTES)
    }

    /// Messages of topics that it lost.
    pub(crate) fn lost(&self) -> u64 {
        self.outbox.lost()
    }

    fn now(&self) -> Duration {
        dragoman_time::since(self.since)
    }

    /// Serves the client until it is gone.
    pub(crate) async fn serve(self: &Arc<Self>, socket: WebSocket, received: &Received, hub: &Arc<Hub>) {
        let (mut sink, mut stream) = socket.split();
        let mut executing = std::pin::pin!(self.execute_all(hub));
        let reason = tokio::select! {
            biased;
            () = &mut executing => None,
            () = self.outbox.overfull() => {
                tracing::warn!(client = %self.address, "client disconnected: send queue full");
                Some(close(CloseCode::Policy, "the client does not fetch its answers"))
            }
            reason = self.receive_all(&mut stream, received, hub) => reason,
            // Last, because topics may give it something to send all the time.
            () = self.send_all(&mut sink) => None,
        };
        hub.stop_driving(self, "driving client disconnected");
        self.has_left.store(true, Ordering::Release);
        self.left.notify_waiters();
        self.outbox.give_up();
        self.ordered.notify_one();
        let closing = dragoman_time::timeout(LAST_ORDERS_TIME, end(sink, stream, received, reason));
        let executing = dragoman_time::timeout(LAST_ORDERS_TIME, executing);
        if futures::future::join(closing, executing).await.1.is_err() {
            tracing::warn!(client = %self.address, "operations of a disconnected client dropped: ROS is busy");
        }
    }

    /// Executes orders in their sequence, beside receiving: a slow one must not delay the heartbeat.
    async fn execute_all(self: &Arc<Self>, hub: &Arc<Hub>) {
        loop {
            while let Some(order) = self.act(Protocol::poll_order) {
                // It is never closed.
                drop(self.new_requests.acquire().await);
                match order {
                    Order::Rosbridge(order) => hub.execute(self, order).await,
                    Order::Foxglove(order) => hub.execute_foxglove(self, order).await,
                }
            }
            self.unexecuted.store(0, Ordering::Relaxed);
            self.changed.notify_one();
            if self.has_left.load(Ordering::Acquire) {
                return;
            }
            self.ordered.notified().await;
        }
    }

    async fn send_all(&self, sink: &mut SplitSink<WebSocket, Message>) {
        loop {
            let outgoing = match self.outbox.next().await {
                Next::Message(outgoing) => outgoing,
                Next::Ping => {
                    if sink.send(Message::Ping(Bytes::new())).await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            for frame in outgoing.into_frames() {
                let message = match frame {
                    Frame::Text(text) => match Utf8Bytes::try_from(Bytes::from_owner(TextOwner(text))) {
                        Ok(text) => Message::Text(text),
                        Err(_) => continue,
                    },
                    Frame::Binary(bytes) => Message::Binary(Bytes::from_owner(bytes)),
                };
                if self.outbox.take_ping() && sink.feed(Message::Ping(Bytes::new())).await.is_err() {
                    return;
                }
                if sink.send(message).await.is_err() {
                    return;
                }
            }
        }
    }

    /// Takes what the client sends until it has left, or has to leave: for this reason.
    async fn receive_all(
        self: &Arc<Self>,
        stream: &mut SplitStream<WebSocket>,
        received: &Received,
        hub: &Arc<Hub>,
    ) -> Option<CloseFrame> {
        // A browser answers pings though its page hangs, so a pong does not show that the page still wants to drive.
        let silence = if self.is_foxglove() { FOXGLOVE_SILENCE } else { hub.heartbeat_timeout() };
        let (mut last_frame, mut last_operation, mut pinged) =
            (dragoman_time::now(), dragoman_time::now(), dragoman_time::now());
        let mut taken = 0;
        loop {
            if taken >= TURN {
                taken = 0;
                dragoman_time::yield_now().await;
            }
            let is_driving = self.is_driving.load(Ordering::Relaxed);
            let ping_period = if is_driving { hub.heartbeat_timeout() / 3 } else { PING_PERIOD };
            let timeout = self.act(|session| session.poll_timeout());
            let timeout = timeout.map_or(ping_period, |timeout| timeout.saturating_sub(self.now()));
            let pause = timeout.min(ping_period.saturating_sub(dragoman_time::since(pinged)));
            let may_read = self.unexecuted.load(Ordering::Relaxed) < MAX_UNEXECUTED;
            tokio::select! {
                biased;
                () = dragoman_time::sleep(pause) => {
                    self.act(|session| session.handle_timeout(self.now()));
                }
                () = self.changed.notified() => {}
                message = stream.next(), if may_read => {
                    last_frame = dragoman_time::now();
                    let length = match message {
                        Some(Ok(Message::Text(text))) => {
                            self.act(|session| session.handle_text(self.now(), &text));
                            text.len()
                        }
                        Some(Ok(Message::Binary(bytes))) => {
                            self.act(|session| session.handle_binary(self.now(), &bytes));
                            bytes.len()
                        }
                        Some(Ok(Message::Ping(data) | Message::Pong(data))) => {
                            received.complete_control(data.len());
                            0
                        }
                        Some(Err(error)) => return reason(error),
                        Some(Ok(Message::Close(_) | Message::Frame(_))) | None => return None,
                    };
                    taken += length.max(MIN_FRAME);
                    if length > 0 {
                        last_operation = last_frame;
                        received.complete();
                    }
                    if self.act(|session| session.has_orders()) {
                        self.unexecuted.fetch_add(length, Ordering::Relaxed);
                        self.ordered.notify_one();
                    }
                }
            }
            if dragoman_time::since(pinged) >= ping_period {
                pinged = dragoman_time::now();
                self.outbox.ping();
            }
            let is_silent = dragoman_time::since(last_frame) >= hub.heartbeat_timeout()
                || dragoman_time::since(last_operation) >= silence;
            if self.is_driving.load(Ordering::Relaxed) && is_silent {
                hub.stop_driving(self, "driving client timed out");
            }
            if may_read && dragoman_time::since(last_frame) >= LOST_AFTER {
                tracing::warn!(client = %self.address, "client disconnected: keepalive expired");
                return Some(close(CloseCode::Policy, "no sign of the client"));
            }
        }
    }
}

/// Runs a request, and releases its `place` when it ends or is no longer new.
pub(super) async fn while_new<T>(place: impl Sized, time: Duration, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(done) = dragoman_time::timeout(time, &mut work).await {
        return done;
    }
    drop(place);
    work.await
}

/// Time for which a request is new while this number of requests wait: it grows with their square. A service that does
/// not keep up with a flood would otherwise get more and more of it, and all other clients would wait as well.
fn new_time(waiting: usize) -> Duration {
    // There are at most [`CALLS`] of them.
    let parts = waiting.div_ceil(MAX_NEW).max(1) as u32;
    NEW_TIME * parts * parts
}

/// Close code and reason for an error (RFC 6455, 7.4.1); `None`: the connection is lost.
fn reason(error: Error) -> Option<CloseFrame> {
    match error {
        Error::Capacity(error) => Some(close(CloseCode::Size, &error.to_string())),
        Error::Utf8(_) => Some(close(CloseCode::Invalid, "a text is not UTF-8")),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(error) => Some(close(CloseCode::Protocol, &error.to_string())),
        // Of the listener: see `Received`.
        Error::Io(error) if error.kind() == std::io::ErrorKind::Other => {
            Some(close(CloseCode::Size, "incomplete messages of all clients are too long"))
        }
        _ => None,
    }
}

/// A close frame. A reason has at most 123 bytes.
fn close(code: CloseCode, reason: &str) -> CloseFrame {
    let reason = if reason.len() <= 123 { reason } else { "" };
    CloseFrame { code, reason: reason.into() }
}

/// Ends a connection: with a reason, or by the answer to the client's own close frame.
async fn end(
    mut sink: SplitSink<WebSocket, Message>,
    stream: SplitStream<WebSocket>,
    received: &Received,
    reason: Option<CloseFrame>,
) {
    let Some(reason) = reason else {
        // The client may be gone.
        let _ = sink.flush().await;
        return;
    };
    if sink.send(Message::Close(Some(reason))).await.is_err() {
        return;
    }
    let Ok(mut socket) = stream.reunite(sink) else { return };
    // What the client still sends is read, because the system would discard the close frame otherwise.
    let mut unread = [0; 4096];
    while matches!(socket.get_mut().read(&mut unread).await, Ok(length) if length > 0) {
        received.complete();
    }
}

/// Makes a shared text the owner of a message's bytes.
struct TextOwner(Arc<str>);

impl AsRef<[u8]> for TextOwner {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
