//! Sends requests and commands from a device's services and topics to the connection's task.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use parking_lot::Mutex;

use crate::CallId;
use crate::player::client::{Client, Refusal};
use crate::player::wire::common::Pose2d;
use crate::player::wire::{Device, OneWayMessage, RequestMessage, Xdr};

/// Receives the outcome of a request.
pub(super) type Respond = Box<dyn FnOnce(Result<Vec<u8>, Refusal>) + Send>;

/// Sends a request with this id.
pub(super) type SendRequest = Box<dyn FnOnce(&mut Client, Duration, CallId) + Send>;

/// An order for the connection's task.
pub(super) enum DeviceOrder {
    /// Drive a base.
    Velocity(Device, Pose2d),
    /// Send a command.
    Command(Box<dyn FnOnce(&mut Client) + Send>),
    /// Send a request.
    Call(SendRequest, Respond),
    /// Report a problem.
    Problem(Device, String),
}

/// Reason of refusals after the devices were replaced.
const REPLACED: &str = "the server has other devices now";

/// Sends orders for a device to the connection's task. Clones use the same channel.
#[derive(Clone)]
pub(super) struct DeviceHandle {
    /// Not cloned: each clone of a sender has one more place in the queue.
    pub(super) orders: Arc<Mutex<mpsc::Sender<DeviceOrder>>>,
    pub(super) device: Device,
}

impl DeviceHandle {
    fn order(&self, order: DeviceOrder) -> Result<(), String> {
        self.orders.lock().try_send(order).map_err(|error| {
            let reason = if error.is_disconnected() { REPLACED } else { "too many requests wait" };
            reason.to_owned()
        })
    }

    /// Drives a base; refusals are reported as problems.
    pub(super) fn drive(&self, velocity: Pose2d) {
        if let Err(reason) = self.order(DeviceOrder::Velocity(self.device, velocity)) {
            tracing::debug!(reason, "velocity command dropped");
        }
    }

    /// Reports a problem.
    pub(super) fn problem(&self, reason: impl Into<String>) {
        if let Err(reason) = self.order(DeviceOrder::Problem(self.device, reason.into())) {
            tracing::debug!(reason, "problem report dropped");
        }
    }

    /// Sends a command.
    pub(super) async fn command<T: Xdr + Send + 'static>(
        &self,
        message: &'static OneWayMessage<T>,
        command: T,
    ) -> Result<(), String> {
        let (sender, receiver) = oneshot::channel();
        let device = self.device;
        self.order(DeviceOrder::Command(Box::new(move |client| {
            // Fails if the caller has dropped the receiver.
            let _ = sender.send(client.handle_command(device, message, &command));
        })))?;
        let sent = receiver.await.map_err(|_| REPLACED.to_owned())?;
        sent.map_err(|refusal| refusal.to_string())
    }

    /// Sends a command from a topic; refusals are reported as problems.
    pub(super) fn send_command<T: Xdr + Send + 'static>(
        &self,
        message: &'static OneWayMessage<T>,
        command: T,
    ) {
        let handle = self.clone();
        let sent = self.order(DeviceOrder::Command(Box::new(move |client| {
            if let Err(refusal) = client.handle_command(handle.device, message, &command) {
                handle.problem(format!("command: {refusal}"));
            }
        })));
        if let Err(reason) = sent {
            tracing::debug!(reason, "command dropped");
        }
    }

    /// Sends a request from a topic; `respond` gets the answer.
    pub(super) fn call<Q, A>(
        &self,
        message: &'static RequestMessage<Q, A>,
        question: Q,
        respond: impl FnOnce(Result<A, String>) + Send + 'static,
    ) where
        Q: Xdr + Default + Send + 'static,
        A: Xdr + Send + 'static,
    {
        if let Err(reason) = self.request(message, question, respond) {
            tracing::debug!(reason, "request dropped");
        }
    }

    /// Sends a request; `respond` gets the answer. It is dropped if the devices are replaced before the answer.
    fn request<Q, A>(
        &self,
        message: &'static RequestMessage<Q, A>,
        question: Q,
        respond: impl FnOnce(Result<A, String>) + Send + 'static,
    ) -> Result<(), String>
    where
        Q: Xdr + Default + Send + 'static,
        A: Xdr + Send + 'static,
    {
        let device = self.device;
        let send = Box::new(move |client: &mut Client, now, id| {
            client.handle_call(now, id, device, message, &question);
        });
        let respond = Box::new(move |outcome: Result<Vec<u8>, Refusal>| {
            let answer = outcome.and_then(|body| message.answer(&body).map_err(Refusal::Invalid));
            respond(answer.map_err(|refusal| refusal.to_string()));
        });
        self.order(DeviceOrder::Call(send, respond))
    }

    /// Sends a request, and waits for the answer.
    pub(super) async fn ask<Q, A>(
        &self,
        message: &'static RequestMessage<Q, A>,
        question: Q,
    ) -> Result<A, String>
    where
        Q: Xdr + Default + Send + 'static,
        A: Xdr + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.request(message, question, move |answer| {
            // Fails if the caller has dropped the receiver.
            let _ = sender.send(answer);
        })?;
        receiver.await.unwrap_or_else(|_| Err(REPLACED.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_orders_wait_as_the_queue_holds() {
        let (sender, orders) = mpsc::channel(2);
        let handle =
            DeviceHandle { orders: Arc::new(Mutex::new(sender)), device: Device { interface: 1, index: 0 } };
        let order = || handle.clone().order(DeviceOrder::Problem(handle.device, String::new()));
        // One more than the channel's size: its sender has a place of its own.
        assert_eq!((0..100).filter(|_| order().is_ok()).count(), 3);
        assert_eq!(order(), Err("too many requests wait".to_owned()));
        drop(orders);
        assert_eq!(order(), Err(REPLACED.to_owned()));
    }
}
