//! The way from a device's services and topics to the connection's task.

use std::time::Duration;

use futures::channel::{mpsc, oneshot};

use crate::CallId;
use crate::player::client::{Client, Refusal};
use crate::player::wire::common::Pose2d;
use crate::player::wire::{Ask, Device, Note, Xdr};

/// Takes the outcome of a request.
pub(super) type Respond = Box<dyn FnOnce(Result<Vec<u8>, Refusal>) + Send>;

/// Sends a request with this id.
pub(super) type SendRequest = Box<dyn FnOnce(&mut Client, Duration, CallId) + Send>;

/// What the connection's task is to do.
pub(super) enum Order {
    /// Drive a base.
    Velocity(Device, Pose2d),
    /// Send a command.
    Command(Box<dyn FnOnce(&mut Client) + Send>),
    /// Send a request.
    Call(SendRequest, Respond),
    /// Report a problem.
    Problem(Device, String),
}

/// Why a device does nothing any more.
const REPLACED: &str = "the server has other devices now";

/// Sends orders for a device. Clones share the way.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) device: Device,
}

impl Line {
    fn order(&self, order: Order) -> Result<(), String> {
        // Every clone has one place besides the capacity, so it is cloned only where it stays.
        self.orders.clone().try_send(order).map_err(|error| {
            let reason = if error.is_disconnected() { REPLACED } else { "too many requests wait" };
            reason.to_owned()
        })
    }

    /// Drives a base; refusals are reported.
    pub(super) fn drive(&self, velocity: Pose2d) {
        if let Err(reason) = self.order(Order::Velocity(self.device, velocity)) {
            tracing::debug!(reason, "velocity command dropped");
        }
    }

    /// Reports a problem.
    pub(super) fn problem(&self, reason: impl Into<String>) {
        if let Err(reason) = self.order(Order::Problem(self.device, reason.into())) {
            tracing::debug!(reason, "problem report dropped");
        }
    }

    /// Sends a command.
    pub(super) async fn command<T: Xdr + Send + 'static>(
        &self,
        note: &'static Note<T>,
        command: T,
    ) -> Result<(), String> {
        let (sender, receiver) = oneshot::channel();
        let device = self.device;
        self.order(Order::Command(Box::new(move |client| {
            // The caller may be gone.
            let _ = sender.send(client.handle_command(device, note, &command));
        })))?;
        let sent = receiver.await.map_err(|_| REPLACED.to_owned())?;
        sent.map_err(|refusal| refusal.to_string())
    }

    /// Sends a command of a topic; refusals are reported.
    pub(super) fn tell<T: Xdr + Send + 'static>(&self, note: &'static Note<T>, command: T) {
        let line = self.clone();
        let sent = self.order(Order::Command(Box::new(move |client| {
            if let Err(refusal) = client.handle_command(line.device, note, &command) {
                line.problem(format!("command: {refusal}"));
            }
        })));
        if let Err(reason) = sent {
            tracing::debug!(reason, "command dropped");
        }
    }

    /// Sends a request of a topic; `respond` takes the answer.
    pub(super) fn call<Q, A>(
        &self,
        ask: &'static Ask<Q, A>,
        question: Q,
        respond: impl FnOnce(Result<A, String>) + Send + 'static,
    ) where
        Q: Xdr + Default + Send + 'static,
        A: Xdr + Send + 'static,
    {
        if let Err(reason) = self.request(ask, question, respond) {
            tracing::debug!(reason, "request dropped");
        }
    }

    /// Sends a request; `respond` takes the answer, and is dropped if the devices are replaced before.
    fn request<Q, A>(
        &self,
        ask: &'static Ask<Q, A>,
        question: Q,
        respond: impl FnOnce(Result<A, String>) + Send + 'static,
    ) -> Result<(), String>
    where
        Q: Xdr + Default + Send + 'static,
        A: Xdr + Send + 'static,
    {
        let device = self.device;
        let send = Box::new(move |client: &mut Client, now, id| {
            client.handle_call(now, id, device, ask, &question);
        });
        let respond = Box::new(move |outcome: Result<Vec<u8>, Refusal>| {
            let answer = outcome.and_then(|body| ask.answer(&body).map_err(Refusal::Invalid));
            respond(answer.map_err(|refusal| refusal.to_string()));
        });
        self.order(Order::Call(send, respond))
    }

    /// Sends a request, and waits for the answer.
    pub(super) async fn ask<Q, A>(&self, ask: &'static Ask<Q, A>, question: Q) -> Result<A, String>
    where
        Q: Xdr + Default + Send + 'static,
        A: Xdr + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.request(ask, question, move |answer| {
            // The caller may be gone.
            let _ = sender.send(answer);
        })?;
        receiver.await.unwrap_or_else(|_| Err(REPLACED.to_owned()))
    }
}
