//! Frames from the bus.

use std::time::Duration;

use canopen_rs::{NmtState, NodeId};
use dragoman_io::can::{BusFault, Received};

use super::super::axis::Stage;
use super::super::cia402;
use super::super::config::DriveKind;
use super::super::fault::Fault;
use super::{Group, GroupState, START_PAUSE};
use crate::canopen::{Emergency, Service};
use crate::simpliq::{self, emergencies};

impl Group {
    /// Handles a frame or fault from the bus.
    pub fn handle_received(&mut self, now: Duration, received: &Received) {
        match received {
            Received::Fault(fault) => self.bus_fault(now, fault),
            Received::Frame(frame) => {
                let service = frame.standard_id().and_then(Service::of);
                let Some((service, node)) = service.and_then(|service| Some((service, service.node()?)))
                else {
                    return;
                };
                if let Some(index) = self.axis_of(node) {
                    self.frame(now, index, service, frame.data());
                }
            }
        }
    }

    pub(super) fn axis_of(&self, node: NodeId) -> Option<usize> {
        self.by_node.get(usize::from(node.raw())).copied().flatten().map(usize::from)
    }

    pub(super) fn frame(&mut self, now: Duration, index: usize, service: Service, data: &[u8]) {
        let (cycle, between) = (self.config.cycle(), self.timing.between_syncs);
        let Self { axes, outbox, .. } = self;
        let Some(axis) = axes.get_mut(index) else { return };
        let mut send = |frame| outbox.push(now, frame);
        let result = match service {
            Service::Tpdo(4, _) => {
                if let Some((counts, status)) = report(axis.config.kind, data) {
                    axis.report(now, counts, status, cycle, between);
                    if let Some(condition) = axis.conversation.awaited().filter(|waited| axis.holds(*waited))
                    {
                        axis.conversation.met(now, condition, &mut send);
                    }
                }
                Ok(())
            }
            Service::Tpdo(2, _) => return self.answer(now, index, data),
            Service::SdoResponse(_) => axis.conversation.sdo_answer(now, data, &mut send),
            Service::Heartbeat(_) => {
                axis.heartbeat = Some(now);
                // A drive that is not operational is detected by its missing reports.
                let starts = data.first() == Some(&(NmtState::Initialising as u8));
                if starts {
                    axis.restarted();
                }
                match axis.stage {
                    Stage::SetUp if starts => Err(Fault::Restarted { node: axis.config.node }),
                    // Commands from before its restart are lost.
                    Stage::SettingUp | Stage::Absent { .. } if starts => {
                        axis.lose(now + START_PAUSE);
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Service::Emergency(_) => return self.emergency(now, index, data),
            _ => Ok(()),
        };
        if let Err(fault) = result {
            self.axis_failed(now, index, fault);
        }
    }

    pub(super) fn answer(&mut self, now: Duration, index: usize, data: &[u8]) {
        let Self { axes, outbox, .. } = self;
        let (Some(axis), Some(answer)) = (axes.get_mut(index), simpliq::DriveAnswer::decode(data)) else {
            return;
        };
        axis.note(now, &answer);
        if axis.asked.is_some_and(|(command, _)| command == answer.command) {
            axis.asked = None;
            axis.unanswered = 0;
        }
        let node = axis.config.node;
        let result = match axis.conversation.answer(now, &answer, |frame| outbox.push(now, frame)) {
            // A set-point was refused: no conversation waits for this answer, but the drive does not follow.
            Ok(false)
                if answer.result.is_err()
                    && matches!(self.state, GroupState::Enabled | GroupState::Enabling) =>
            {
                Err(Fault::Refused { node, answer })
            }
            Ok(_) => Ok(()),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = result {
            self.axis_failed(now, index, fault);
        }
    }

    pub(super) fn emergency(&mut self, now: Duration, index: usize, data: &[u8]) {
        let (Some(axis), Some(emergency)) = (self.axes.get(index), Emergency::decode(data)) else { return };
        let node = axis.config.node;
        self.faults.emergencies.add(now, node, emergency);
        let is_active = matches!(self.state, GroupState::Enabled | GroupState::Enabling);
        if !is_active || emergency.code == 0 || emergencies::is_harmless(&emergency) {
            return;
        }
        let fault = Fault::Emergency { node, emergency };
        let [maker, ..] = emergency.maker;
        match (emergency.code, maker) {
            (emergencies::MAKER_CODE, emergencies::code::QUEUE_LOW) => {}
            (emergencies::MAKER_CODE, emergencies::code::TERMINATED | emergencies::code::QUEUE_FULL) => {
                self.interrupt(now, fault);
            }
            _ => self.stop_for(now, fault),
        }
    }

    pub(super) fn bus_fault(&mut self, now: Duration, fault: &BusFault) {
        self.bus.note(fault);
        match fault {
            BusFault::BusOff | BusFault::Down => {
                self.outbox.clear();
                for axis in &mut self.axes {
                    axis.lose(now);
                }
                let fault = Fault::Bus(fault.clone());
                match self.state {
                    GroupState::Unconfigured | GroupState::Disabled => self.unconfigure(fault),
                    // Nothing can be sent to the drives: they stop by themselves when our heartbeat is missing.
                    _ => {
                        self.record(fault);
                        self.set_state(GroupState::Faulted);
                    }
                }
            }
            BusFault::Passive => self.stop_for(now, Fault::Bus(fault.clone())),
            _ => {}
        }
    }
}

fn report(kind: DriveKind, data: &[u8]) -> Option<(i32, u32)> {
    match kind {
        DriveKind::Cia402 => cia402::report(data),
        _ => {
            let [a, b, c, d, status @ ..] = *<&[u8; 8]>::try_from(data).ok()?;
            Some((i32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(status)))
        }
    }
}
