//! One WebSocket client: its session, and the queue of frames for it.
//!
//! A slow client loses messages of topics, the oldest first. Answers are not lost: a client that does not fetch them is
//! disconnected.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use dragoman_ros::plain;
use futures::SinkExt;
use futures::stream::{SplitSink, StreamExt};
use tokio::sync::Notify;

use super::bounds::CALLS;
use super::hub::Hub;
use super::listener::Received;
use crate::foxglove;
use crate::rosbridge::{self, Frame, Level, Outgoing, Sample, Session};

/// Most messages that wait for a client, whole or to be sent in fragments.
const MOST_MESSAGES: usize = 2000;
/// Bytes of frames whose orders wait, beyond which no more are read.
const MOST_UNEXECUTED: usize = 1 << 20;
/// Time for the orders that a client sent before it left.
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

/// What a client wants in ROS.
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
    /// Requests that wait for their response: its own, and those of all clients.
    calls: AtomicUsize,
    all_calls: Arc<AtomicUsize>,
    /// Whether it drives: it is asked for signs of life more often.
    pub(crate) is_driving: AtomicBool,
    /// A timeout of the session may have changed, or orders were executed.
    changed: Notify,
    /// Orders wait, or no more will come.
    ordered: Notify,
    has_left: AtomicBool,
    /// Bytes of frames since no orders waited.
    unexecuted: AtomicUsize,
}

impl Client {
    /// `all_calls` are the requests of all clients that wait for their response.
    pub(crate) fn new(
        id: u64,
        address: SocketAddr,
        protocol: Protocol,
        most_queued: usize,
        all_calls: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            id,
            address,
            since: dragoman_time::now(),
            protocol: Mutex::new(protocol),
            outbox: Outbox { most: most_queued, ..Outbox::default() },
            calls: AtomicUsize::new(0),
            all_calls,
            is_driving: AtomicBool::new(false),
            changed: Notify::new(),
            ordered: Notify::new(),
            has_left: AtomicBool::new(false),
            unexecuted: AtomicUsize::new(0),
        }
    }

    /// Gives something to the session of a client of rosbridge, and its frames to the client.
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
        let mut protocol = self.protocol.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Reports an error, as plain text.
    pub(crate) fn error(&self, id: Option<&serde_json::Value>, message: &str) {
        let message = &plain::line(message);
        self.act(|protocol| match protocol {
            Protocol::Rosbridge(session) => session.status(Level::Error, id, message),
            Protocol::Foxglove(session) => session.status(Level::Error, message),
        });
    }

    /// Runs a request of the client beside others, if there are not too many.
    pub(crate) fn in_background(
        self: &Arc<Self>,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), String> {
        let waiting = self.begin_call()?;
        dragoman_time::spawn(async move {
            work.await;
            drop(waiting);
        });
        Ok(())
    }

    /// Counts a request, if there are not too many.
    pub(crate) fn begin_call(self: &Arc<Self>) -> Result<Waiting, String> {
        let own = self.calls.fetch_add(1, Ordering::Relaxed);
        let all = self.all_calls.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(Arc::clone(self));
        CALLS.check(own, all)?;
        Ok(waiting)
    }

    /// Messages of topics that it lost.
    pub(crate) fn lost(&self) -> u64 {
        self.outbox.lost.load(Ordering::Relaxed)
    }

    fn now(&self) -> Duration {
        dragoman_time::since(self.since)
    }

    /// Serves the client until it is gone.
    pub(crate) async fn serve(self: &Arc<Self>, socket: WebSocket, received: &Received, hub: &Arc<Hub>) {
        let (sink, stream) = socket.split();
        let mut executing = std::pin::pin!(self.execute_all(hub));
        tokio::select! {
            biased;
            () = &mut executing => {}
            () = self.receive_all(stream, received, hub) => {}
            // Last, because topics may give it something to send all the time.
            () = self.send_all(sink) => {}
        }
        hub.stop_driving(self, "the client that drives has left");
        self.has_left.store(true, Ordering::Relaxed);
        self.ordered.notify_one();
        if dragoman_time::timeout(LAST_ORDERS_TIME, executing).await.is_err() {
            tracing::warn!(client = %self.address, "the last orders of a client are not executed: ROS is busy");
        }
    }

    /// Executes orders in their sequence, beside receiving: a slow one must not delay the heartbeat.
    async fn execute_all(self: &Arc<Self>, hub: &Arc<Hub>) {
        loop {
            while let Some(order) = self.act(Protocol::poll_order) {
                match order {
                    Order::Rosbridge(order) => hub.execute(self, order).await,
                    Order::Foxglove(order) => hub.execute_foxglove(self, order).await,
                }
            }
            self.unexecuted.store(0, Ordering::Relaxed);
            self.changed.notify_one();
            if self.has_left.load(Ordering::Relaxed) {
                return;
            }
            self.ordered.notified().await;
        }
    }

    async fn send_all(&self, mut sink: SplitSink<WebSocket, Message>) {
        loop {
            let outgoing = match self.outbox.next().await {
                Next::Message(outgoing) => outgoing,
                Next::Ping => {
                    if sink.send(Message::Ping(Bytes::new())).await.is_err() {
                        return;
                    }
                    continue;
                }
                Next::Overflow => {
                    tracing::warn!(client = %self.address, "a client does not fetch its answers: disconnected");
                    return;
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

    async fn receive_all(
        self: &Arc<Self>,
        mut stream: futures::stream::SplitStream<WebSocket>,
        received: &Received,
        hub: &Arc<Hub>,
    ) {
        // A browser answers pings though its page hangs, so a pong does not show that the page still wants to drive.
        let silence = if self.is_foxglove() { FOXGLOVE_SILENCE } else { hub.heartbeat_timeout() };
        let (mut heard, mut spoke, mut pinged) =
            (dragoman_time::now(), dragoman_time::now(), dragoman_time::now());
        loop {
            let is_driving = self.is_driving.load(Ordering::Relaxed);
            let ping_period = if is_driving { hub.heartbeat_timeout() / 3 } else { PING_PERIOD };
            let timeout = self.act(|session| session.poll_timeout());
            let timeout = timeout.map_or(ping_period, |timeout| timeout.saturating_sub(self.now()));
            let pause = timeout.min(ping_period.saturating_sub(dragoman_time::since(pinged)));
            let may_read = self.unexecuted.load(Ordering::Relaxed) < MOST_UNEXECUTED;
            tokio::select! {
                biased;
                () = dragoman_time::sleep(pause) => {
                    self.act(|session| session.handle_timeout(self.now()));
                }
                () = self.changed.notified() => {}
                message = stream.next(), if may_read => {
                    heard = dragoman_time::now();
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
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    };
                    if length > 0 {
                        spoke = heard;
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
            let is_silent = dragoman_time::since(heard) >= hub.heartbeat_timeout()
                || dragoman_time::since(spoke) >= silence;
            if self.is_driving.load(Ordering::Relaxed) && is_silent {
                hub.stop_driving(self, "no sign of the client that drives");
            }
            if may_read && dragoman_time::since(heard) >= LOST_AFTER {
                tracing::warn!(client = %self.address, "no sign of a client: disconnected");
                return;
            }
        }
    }
}

/// A request that waits for its response.
pub(crate) struct Waiting(Arc<Client>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
        self.0.all_calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes a shared text the owner of a message's bytes.
struct TextOwner(Arc<str>);

impl AsRef<[u8]> for TextOwner {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Messages that wait for a client.
#[derive(Default)]
struct Outbox {
    queue: Mutex<Queue>,
    changed: Notify,
    /// Most bytes.
    most: usize,
    lost: AtomicU64,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Outgoing>,
    bytes: usize,
    /// Frames that may not be dropped, and their bytes.
    kept: usize,
    kept_bytes: usize,
    is_ping_due: bool,
    is_overfull: bool,
}

enum Next {
    Message(Outgoing),
    Ping,
    Overflow,
}

impl Outbox {
    fn push(&self, frame: Outgoing) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let length = frame.frame.len();
        if frame.may_drop {
            if queue.kept_bytes + length > self.most {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            while queue.frames.len() >= MOST_MESSAGES || queue.bytes + length > self.most {
                self.lost.fetch_add(1, Ordering::Relaxed);
                let Some(oldest) = queue.frames.iter().position(|frame| frame.may_drop) else { return };
                let dropped = queue.frames.remove(oldest).map_or(0, |frame| frame.frame.len());
                queue.bytes -= dropped;
            }
        } else {
            queue.kept += 1;
            queue.kept_bytes += length;
            // One answer of any length is allowed.
            if queue.kept > MOST_MESSAGES || (queue.kept > 1 && queue.kept_bytes > self.most) {
                queue.is_overfull = true;
            }
        }
        queue.bytes += length;
        queue.frames.push_back(frame);
        drop(queue);
        self.changed.notify_one();
    }

    fn ping(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).is_ping_due = true;
        self.changed.notify_one();
    }

    /// Whether a ping is due, which is sent between the fragments of a long message as well.
    fn take_ping(&self) -> bool {
        std::mem::take(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner).is_ping_due)
    }

    async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.changed.notified().await;
        }
    }

    fn take(&self) -> Option<Next> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.is_overfull {
            return Some(Next::Overflow);
        }
        if std::mem::take(&mut queue.is_ping_due) {
            return Some(Next::Ping);
        }
        let frame = queue.frames.pop_front()?;
        let length = frame.frame.len();
        queue.bytes -= length;
        if !frame.may_drop {
            queue.kept -= 1;
            queue.kept_bytes -= length;
        }
        Some(Next::Message(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: usize, may_drop: bool) -> Outgoing {
        Outgoing::whole(Frame::Text("x".repeat(length).into()), may_drop)
    }

    fn lengths(outbox: &Outbox) -> Vec<usize> {
        std::iter::from_fn(|| match outbox.take() {
            Some(Next::Message(outgoing)) => Some(outgoing.frame.len()),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn a_slow_client_loses_the_oldest_messages_but_no_answers() {
        let outbox = Outbox { most: 100, ..Outbox::default() };
        for (length, may_drop) in [(40, true), (10, false), (41, true), (42, true), (101, true)] {
            outbox.push(frame(length, may_drop));
        }
        assert_eq!(lengths(&outbox), [10, 41, 42]);
        assert_eq!(outbox.lost.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_message_in_many_fragments_is_one_message() {
        let outbox = Outbox { most: 8 << 20, ..Outbox::default() };
        let split = Some(rosbridge::Split { size: 1, id: 1 });
        for may_drop in [true, false] {
            outbox.push(Outgoing { split, ..frame(4 << 20, may_drop) });
            let Some(Next::Message(outgoing)) = outbox.take() else { panic!("it is lost") };
            assert_eq!(outgoing.into_frames().len(), 4096);
        }
        assert_eq!(outbox.lost.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_client_that_does_not_fetch_its_answers_is_given_up() {
        let outbox = Outbox { most: 100, ..Outbox::default() };
        outbox.push(frame(1000, false));
        assert_eq!(lengths(&outbox), [1000]);
        outbox.push(frame(60, false));
        outbox.push(frame(60, false));
        assert!(matches!(outbox.take(), Some(Next::Overflow)));
    }
}
