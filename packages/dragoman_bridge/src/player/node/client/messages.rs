//! Values of the protocol as ROS messages.

use dragoman_geometry::Pose;
use dragoman_ros::geometry_msgs::msg::{PoseWithCovariance, Quaternion, Vector3};
use dragoman_ros::sensor_msgs::msg::{BatteryState, Image, Imu};
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::{QosProfile, Result, poses};

use crate::player::wire::camera::{self, Format};
use crate::player::wire::common::{Orientation3d, Pose2d};
use crate::player::wire::imu::{Calibrated, Vector};
use crate::player::wire::power::{self, Charging};

/// Quality of service of messages that late subscribers get as well.
pub(super) fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

/// Logs a publishing error.
pub(super) fn report(result: Result<()>, topic: &str) {
    if let Err(error) = result {
        tracing::warn!(%error, topic, "publishing failed");
    }
}

/// Roll, pitch and yaw about fixed axes as a quaternion.
pub(super) fn rotation(angles: &Orientation3d) -> Quaternion {
    let (sin_roll, cos_roll) = (angles.roll / 2.0).sin_cos();
    let (sin_pitch, cos_pitch) = (angles.pitch / 2.0).sin_cos();
    let (sin_yaw, cos_yaw) = (angles.yaw / 2.0).sin_cos();
    Quaternion {
        x: sin_roll * cos_pitch * cos_yaw - cos_roll * sin_pitch * sin_yaw,
        y: cos_roll * sin_pitch * cos_yaw + sin_roll * cos_pitch * sin_yaw,
        z: cos_roll * cos_pitch * sin_yaw - sin_roll * sin_pitch * cos_yaw,
        w: cos_roll * cos_pitch * cos_yaw + sin_roll * sin_pitch * sin_yaw,
    }
}

/// A pose on the plane; `None` if a number is not finite.
pub(super) fn planar(pose: &Pose2d) -> Option<Pose> {
    let pose = Pose::new(pose.x, pose.y, pose.yaw);
    pose.is_finite().then_some(pose)
}

/// Places of x, y and yaw in a covariance of six dimensions, for Player's order xx, yy, yaw-yaw, xy, y-yaw, x-yaw.
const COVARIANCE: [[usize; 2]; 6] = [[0, 0], [7, 7], [35, 35], [1, 6], [11, 31], [5, 30]];

/// A pose on the plane and its covariance.
pub(super) fn pose_with_covariance(mean: Pose, covariance: &[f64; 6]) -> PoseWithCovariance {
    let mut message = PoseWithCovariance { pose: poses::pose(&mean), covariance: vec![0.0; 36] };
    for (value, places) in covariance.iter().zip(COVARIANCE) {
        for place in places {
            if let Some(cell) = message.covariance.get_mut(place) {
                *cell = *value;
            }
        }
    }
    message
}

/// Player's six numbers of a covariance.
pub(super) fn covariance(message: &PoseWithCovariance) -> [f64; 6] {
    COVARIANCE.map(|[place, _]| message.covariance.get(place).copied().unwrap_or_default())
}

/// Unknown values are NaN.
pub(super) fn battery(header: Header, state: &power::State) -> BatteryState {
    let known = |bit: u32, value: f32| if state.valid & bit != 0 { value } else { f32::NAN };
    let volts = known(power::VOLTS, state.volts);
    let charging = (state.valid & power::CHARGING != 0).then_some(state.charging);
    BatteryState {
        header,
        voltage: volts,
        temperature: f32::NAN,
        // Watts are negative when energy is used, as the current in ROS.
        current: known(power::WATTS, state.watts) / volts,
        charge: f32::NAN,
        capacity: f32::NAN,
        design_capacity: f32::NAN,
        percentage: known(power::PERCENT, state.percent) / 100.0,
        power_supply_status: match charging {
            Some(Charging::Receiving) => BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8,
            Some(Charging::Providing) => BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8,
            Some(Charging::Idle) => BatteryState::POWER_SUPPLY_STATUS_NOT_CHARGING as u8,
            _ => BatteryState::POWER_SUPPLY_STATUS_UNKNOWN as u8,
        },
        present: true,
        ..Default::default()
    }
}

/// The first element of a covariance whose values are not measured.
const UNKNOWN: f64 = -1.0;

/// A message of an inertial sensor; `None` is marked as unknown.
pub(super) fn imu(
    header: Header,
    orientation: Option<Quaternion>,
    angular_velocity: Option<Vector3>,
    linear_acceleration: Option<Vector3>,
) -> Imu {
    let covariance = |is_known: bool| {
        let mut covariance = vec![0.0; 9];
        if let (false, Some(first)) = (is_known, covariance.first_mut()) {
            *first = UNKNOWN;
        }
        covariance
    };
    Imu {
        header,
        orientation_covariance: covariance(orientation.is_some()),
        angular_velocity_covariance: covariance(angular_velocity.is_some()),
        linear_acceleration_covariance: covariance(linear_acceleration.is_some()),
        orientation: orientation.unwrap_or(Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 }),
        angular_velocity: angular_velocity.unwrap_or_default(),
        linear_acceleration: linear_acceleration.unwrap_or_default(),
    }
}

pub(super) fn vector(vector: &Vector) -> Vector3 {
    Vector3 { x: vector.x.into(), y: vector.y.into(), z: vector.z.into() }
}

/// A message with the measurements of an inertial sensor, with this orientation.
pub(super) fn measured(header: Header, measured: &Calibrated, orientation: Option<Quaternion>) -> Imu {
    let (turn, acceleration) = (vector(&measured.angular_velocity), vector(&measured.acceleration));
    imu(header, orientation, Some(turn), Some(acceleration))
}

/// An uncompressed picture.
///
/// # Errors
/// The format is unknown, or the number of bytes does not fit the size.
pub(super) fn image(header: Header, image: &camera::Image) -> std::result::Result<Image, String> {
    let (encoding, bytes) = match (image.format, image.bits) {
        (Format::Mono8, _) => ("mono8", 1),
        (Format::Mono16, _) => ("mono16", 2),
        (Format::Rgb888, 32) => ("rgba8", 4),
        (Format::Rgb888, _) => ("rgb8", 3),
        (Format::Rgb565, _) => ("rgb8", 2),
        (Format::Other(code), _) => return Err(format!("pictures of unknown format {code}")),
    };
    let (width, height) = (image.width, image.height);
    let needed = u64::from(width) * u64::from(height) * bytes;
    let len = image.data.0.len();
    if len as u64 != needed || needed == 0 {
        return Err(format!("a picture of {width} x {height} in {len} bytes; {needed} are needed"));
    }
    let data = match image.format {
        // Five, six and five bits.
        Format::Rgb565 => image
            .data
            .0
            .as_chunks()
            .0
            .iter()
            .flat_map(|bytes| {
                let pixel = u16::from_be_bytes(*bytes);
                let scale = |value: u16, most: u16| (value * 255 / most).to_le_bytes()[0];
                [scale(pixel >> 11, 31), scale(pixel >> 5 & 63, 63), scale(pixel & 31, 31)]
            })
            .collect(),
        _ => image.data.0.clone(),
    };
    let step = u32::try_from(data.len() as u64 / u64::from(height)).unwrap_or_default();
    // Pixels of two bytes are in network order.
    let is_bigendian = u8::from(image.format == Format::Mono16);
    Ok(Image { header, height, width, encoding: encoding.to_owned(), is_bigendian, step, data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::wire::Bytes;

    #[test]
    fn angles_are_rotations_about_fixed_axes() {
        let of = |roll, pitch, yaw| {
            let Quaternion { x, y, z, w } = rotation(&Orientation3d { roll, pitch, yaw });
            [x, y, z, w]
        };
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!(near(of(0.0, 0.0, quarter), [0.0, 0.0, half, half]));
        assert!(near(of(quarter, 0.0, 0.0), [half, 0.0, 0.0, half]));
        assert!(near(of(quarter, 0.0, quarter), [0.5, 0.5, 0.5, 0.5]));
    }

    #[test]
    fn covariances_are_symmetric_and_come_back() {
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let message = pose_with_covariance(Pose::new(1.0, 2.0, 0.0), &numbers);
        for row in 0..6 {
            for column in 0..6 {
                assert_eq!(message.covariance[row * 6 + column], message.covariance[column * 6 + row]);
            }
        }
        assert_eq!(covariance(&message), numbers);
        assert_eq!(covariance(&PoseWithCovariance::default()), [0.0; 6]);
    }

    #[test]
    fn a_picture_has_the_bytes_of_its_size() {
        let picture = |format, bits, bytes: &[u8]| camera::Image {
            width: 2,
            height: 1,
            bits,
            format,
            data: Bytes(bytes.to_vec()),
            ..Default::default()
        };
        let shown = image(Header::default(), &picture(Format::Rgb888, 24, &[1; 6])).unwrap();
        assert_eq!((shown.step, shown.encoding.as_str()), (6, "rgb8"));
        let shown = image(Header::default(), &picture(Format::Rgb565, 16, &[0xf8, 0, 0, 0x1f])).unwrap();
        assert_eq!(shown.data, [255, 0, 0, 0, 0, 255]);
        assert!(image(Header::default(), &picture(Format::Rgb888, 24, &[1; 5])).is_err());
        assert!(image(Header::default(), &picture(Format::Other(9), 24, &[1; 6])).is_err());
        let endless = camera::Image { width: u32::MAX, height: u32::MAX, ..Default::default() };
        assert!(image(Header::default(), &endless).is_err());
    }
}
