//! A node whose services start and stop recordings, and play them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dragoman_ros::dragoman_msgs::msg::RecordingStatus;
use dragoman_ros::dragoman_msgs::srv::StartRecording;
use dragoman_ros::parameters;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Clock, ClockType, Context, Node, QosProfile};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::file::Progress;
use super::selection::Pattern;
use super::{RecordOptions, Session, default_name, nanoseconds_now};

/// How often the state is published while it records.
const PERIOD: Duration = Duration::from_secs(1);
/// Time limit for closing the file when the process ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a file's name without its suffix, bytes.
const MAX_NAME_LEN: usize = 200;

parameters! {
    /// The parameters of the node.
    pub struct RecorderParameters {
        /// Folder for the files, relative to that in which the program was started; it is made when it is needed.
        folder: String = "recordings";
    }
}

/// A running recorder.
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Recorder {
    pub node: RunningNode,
    /// Ends the recording, and resolves when its file is complete.
    pub stop: BoxFuture<'static, ()>,
}

/// Starts node `recorder` in a namespace: services `start_recording`, `stop_recording`, `start_playback` and
/// `stop_playback`, topics `recording_status` and `playback_status`.
///
/// # Errors
/// A wrong parameter; an error of the middleware.
pub fn start(context: &Context, namespace: &str) -> Result<Recorder, dragoman_ros::tasks::NodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "recorder", namespace)?);
    let parameters = tasks.declare(RecorderParameters::default())?.read();
    let latched = QosProfile::default().keep_last(1).transient_local();
    let status = tasks.node().create_publisher("recording_status", latched)?.into();
    let (sessions, orders) = mpsc::channel(1);
    let folder = PathBuf::from(&parameters.folder);
    crate::play::node::serve(&mut tasks, context, &folder)?;
    let state = Arc::new(Mutex::new(Recording {
        folder,
        sessions,
        current: None,
        last: RecordingStatus::default(),
        status,
        clock: Clock::create(ClockType::RosTime)?,
    }));
    state.lock().publish();

    let starting = Arc::clone(&state);
    tasks.serve::<StartRecording::Service>("start_recording", move |request| {
        let mut state = starting.lock();
        match state.start(&request) {
            Ok(path) => {
                state.publish();
                let path = path.display().to_string();
                StartRecording::Response { success: true, message: String::new(), path }
            }
            Err(message) => {
                tracing::info!(reason = message, "recording refused");
                StartRecording::Response { success: false, message, path: String::new() }
            }
        }
    })?;
    let stopping = Arc::clone(&state);
    tasks.serve_later::<Trigger::Service, _>("stop_recording", move |_request| {
        let ended = stopping.lock().stop();
        let stopping = Arc::clone(&stopping);
        async move {
            let Some(ended) = ended else {
                let message = "nothing is being recorded".to_owned();
                return Trigger::Response { success: false, message };
            };
            let _ = ended.await;
            let RecordingStatus { path, error, .. } = stopping.lock().last.clone();
            let success = error.is_empty();
            Trigger::Response { success, message: if success { path } else { error } }
        }
    })?;
    let shown = Arc::clone(&state);
    tasks.every(PERIOD, move || {
        let mut state = shown.lock();
        if state.current.is_some() {
            state.publish();
        }
    })?;
    tasks.spawn(record(context.clone(), orders, Arc::clone(&state)));
    let last = Arc::clone(&state);
    let stop = async move {
        let ended = last.lock().stop();
        if let Some(ended) = ended
            && dragoman_time::timeout(CLOSE_TIMEOUT, ended).await.is_err()
        {
            tracing::warn!("closing the recording timed out");
        }
    };
    Ok(Recorder { node: tasks.start()?, stop: stop.boxed() })
}

/// What the services and the recording share.
struct Recording {
    folder: PathBuf,
    /// To the task that records.
    sessions: mpsc::Sender<(Session, oneshot::Receiver<()>, oneshot::Sender<()>)>,
    current: Option<Current>,
    /// As published last.
    last: RecordingStatus,
    status: SharedPublisher<RecordingStatus>,
    clock: Clock,
}

/// The recording that runs.
struct Current {
    started: Instant,
    progress: Arc<Progress>,
    dropped: Arc<AtomicU64>,
    /// Ends it; `None`: it is ending.
    stop: Option<oneshot::Sender<()>>,
    /// Resolves at its end.
    ended: Option<oneshot::Receiver<()>>,
}

impl Recording {
    fn start(&mut self, request: &StartRecording::Request) -> Result<PathBuf, String> {
        if self.current.is_some() {
            return Err(format!("{} is being recorded", self.last.path));
        }
        let (topics, exclude) = (patterns(&request.topics)?, patterns(&request.exclude)?);
        let path = self.folder.join(file_name(&request.name)?);
        std::fs::create_dir_all(dragoman_time::on_disk(&self.folder))
            .map_err(|error| format!("cannot make folder {}: {error}", self.folder.display()))?;
        let options =
            RecordOptions { output: Some(path.clone()), topics, exclude, ..RecordOptions::default() };
        let session = Session::create(options).map_err(|error| error.to_string())?;
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let current = Current {
            started: dragoman_time::now(),
            progress: session.recording.progress(),
            dropped: Arc::clone(&session.dropped),
            stop: Some(stop),
            ended: Some(ended),
        };
        let busy = |_| "the recorder is busy".to_owned();
        self.sessions.try_send((session, stopped, end)).map_err(busy)?;
        self.current = Some(current);
        self.last = RecordingStatus { path: path.display().to_string(), ..RecordingStatus::default() };
        Ok(path)
    }

    /// Begins to end the recording; `None`: there is none, or it is ending.
    fn stop(&mut self) -> Option<oneshot::Receiver<()>> {
        let current = self.current.as_mut()?;
        current.stop.take()?;
        current.ended.take()
    }

    fn end(&mut self, error: String) {
        self.measure();
        self.current = None;
        self.last.error = error;
        self.publish();
    }

    fn publish(&mut self) {
        self.measure();
        self.last.header.stamp = Clock::to_builtin_time(&self.clock.get_now().unwrap_or_default());
        self.last.recording = self.current.is_some();
        if let Err(error) = self.status.publish(&self.last) {
            tracing::warn!(%error, "publishing the recorder's state failed");
        }
    }

    /// Takes over the figures of the recording that runs.
    fn measure(&mut self) {
        if let Some(current) = &self.current {
            self.last.bytes = current.progress.bytes.load(Ordering::Relaxed);
            self.last.topics = current.progress.topics.load(Ordering::Relaxed);
            self.last.messages = current.progress.messages.load(Ordering::Relaxed);
            self.last.dropped = current.dropped.load(Ordering::Relaxed);
            self.last.duration = dragoman_time::since(current.started).as_secs_f64();
        }
    }
}

/// Records, one session after the other.
async fn record(
    context: Context,
    mut sessions: mpsc::Receiver<(Session, oneshot::Receiver<()>, oneshot::Sender<()>)>,
    state: Arc<Mutex<Recording>>,
) {
    while let Some((session, stopped, end)) = sessions.recv().await {
        let outcome = session.run(context.clone(), stopped.map(drop)).await;
        let error = match outcome {
            Ok(summary) => {
                tracing::info!("recording finished: {}", summary.in_short());
                String::new()
            }
            Err(error) => {
                tracing::error!(%error, "recording failed");
                error.to_string()
            }
        };
        state.lock().end(error);
        let _ = end.send(());
    }
}

pub(crate) fn patterns(texts: &[String]) -> Result<Vec<Pattern>, String> {
    texts.iter().map(|text| text.parse().map_err(|error| format!("{error}"))).collect()
}

/// The file for a name: inside of the folder, and of this format.
pub(crate) fn file_name(name: &str) -> Result<PathBuf, String> {
    if name.is_empty() {
        return Ok(default_name(nanoseconds_now()).into());
    }
    let stem = name.strip_suffix(".mcap").unwrap_or(name);
    let is_plain = !stem.starts_with('.')
        && stem.len() <= MAX_NAME_LEN
        && !stem.chars().any(|letter| letter.is_control() || "/\\:".contains(letter))
        && Path::new(stem).file_name().is_some_and(|plain| plain == stem);
    if !is_plain {
        return Err(format!("'{}' is no name of a file without folder", name.escape_debug()));
    }
    Ok(format!("{stem}.mcap").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lead_out_of_the_folder() {
        assert_eq!(file_name("drive").unwrap(), Path::new("drive.mcap"));
        assert_eq!(file_name("drive 1.mcap").unwrap(), Path::new("drive 1.mcap"));
        assert!(file_name("").unwrap().to_str().unwrap().starts_with("dragoman_"));
        for wrong in
            ["..", "../x", "/etc/x", "a/b", ".hidden", "a\\b", "c:x", "a\nb", ".mcap", &"x".repeat(300)]
        {
            assert!(file_name(wrong).is_err(), "{wrong}");
        }
    }
}
