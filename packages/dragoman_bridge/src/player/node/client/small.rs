//! `power`, `bumper`, `imu`, `camera`, `opaque`.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{Quaternion, Vector3};
use dragoman_ros::sensor_msgs::msg::{BatteryState, CompressedImage, Image, Imu, MagneticField};
use dragoman_ros::shared::listened;
use dragoman_ros::std_msgs::msg::{Header, UInt8MultiArray};
use dragoman_ros::{Publisher, QosProfile, Result as RosResult};

use super::devices_node::{DeviceSetup, DeviceTopics};
use super::messages::{self, report, rotation, vector};
use super::scene::Scene;
use crate::player::wire::bumper::Bumper as BumperPlace;
use crate::player::wire::camera::Compression;
use crate::player::wire::imu::Calibrated;
use crate::player::wire::{Answer, Bytes, Data, bumper, camera, imu, opaque, power};

struct Power(Publisher<BatteryState>);

pub(super) fn power(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    Ok(Box::new(Power(setup.publisher("battery_state")?)))
}

impl DeviceTopics for Power {
    fn show(&mut self, _scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        if let Data::Power(power::Data::State(state)) = data {
            let header = Header { stamp: stamp.clone(), ..Default::default() };
            report(self.0.publish(&messages::battery(header, &state)), "battery_state");
        }
        Ok(())
    }
}

/// Events for the bumpers of an array. Kobuki's event has only a left, a central and a right bumper.
struct Bumpers {
    bumpers: Publisher<UInt8MultiArray>,
    frame: String,
    base: String,
}

pub(super) fn bumper(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let bumpers = Bumpers {
        bumpers: setup.publisher("bumpers")?,
        frame: setup.names.frame.clone(),
        base: format!("{}base_footprint", setup.names.base),
    };
    for fact in &setup.info.facts {
        if let Answer::Bumper(bumper::Answer::GetGeometry(geometry)) = fact {
            bumpers.place(setup.scene, &geometry.bumpers);
        }
    }
    Ok(Box::new(bumpers))
}

impl Bumpers {
    fn place(&self, scene: &mut Scene, bumpers: &[BumperPlace]) {
        for (index, bumper) in bumpers.iter().enumerate() {
            scene.fix(&self.base, &format!("{}_{index}", self.frame), &bumper.pose);
        }
    }
}

impl DeviceTopics for Bumpers {
    fn show(&mut self, scene: &mut Scene, _stamp: &Time, data: Data) -> Result<(), String> {
        match data {
            Data::Bumper(bumper::Data::State(state)) => {
                let message = UInt8MultiArray { data: state.bumpers.0, ..Default::default() };
                report(self.bumpers.publish(&message), "bumpers");
            }
            Data::Bumper(bumper::Data::GeometryChanged(geometry)) => self.place(scene, &geometry.bumpers),
            _ => {}
        }
        Ok(())
    }
}

struct Inertial {
    imu: Publisher<Imu>,
    field: Publisher<MagneticField>,
    frame: String,
}

pub(super) fn imu(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    Ok(Box::new(Inertial {
        imu: setup.publisher("imu/data")?,
        field: setup.publisher("imu/mag")?,
        frame: setup.names.frame.clone(),
    }))
}

impl Inertial {
    fn measured(&self, header: Header, measured: &Calibrated, orientation: Option<Quaternion>) -> Imu {
        let field = MagneticField {
            header: header.clone(),
            magnetic_field: vector(&measured.magnetic_field),
            magnetic_field_covariance: vec![0.0; 9],
        };
        report(self.field.publish(&field), "imu/mag");
        messages::measured(header, measured, orientation)
    }
}

impl DeviceTopics for Inertial {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Imu(data) = data else { return Ok(()) };
        let header = scene.header(stamp, &self.frame);
        let message = match data {
            imu::Data::State(pose) => messages::imu(header, Some(rotation(&pose.orientation)), None, None),
            imu::Data::Calibrated(measured) => self.measured(header, &measured, None),
            imu::Data::Quaternion(data) => {
                let [w, x, y, z] = data.orientation.map(f64::from);
                self.measured(header, &data.calibrated, Some(Quaternion { x, y, z, w }))
            }
            imu::Data::Euler(data) => {
                self.measured(header, &data.calibrated, Some(rotation(&data.orientation)))
            }
            imu::Data::FullState(data) => {
                let turn = &data.velocity.orientation;
                let angular_velocity = Vector3 { x: turn.roll, y: turn.pitch, z: turn.yaw };
                let speed_up = &data.acceleration.position;
                let acceleration = Vector3 { x: speed_up.x, y: speed_up.y, z: speed_up.z };
                let orientation = rotation(&data.pose.orientation);
                messages::imu(header, Some(orientation), Some(angular_velocity), Some(acceleration))
            }
        };
        report(self.imu.publish(&message), "imu/data");
        Ok(())
    }
}

struct Camera {
    raw: Publisher<Image>,
    compressed: Publisher<CompressedImage>,
    frame: String,
}

pub(super) fn camera(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    Ok(Box::new(Camera {
        raw: setup.publisher("image_raw")?,
        compressed: setup.publisher("image_raw/compressed")?,
        frame: setup.names.frame.clone(),
    }))
}

impl DeviceTopics for Camera {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Camera(camera::Data::Image(image)) = data else { return Ok(()) };
        let header = scene.header(stamp, &self.frame);
        match image.compression {
            Compression::Raw if listened(&self.raw) => {
                report(self.raw.publish(&messages::image(header, &image)?), "image_raw");
            }
            Compression::Jpeg if listened(&self.compressed) => {
                let message = CompressedImage { header, format: "jpeg".to_owned(), data: image.data.0 };
                report(self.compressed.publish(&message), "image_raw/compressed");
            }
            Compression::Raw | Compression::Jpeg => {}
            Compression::Other(code) => return Err(format!("pictures of unknown compression {code}")),
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        listened(&self.raw) || listened(&self.compressed)
    }
}

struct Opaque(Publisher<UInt8MultiArray>);

pub(super) fn opaque(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let handle = setup.handle.clone();
    let topic = setup.names.topic("opaque/command");
    setup.tasks.subscribe(&topic, QosProfile::default(), move |array: UInt8MultiArray| {
        handle.send_command(&opaque::COMMAND, Bytes(array.data));
    })?;
    Ok(Box::new(Opaque(setup.publisher("opaque/data")?)))
}

impl DeviceTopics for Opaque {
    fn show(&mut self, _scene: &mut Scene, _stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Opaque(opaque::Data::State(Bytes(data))) = data else { return Ok(()) };
        let message = UInt8MultiArray { data, ..Default::default() };
        report(self.0.publish(&message), "opaque/data");
        Ok(())
    }
}
