//! `position2d`: odometry, velocities, and the services of every base.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, SetOdometry};
use dragoman_ros::geometry_msgs::msg::{Pose2D, Twist, Vector3};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::shared::{Switch, listened};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Publisher, QosProfile, Result as RosResult, poses, velocity};

use super::devices_node::{DeviceSetup, DeviceTopics};
use super::messages::{planar, report};
use super::scene::Scene;
use crate::player::wire::common::Pose2d;
use crate::player::wire::{Data, position2d};

struct Base {
    odom: Publisher<Odometry>,
    /// Prefix of its frames.
    frames: String,
    is_stalled: bool,
}

pub(super) fn new(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    serve_base(setup)?;
    let handle = setup.handle.clone();
    let drive = move |twist: Twist| {
        handle.drive(Pose2d { x: twist.linear.x, y: twist.linear.y, yaw: twist.angular.z });
    };
    let newest = QosProfile::default().keep_last(1);
    velocity::subscribe(
        setup.tasks,
        &setup.parameters.cmd_vel,
        &setup.names.topic("cmd_vel"),
        newest,
        drive,
    )?;
    let frames = match setup.info.device.index {
        0 => String::new(),
        _ => format!("{}/", setup.names.frame),
    };
    Ok(Box::new(Base { odom: setup.publisher("odom")?, frames, is_stalled: false }))
}

fn serve_base(setup: &mut DeviceSetup<'_>) -> RosResult<()> {
    setup.serve::<GetGeometry::Service, _>("get_geometry", |handle, _| async move {
        let position2d::Geometry { pose, size } = handle.ask(&position2d::GET_GEOMETRY, ()).await?;
        Ok(GetGeometry::Response {
            success: true,
            pose: Pose2D { x: pose.position.x, y: pose.position.y, theta: pose.orientation.yaw },
            size: Vector3 { x: size.length, y: size.width, z: size.height },
            ..Default::default()
        })
    })?;
    // Player's data does not show whether a client has switched the motors.
    let motors = Switch::new(setup.tasks.node(), &setup.names.topic("motors_on"))?;
    setup.serve::<SetBool::Service, _>("set_motor_power", move |handle, request| {
        let motors = motors.clone();
        async move {
            // Most drivers keep the last velocity while the motors are off.
            handle.drive(Pose2d::default());
            handle.ask(&position2d::MOTOR_POWER, request.data).await?;
            motors.show(request.data);
            Ok(SetBool::Response { success: true, ..Default::default() })
        }
    })?;
    // As in Player's client libraries, because not all drivers support the reset request.
    setup.serve::<Trigger::Service, _>("reset_odometry", |handle, _| async move {
        handle.ask(&position2d::SET_ODOMETRY, Pose2d::default()).await?;
        Ok(Trigger::Response { success: true, ..Default::default() })
    })?;
    setup.serve::<SetOdometry::Service, _>("set_odometry", |handle, request| async move {
        let pose = Pose2d { x: request.pose.x, y: request.pose.y, yaw: request.pose.theta };
        planar(&pose).ok_or("the pose is not finite")?;
        handle.ask(&position2d::SET_ODOMETRY, pose).await?;
        Ok(SetOdometry::Response { success: true, ..Default::default() })
    })
}

impl DeviceTopics for Base {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Position2d(position2d::Data::State(state)) = data else { return Ok(()) };
        let (Some(place), Some(speed)) = (planar(&state.pose), planar(&state.velocity)) else {
            return Err("odometry that is not finite".to_owned());
        };
        scene.place_base(stamp, &self.frames, place);
        if listened(&self.odom) {
            let frame = |name: &str| format!("{}{name}", self.frames);
            let mut message = Odometry {
                header: scene.header(stamp, &frame("odom")),
                child_frame_id: scene.frame(&frame("base_footprint")),
                ..Default::default()
            };
            message.pose.pose = poses::pose(&place);
            let twist = &mut message.twist.twist;
            (twist.linear.x, twist.linear.y, twist.angular.z) = (speed.x, speed.y, speed.heading);
            report(self.odom.publish(&message), "odom");
        }
        let was_stalled = std::mem::replace(&mut self.is_stalled, state.stalled);
        if state.stalled && !was_stalled { Err("the base is stalled".to_owned()) } else { Ok(()) }
    }
}
