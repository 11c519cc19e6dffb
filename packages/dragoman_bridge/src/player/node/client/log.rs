//! `log`: recording to a file of the server, and playing it back, as the services of a recorder.

use dragoman_ros::Result as RosResult;
use dragoman_ros::dragoman_msgs::srv::{StartPlayback, StartRecording};
use dragoman_ros::std_srvs::srv::Trigger;

use super::device_handle::DeviceHandle;
use super::devices_node::{DeviceSetup, DeviceTopics, NoTopics};
use crate::player::wire::RequestMessage;
use crate::player::wire::log::{REWIND, SET_FILE_NAME, SET_READ_STATE, SET_WRITE_STATE};

/// Maximum length of the name of a file, bytes.
const MAX_NAME: usize = 255;

pub(super) fn log(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    setup.serve::<StartRecording::Service, _>("start_recording", |handle, request| async move {
        if !(request.topics.is_empty() && request.exclude.is_empty()) {
            return Err("the server records the devices of its configuration".to_owned());
        }
        name(&handle, &request.name).await?;
        handle.ask(&SET_WRITE_STATE, true).await?;
        Ok(StartRecording::Response { success: true, path: request.name, ..Default::default() })
    })?;
    setup.serve::<StartPlayback::Service, _>("start_playback", |handle, request| async move {
        // In Player the recorded data appears on the recording's own devices and their topics.
        let is_whole = request.topics.is_empty() && request.prefix.is_empty();
        if !is_whole || ![0.0, 1.0].contains(&request.rate) {
            return Err("the server plays all devices of its configuration at their rate".to_owned());
        }
        name(&handle, &request.name).await?;
        // A recorder plays a file from the beginning.
        handle.ask(&REWIND, ()).await?;
        handle.ask(&SET_READ_STATE, true).await?;
        Ok(StartPlayback::Response { success: true, path: request.name, ..Default::default() })
    })?;
    serve_end(setup, "stop_recording", &SET_WRITE_STATE)?;
    serve_end(setup, "stop_playback", &SET_READ_STATE)?;
    Ok(Box::new(NoTopics))
}

/// Sets the file's name; an empty name keeps the server's one.
async fn name(handle: &DeviceHandle, name: &str) -> Result<(), String> {
    match name.len() {
        0 => Ok(()),
        1..=MAX_NAME => handle.ask(&SET_FILE_NAME, name.to_owned()).await,
        len => Err(format!("a name of {len} bytes; the maximum are {MAX_NAME}")),
    }
}

fn serve_end(
    setup: &mut DeviceSetup<'_>,
    name: &str,
    message: &'static RequestMessage<bool, ()>,
) -> RosResult<()> {
    setup.serve::<Trigger::Service, _>(name, move |handle, _| async move {
        handle.ask(message, false).await?;
        Ok(Trigger::Response { success: true, ..Default::default() })
    })
}
