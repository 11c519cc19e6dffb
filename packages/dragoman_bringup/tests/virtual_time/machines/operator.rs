//! A machine on a serial line, its bridge, and a node beside it.

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab, sleep, until};
use crate::device::Device;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Publisher, QosProfile};

/// Period of commands.
pub(super) const STEP: Duration = Duration::from_millis(100);

pub(super) struct Operator {
    pub(super) device: Device,
    pub(super) beside: Beside,
    pub(super) lab: Lab,
    name: &'static str,
    velocity: Option<Publisher<Twist>>,
    _folder: Folder,
}

impl Operator {
    /// `name` is that of the protocol, `text` the description; the machine begins with these values.
    pub(super) fn new(name: &'static str, text: &str, values: &[(&str, f64)]) -> Self {
        let (folder, port) = (Folder::new(), format!("/dev/{name}"));
        let file = folder.write(&format!("{name}.yaml"), text);
        let device = Device::start(&port, &["machine", &file]);
        for (value, number) in values {
            device.send(&format!("set {value} {number}"));
        }
        sleep(STEP);
        let lab = Lab::start_with(0, &["bridge", &file, "--link", &port], &[]);
        let beside = Beside::new(lab.domain);
        Self { device, beside, lab, name, velocity: None, _folder: folder }
    }

    /// The name of a topic or service of the machine.
    pub(super) fn topic(&self, name: &str) -> String {
        format!("/{}/{name}", self.name)
    }

    pub(super) fn drive(&mut self, linear: f64, angular: f64) {
        if self.velocity.is_none() {
            let topic = self.topic("cmd_vel");
            let velocity = self.beside.node.create_publisher::<Twist>(&topic, QosProfile::default()).unwrap();
            until("a subscriber", || velocity.get_inter_process_subscription_count().unwrap() > 0);
            self.velocity = Some(velocity);
        }
        let mut twist = Twist::default();
        (twist.linear.x, twist.angular.z) = (linear, angular);
        self.velocity.as_ref().unwrap().publish(&twist).unwrap();
    }

    /// Drives for so long.
    pub(super) fn drive_for(&mut self, seconds: u32, linear: f64, angular: f64) {
        for _ in 0..10 * seconds {
            self.drive(linear, angular);
            sleep(STEP);
        }
    }

    /// A value of the machine.
    #[track_caller]
    pub(super) fn value(&self, name: &str) -> f64 {
        self.device.send(&format!("show {name}"));
        let line = self.device.prints(name);
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Sets a value of the machine, and waits until it is published.
    pub(super) fn set(&self, name: &str, value: f64) {
        self.device.send(&format!("set {name} {value}"));
        sleep(3 * STEP);
    }

    #[track_caller]
    pub(super) fn is_near(&self, name: &str, expected: f64) {
        let value = self.value(name);
        assert!((value - expected).abs() < 2e-3, "{name}: {value}, not {expected}");
    }

    #[track_caller]
    pub(super) fn call(&mut self, name: &str) -> (bool, String) {
        let name = self.topic(name);
        let answer = self.beside.call::<Trigger::Service>(&name, Trigger::Request::default());
        (answer.success, answer.message)
    }

    #[track_caller]
    pub(super) fn switch(&mut self, name: &str, data: bool) -> bool {
        let name = self.topic(name);
        self.beside.call::<SetBool::Service>(&name, SetBool::Request { data }).success
    }

    /// The text of the next diagnostics of the machine for which `fits` holds.
    #[track_caller]
    pub(super) fn diagnosed(&mut self, fits: impl Fn(&str) -> bool) -> String {
        let mut all = self.beside.subscribe::<DiagnosticArray>("/diagnostics");
        let name = self.name;
        let is_ours = |array: &DiagnosticArray| {
            array.status.iter().any(|status| status.name.contains(name) && fits(&status.message))
        };
        let array = self.beside.find("diagnostics", &mut all, is_ours);
        array.status[0].message.clone()
    }
}
