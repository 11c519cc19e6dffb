//! `dragoman bridge` with the descriptions of machines that speak text, or stream their state, each against its own section
//! `serve`.

mod cola_a;
mod nmea0183;
mod ur_dashboard;
mod ur_realtime;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab};
use crate::device::Device;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};

/// A simulated machine, its bridge, and a node beside it.
struct Described {
    name: &'static str,
    device: Device,
    beside: Beside,
    _lab: Lab,
    _folder: Folder,
}

impl Described {
    /// On a serial line, or at the TCP port of its description.
    fn start(name: &'static str, text: &str, line: Option<&str>) -> Self {
        let folder = Folder::new();
        let file = folder.write(&format!("{name}.yaml"), text);
        let pty = line.map(|line| ["--pty", line]);
        let options: Vec<&str> = ["machine", &file].into_iter().chain(pty.into_iter().flatten()).collect();
        let device = Device::start_at(line.unwrap_or("tcp"), &options);
        let lab = Lab::start_with(0, &["bridge", &file, "--link", line.unwrap_or("127.0.0.1")], &[]);
        let beside = Beside::new(lab.domain);
        Self { name, device, beside, _lab: lab, _folder: folder }
    }

    fn topic(&self, name: &str) -> String {
        format!("/{}/{name}", self.name)
    }

    fn send(&self, command: &str) {
        self.device.send(command);
    }

    fn call(&mut self, name: &str) -> (bool, String) {
        let name = self.topic(name);
        let answer = self.beside.call::<Trigger::Service>(&name, Trigger::Request::default());
        (answer.success, answer.message)
    }

    fn switch(&mut self, name: &str, data: bool) -> (bool, String) {
        let name = self.topic(name);
        let answer = self.beside.call::<SetBool::Service>(&name, SetBool::Request { data });
        (answer.success, answer.message)
    }

    /// The text of the next diagnostics for which `fits` holds.
    fn diagnosed(&mut self, fits: impl Fn(&str) -> bool) -> String {
        let mut all = self.beside.subscribe::<DiagnosticArray>("/diagnostics");
        let name = self.name;
        let is_ours = |array: &DiagnosticArray| {
            array.status.iter().any(|status| status.name.contains(name) && fits(&status.message))
        };
        let array = self.beside.find("diagnostics", &mut all, is_ours);
        array.status[0].message.clone()
    }
}
