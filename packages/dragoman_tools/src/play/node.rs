//! Services that play the recordings of a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dragoman_ros::dragoman_msgs::msg::PlaybackStatus;
use dragoman_ros::dragoman_msgs::srv::StartPlayback;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Clock, ClockType, Context, QosProfile};
use dragoman_time::{Work, off_thread};
use futures::FutureExt;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{PlayOptions, Session, rate};
use crate::record::node::{file_name, patterns};

/// Adds services `start_playback` and `stop_playback`, and topic `playback_status`, to a node.
pub(crate) fn serve(
    tasks: &mut NodeTasks,
    context: &Context,
    folder: &Path,
) -> Result<(), dragoman_ros::tasks::NodeError> {
    let latched = QosProfile::default().keep_last(1).transient_local();
    let state = Arc::new(Mutex::new(Playback {
        stop: None,
        last: PlaybackStatus::default(),
        status: tasks.node().create_publisher("playback_status", latched)?.into(),
        clock: Clock::create(ClockType::RosTime)?,
    }));
    state.lock().publish();
    let (starting, context, folder) = (Arc::clone(&state), context.clone(), folder.to_owned());
    tasks.serve_later::<StartPlayback::Service, _>("start_playback", move |request| {
        let started = start(Arc::clone(&starting), context.clone(), folder.clone(), request);
        started.map(|started| match started {
            Ok(path) => StartPlayback::Response {
                success: true,
                message: String::new(),
                path: path.display().to_string(),
            },
            Err(message) => {
                tracing::info!(reason = message, "playback refused");
                StartPlayback::Response { success: false, message, path: String::new() }
            }
        })
    })?;
    tasks.serve::<Trigger::Service>("stop_playback", move |_request| match state.lock().stop.take() {
        Some(stop) => {
            // Otherwise the playback has just ended.
            let _ = stop.send(());
            Trigger::Response { success: true, message: String::new() }
        }
        None => Trigger::Response { success: false, message: "nothing is being played".to_owned() },
    })?;
    Ok(())
}

struct Playback {
    /// Ends the playback that runs.
    stop: Option<oneshot::Sender<()>>,
    /// As published last.
    last: PlaybackStatus,
    status: SharedPublisher<PlaybackStatus>,
    clock: Clock,
}

impl Playback {
    fn publish(&mut self) {
        self.last.header.stamp = Clock::to_builtin_time(&self.clock.get_now().unwrap_or_default());
        if let Err(error) = self.status.publish(&self.last) {
            tracing::warn!(%error, "publishing the state of the playback failed");
        }
    }
}

async fn start(
    state: Arc<Mutex<Playback>>,
    context: Context,
    folder: PathBuf,
    request: StartPlayback::Request,
) -> Result<PathBuf, String> {
    let options = options(&folder, &request)?;
    let path = options.file.clone();
    let before = {
        let mut state = state.lock();
        if state.last.playing {
            return Err(format!("{} is being played", state.last.path));
        }
        let path = path.display().to_string();
        let status = PlaybackStatus { playing: true, path, ..PlaybackStatus::default() };
        std::mem::replace(&mut state.last, status)
    };
    // Long files take a while.
    let opened = off_thread(Work::READ, move |_| Session::open(options)).await;
    let opened = opened.map_err(|error| error.to_string());
    let opened = opened.and_then(|opened| opened.map_err(|error| error.to_string()));
    let session = opened.inspect_err(|_| state.lock().last = before)?;
    let (stop, stopped) = oneshot::channel();
    {
        let mut state = state.lock();
        state.stop = Some(stop);
        state.publish();
    }
    dragoman_time::spawn(async move {
        let ended = session.run(context, stopped.map(drop)).await;
        let mut state = state.lock();
        state.stop = None;
        state.last.playing = false;
        match ended {
            Ok(played) => {
                tracing::info!(file = state.last.path, "playback finished: {played}");
                state.last.messages = played.messages;
            }
            Err(error) => {
                tracing::error!(%error, "playback failed");
                state.last.error = error.to_string();
            }
        }
        state.publish();
    });
    Ok(path)
}

fn options(folder: &Path, request: &StartPlayback::Request) -> Result<PlayOptions, String> {
    let rate = if request.rate == 0.0 { 1.0 } else { rate(&request.rate.to_string())? };
    if request.name.is_empty() {
        return Err("the name of the recording is missing".to_owned());
    }
    let file = folder.join(file_name(&request.name)?);
    let topics = patterns(&request.topics)?;
    let folder = Some(folder.to_owned());
    Ok(PlayOptions { topics, prefix: request.prefix.clone(), rate, folder, ..PlayOptions::new(file) })
}
