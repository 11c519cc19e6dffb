//! Requests to the server itself, of interface `player`: the list of devices, subscriptions, modes.

use std::time::Duration;

use super::{Call, ClientId, Offered, Opening, PLAYER, Queued, Server, ServerEvent, config};
use crate::player::wire::player::{
    AUTHENTICATE, CLOSE, DENIED, Driver, NameService, OPEN, Request, Subscription,
};
use crate::player::wire::{Address, BodyError, Device, Header, MessageKind, Xdr};

impl Server {
    /// Carries out a request to the server itself.
    pub(super) fn handle_server_request(
        &mut self,
        now: Duration,
        client: ClientId,
        header: &Header,
        body: &[u8],
    ) {
        let answered = match Request::read(header.subtype, body) {
            // As in the original, which has no keys.
            Err(_) | Ok(Request::Authenticate(_))
                if is_authentication(header) && self.config.key.is_none() =>
            {
                Err("the server asks for no key".to_owned())
            }
            Err(BodyError::Unknown { subtype }) => Err(format!("the server has no request {subtype}")),
            Err(BodyError::Malformed { error, .. }) => Err(error.to_string()),
            Ok(Request::Subscribe(asked)) => {
                return self.handle_subscription(now, client, header, asked.access, &asked.address);
            }
            Ok(Request::Devices) => {
                let addresses = self.devices.keys().map(|device| self.address(client, *device));
                Ok(addresses.collect::<Vec<_>>().to_bytes())
            }
            Ok(Request::Driver(Driver { address, .. })) => match self.devices.get(&address.device) {
                Some(Offered { info, .. }) => {
                    let address = self.address(client, info.device);
                    Ok(Driver { address, name: info.driver.clone() }.to_bytes())
                }
                None => Err(format!("there is no {}", config::name(address.device))),
            },
            Ok(Request::NameService(NameService { name, .. })) => {
                if self.devices.values().any(|offered| offered.info.robot == name) {
                    let port = self.sessions.get(&client).map_or(0, |session| session.address.robot);
                    let port = u16::try_from(port).unwrap_or_default();
                    Ok(NameService { name, port }.to_bytes())
                } else {
                    Err(format!("there is no robot \"{name}\""))
                }
            }
            Ok(own) => match self.sessions.get_mut(&client) {
                Some(session) => session.handle_request(own, self.config.key.as_deref()).map(|()| Vec::new()),
                None => return,
            },
        };
        match answered {
            Ok(body) => self.answer(now, client, header, MessageKind::Acknowledge, &body),
            Err(reason) => self.refuse(now, client, header, reason),
        }
        if let Some(session) = self.sessions.get_mut(&client) {
            session.after_answer(header);
        }
    }

    fn handle_subscription(
        &mut self,
        now: Duration,
        client: ClientId,
        header: &Header,
        access: u8,
        address: &Address,
    ) {
        let device = address.device;
        let Some(offered) = self.devices.get_mut(&device) else {
            return self.answer_subscription(now, client, header, device, Err("it does not exist"));
        };
        match access {
            OPEN => {
                *offered.subscribers.entry(client).or_default() += 1;
                if offered.state == Opening::Open {
                    return self.answer_subscription(now, client, header, device, Ok(OPEN));
                }
                if offered.state == Opening::Closed {
                    offered.state = Opening::Asked;
                    self.calls.push_back(Queued { client: None, len: 0, call: Call::Open(device) });
                }
                if let Some(session) = self.sessions.get_mut(&client) {
                    session.opening.push((*header, device));
                }
            }
            CLOSE if offered.subscribers.contains_key(&client) => {
                self.unsubscribe(client, device, 1);
                self.answer_subscription(now, client, header, device, Ok(CLOSE));
            }
            CLOSE => {
                self.answer_subscription(now, client, header, device, Err("the client has not opened it"));
            }
            _ => {
                self.answer_subscription(now, client, header, device, Err("access is 1 (open) or 2 (close)"))
            }
        }
    }

    /// Answers a subscription with the granted access. As in the original, only a request for a device that does not
    /// exist is refused; any other denial is an acknowledgement.
    pub(super) fn answer_subscription(
        &mut self,
        now: Duration,
        client: ClientId,
        header: &Header,
        device: Device,
        granted: Result<u8, &'static str>,
    ) {
        let driver = self.devices.get(&device).map(|offered| offered.info.driver.clone());
        let kind = if driver.is_some() { MessageKind::Acknowledge } else { MessageKind::Refuse };
        if let Err(reason) = granted {
            self.statistics.refused += 1;
            self.note(ServerEvent::Denied { device, reason });
        }
        let access = granted.unwrap_or(DENIED);
        let address = self.address(client, device);
        let body = Subscription { address, access, driver: driver.unwrap_or_default() }.to_bytes();
        self.answer(now, client, header, kind, &body);
    }

    /// Removes this number of the client's subscriptions.
    pub(super) fn unsubscribe(&mut self, client: ClientId, device: Device, times: u32) {
        let Some(offered) = self.devices.get_mut(&device) else { return };
        if let Some(count) = offered.subscribers.get_mut(&client) {
            *count = count.saturating_sub(times);
            if *count > 0 {
                return;
            }
            offered.subscribers.remove(&client);
        }
        let commanded = offered.commander == Some(client);
        if commanded {
            offered.commander = None;
        }
        if offered.subscribers.is_empty() {
            let was = std::mem::replace(&mut offered.state, Opening::Closed);
            if was != Opening::Closed {
                self.calls.push_back(Queued { client: None, len: 0, call: Call::Close(device) });
            }
        } else if commanded {
            self.calls.push_back(Queued { client: None, len: 0, call: Call::Release(device) });
        }
    }
}

/// Whether the request has a client's key.
pub(super) fn is_authentication(header: &Header) -> bool {
    header.kind == MessageKind::Request
        && header.address.device.interface == PLAYER.interface
        && header.subtype == AUTHENTICATE.subtype
}
