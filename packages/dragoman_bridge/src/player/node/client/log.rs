//! `log`: recording to a file of the server, and playing it back, as the services of a recorder.

use dragoman_ros::Result as RosResult;
use dragoman_ros::dragoman_msgs::srv::{StartPlayback, StartRecording};
use dragoman_ros::std_srvs::srv::Trigger;

use super::line::Line;
use super::robot::{Outlet, Silent, Site};
use crate::player::wire::Ask;
use crate::player::wire::log::{REWIND, SET_FILE_NAME, SET_READ_STATE, SET_WRITE_STATE};

/// Maximum length of the name of a file, bytes.
const MAX_NAME: usize = 255;

pub(super) fn log(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    site.serve::<StartRecording::Service, _>("start_recording", |line, request| async move {
        if !(request.topics.is_empty() && request.exclude.is_empty()) {
            return Err("the server records the devices of its configuration".to_owned());
        }
        name(&line, &request.name).await?;
        line.ask(&SET_WRITE_STATE, true).await?;
        Ok(StartRecording::Response { success: true, path: request.name, ..Default::default() })
    })?;
    site.serve::<StartPlayback::Service, _>("start_playback", |line, request| async move {
        // As Player has it: its devices have the recorded data, and their topics.
        let is_whole = request.topics.is_empty() && request.prefix.is_empty();
        if !is_whole || ![0.0, 1.0].contains(&request.rate) {
            return Err("the server plays all devices of its configuration at their rate".to_owned());
        }
        name(&line, &request.name).await?;
        // A recorder plays a file from its start.
        line.ask(&REWIND, ()).await?;
        line.ask(&SET_READ_STATE, true).await?;
        Ok(StartPlayback::Response { success: true, path: request.name, ..Default::default() })
    })?;
    serve_end(site, "stop_recording", &SET_WRITE_STATE)?;
    serve_end(site, "stop_playback", &SET_READ_STATE)?;
    Ok(Box::new(Silent))
}

/// Names the file; without a name it stays that of the server.
async fn name(line: &Line, name: &str) -> Result<(), String> {
    match name.len() {
        0 => Ok(()),
        1..=MAX_NAME => line.ask(&SET_FILE_NAME, name.to_owned()).await,
        len => Err(format!("a name of {len} bytes; the maximum are {MAX_NAME}")),
    }
}

fn serve_end(site: &mut Site<'_>, name: &str, ask: &'static Ask<bool, ()>) -> RosResult<()> {
    site.serve::<Trigger::Service, _>(name, move |line, _| async move {
        line.ask(ask, false).await?;
        Ok(Trigger::Response { success: true, ..Default::default() })
    })
}
