//! `opaque`: bytes between topics and clients.

use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::{QosProfile, builtin_interfaces, std_msgs};
use serde::Deserialize;

use super::driver::{Driver, Feed, Opened, OutcomeFuture, Setup, other_interface};
use crate::BridgeError;
use crate::player::wire::{Bytes, Command, Device, MessageKind, Request, opaque};

/// Entry in the device table of a device whose bytes only its programs understand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpaqueConfig {
    /// Topic with `std_msgs/UInt8MultiArray`: data for clients.
    data: String,
    /// Topic for `std_msgs/UInt8MultiArray`: commands of clients.
    command: String,
}

struct Opaque {
    command: SharedPublisher<std_msgs::msg::UInt8MultiArray>,
}

pub(super) fn open(
    config: &OpaqueConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let command = tasks.node().create_publisher(&config.command, QosProfile::default())?.into();
    tasks.subscribe(&config.data, QosProfile::default(), move |array: std_msgs::msg::UInt8MultiArray| {
        let now = builtin_interfaces::msg::Time::default();
        feed.send(&opaque::STATE, &now, &Bytes(array.data));
    })?;
    Ok(Opened::new(Opaque { command }, tasks)?)
}

impl Driver for Opaque {
    fn handle_command(&mut self, command: Command) -> Result<(), String> {
        let Command::Opaque(opaque::Command::Command(Bytes(data))) = command else {
            return other_interface();
        };
        let array = std_msgs::msg::UInt8MultiArray { data, ..Default::default() };
        self.command.publish(&array).map_err(|error| error.to_string())
    }

    fn handle_request(&mut self, _request: Request) -> Result<OutcomeFuture, String> {
        Err("topics have no answers".to_owned())
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![opaque::REQUEST.id()]
    }
}
