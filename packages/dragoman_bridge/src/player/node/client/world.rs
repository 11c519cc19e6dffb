//! `simulation`: the poses of named objects, as the services of a world.

use dragoman_ros::Result as RosResult;
use dragoman_ros::dragoman_msgs::srv::{GetLocation, Place, PlaceXyz};
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};

use super::arm::serve_command;
use super::line::Line;
use super::robot::{Outlet, Silent, Site};
use crate::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d};
use crate::player::wire::simulation::{self, NamedPose2d, NamedPose3d};

pub(super) fn simulation(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    site.serve::<GetLocation::Service, _>("get_location", |line, request| async move {
        let Pose3d { position, orientation } = location(&line, request.object).await?;
        Ok(GetLocation::Response {
            success: true,
            found: true,
            position: Point { x: position.x, y: position.y, z: position.z },
            rpy: Vector3 { x: orientation.roll, y: orientation.pitch, z: orientation.yaw },
            ..Default::default()
        })
    })?;
    site.serve::<Place::Service, _>("place", |line, request| async move {
        place(&line, request.object, &request.position, &request.rpy).await?;
        Ok(Place::Response { success: true, found: true, ..Default::default() })
    })?;
    site.serve::<PlaceXyz::Service, _>("place_xyz", |line, request| async move {
        place(&line, request.object, &request.position, &Vector3::default()).await?;
        Ok(PlaceXyz::Response { success: true, found: true, ..Default::default() })
    })?;
    serve_command(site, "simulation/pause", &simulation::PAUSE, ())?;
    serve_command(site, "simulation/reset", &simulation::RESET, ())?;
    serve_command(site, "simulation/save", &simulation::SAVE, ())?;
    Ok(Box::new(Silent))
}

/// The pose of an object; on the plane, if the simulator knows no other.
async fn location(line: &Line, name: String) -> Result<Pose3d, String> {
    let question = NamedPose3d { name: name.clone(), ..Default::default() };
    if let Ok(answer) = line.ask(&simulation::GET_POSE3D, question).await {
        return Ok(answer.pose);
    }
    let question = NamedPose2d { name, ..Default::default() };
    Ok(line.ask(&simulation::GET_POSE2D, question).await?.pose.into())
}

async fn place(line: &Line, name: String, position: &Point, rpy: &Vector3) -> Result<(), String> {
    let numbers = [position.x, position.y, position.z, rpy.x, rpy.y, rpy.z];
    if !numbers.into_iter().all(f64::is_finite) {
        return Err("a value is not finite".to_owned());
    }
    let is_planar = [position.z, rpy.x, rpy.y].into_iter().all(|value| value == 0.0);
    if is_planar {
        let pose = Pose2d { x: position.x, y: position.y, yaw: rpy.z };
        return line.ask(&simulation::SET_POSE2D, NamedPose2d { name, pose }).await;
    }
    let pose = Pose3d {
        position: Point3d { x: position.x, y: position.y, z: position.z },
        orientation: Orientation3d { roll: rpy.x, pitch: rpy.y, yaw: rpy.z },
    };
    line.ask(&simulation::SET_POSE3D, NamedPose3d { name, pose, time: 0.0 }).await
}
