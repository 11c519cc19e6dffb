//! `simulation`: the poses of named objects, as the services of a world.

use dragoman_ros::Result as RosResult;
use dragoman_ros::dragoman_msgs::srv::{GetLocation, Place, PlaceXyz};
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};

use super::arm::serve_command;
use super::device_handle::DeviceHandle;
use super::devices_node::{DeviceSetup, DeviceTopics, NoTopics};
use crate::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d};
use crate::player::wire::simulation::{self, NamedPose2d, NamedPose3d};

pub(super) fn simulation(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    setup.serve::<GetLocation::Service, _>("get_location", |handle, request| async move {
        let Pose3d { position, orientation } = location(&handle, request.object).await?;
        Ok(GetLocation::Response {
            success: true,
            found: true,
            position: Point { x: position.x, y: position.y, z: position.z },
            rpy: Vector3 { x: orientation.roll, y: orientation.pitch, z: orientation.yaw },
            ..Default::default()
        })
    })?;
    setup.serve::<Place::Service, _>("place", |handle, request| async move {
        place(&handle, request.object, &request.position, &request.rpy).await?;
        Ok(Place::Response { success: true, found: true, ..Default::default() })
    })?;
    setup.serve::<PlaceXyz::Service, _>("place_xyz", |handle, request| async move {
        place(&handle, request.object, &request.position, &Vector3::default()).await?;
        Ok(PlaceXyz::Response { success: true, found: true, ..Default::default() })
    })?;
    serve_command(setup, "simulation/pause", &simulation::PAUSE, ())?;
    serve_command(setup, "simulation/reset", &simulation::RESET, ())?;
    serve_command(setup, "simulation/save", &simulation::SAVE, ())?;
    Ok(Box::new(NoTopics))
}

/// The pose of an object; the pose on the plane if the simulator has no other.
async fn location(handle: &DeviceHandle, name: String) -> Result<Pose3d, String> {
    let question = NamedPose3d { name: name.clone(), ..Default::default() };
    if let Ok(answer) = handle.ask(&simulation::GET_POSE3D, question).await {
        return Ok(answer.pose);
    }
    let question = NamedPose2d { name, ..Default::default() };
    Ok(handle.ask(&simulation::GET_POSE2D, question).await?.pose.into())
}

async fn place(handle: &DeviceHandle, name: String, position: &Point, rpy: &Vector3) -> Result<(), String> {
    let numbers = [position.x, position.y, position.z, rpy.x, rpy.y, rpy.z];
    if !numbers.into_iter().all(f64::is_finite) {
        return Err("a value is not finite".to_owned());
    }
    let is_planar = [position.z, rpy.x, rpy.y].into_iter().all(|value| value == 0.0);
    if is_planar {
        let pose = Pose2d { x: position.x, y: position.y, yaw: rpy.z };
        return handle.ask(&simulation::SET_POSE2D, NamedPose2d { name, pose }).await;
    }
    let pose = Pose3d {
        position: Point3d { x: position.x, y: position.y, z: position.z },
        orientation: Orientation3d { roll: rpy.x, pitch: rpy.y, yaw: rpy.z },
    };
    handle.ask(&simulation::SET_POSE3D, NamedPose3d { name, pose, time: 0.0 }).await
}
