//! `log` from a recorder's services.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_ros::{QosProfile, dragoman_msgs, std_srvs};
use futures::future::FutureExt;
use serde::Deserialize;

use super::driver::{
    Driver, Feed, Opened, OutcomeFuture, Service, Setup, acknowledged, other_interface, qualified_name,
    service_outcome,
};
use crate::BridgeError;
use crate::player::wire::log::{LogKind, Request, State};
use crate::player::wire::{self, Device};

/// Time limit for a playback to end before it starts again, and the pause between two attempts.
const REWIND_LIMIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Entry of a recorder in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogConfig {
    /// Namespace of `start_recording`, `start_playback` and so on.
    recorder: String,
    /// Namespace for the topics of a recording during playback.
    #[serde(default = "default_playback")]
    playback: String,
    /// Topics to record; NAME/ stands for all topics in this namespace. Empty: all topics.
    #[serde(default)]
    topics: Vec<String>,
}

fn default_playback() -> String {
    "/playback".to_owned()
}

struct Log {
    config: LogConfig,
    /// The name of the next file; empty: date and time.
    name: String,
    recording: Flag,
    playing: Flag,
    services: Arc<Services>,
}

struct Services {
    start_recording: Service<dragoman_msgs::srv::StartRecording::Service>,
    stop_recording: Service<std_srvs::srv::Trigger::Service>,
    start_playback: Service<dragoman_msgs::srv::StartPlayback::Service>,
    stop_playback: Service<std_srvs::srv::Trigger::Service>,
}

/// Whether the recorder records or plays, as last reported.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, value: bool) {
        self.0.store(value, Ordering::Relaxed);
    }
}

pub(super) fn open(
    config: &LogConfig,
    device: Device,
    setup: &Setup,
    _feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let name = |name: &str| qualified_name(&config.recorder, name);
    let services = Services {
        start_recording: Service::new(&mut tasks, &name("start_recording"))?,
        stop_recording: Service::new(&mut tasks, &name("stop_recording"))?,
        start_playback: Service::new(&mut tasks, &name("start_playback"))?,
        stop_playback: Service::new(&mut tasks, &name("stop_playback"))?,
    };
    let (recording, playing) = (Flag::default(), Flag::default());
    let latched = QosProfile::default().keep_last(1).transient_local();
    let known = recording.clone();
    let status = move |status: dragoman_msgs::msg::RecordingStatus| known.set(status.recording);
    tasks.subscribe(&name("recording_status"), latched.clone(), status)?;
    let known = playing.clone();
    let status = move |status: dragoman_msgs::msg::PlaybackStatus| known.set(status.playing);
    tasks.subscribe(&name("playback_status"), latched, status)?;
    let (config, services) = (config.clone(), Arc::new(services));
    let log = Log { config, name: String::new(), recording, playing, services };
    Ok(Opened::new(log, tasks)?)
}

impl Log {
    fn record(&self, begins: bool) -> OutcomeFuture {
        let recording = self.recording.clone();
        if !begins {
            return self.services.stop_recording.ask(
                std_srvs::srv::Trigger::Request::default(),
                move |response| {
                    recording.set(recording.is_set() && !response.success);
                    service_outcome(response.success, response.message)
                },
            );
        }
        let request = dragoman_msgs::srv::StartRecording::Request {
            topics: self.config.topics.clone(),
            exclude: Vec::new(),
            name: self.name.clone(),
        };
        self.services.start_recording.ask(request, move |response| {
            recording.set(recording.is_set() || response.success);
            service_outcome(response.success, response.message)
        })
    }

    /// Returns a function that starts the playback with each call.
    fn play(&self) -> impl Fn() -> OutcomeFuture + Send + use<> {
        let (services, playing) = (Arc::clone(&self.services), self.playing.clone());
        let request = dragoman_msgs::srv::StartPlayback::Request {
            name: self.name.clone(),
            topics: self.config.topics.clone(),
            prefix: self.config.playback.clone(),
            rate: 1.0,
        };
        move || {
            let playing = playing.clone();
            services.start_playback.ask(request.clone(), move |response| {
                playing.set(playing.is_set() || response.success);
                service_outcome(response.success, response.message)
            })
        }
    }

    fn stop_playing(&self) -> OutcomeFuture {
        let playing = self.playing.clone();
        self.services.stop_playback.ask(std_srvs::srv::Trigger::Request::default(), move |response| {
            playing.set(playing.is_set() && !response.success);
            service_outcome(response.success, response.message)
        })
    }

    /// Restarts the playback from the beginning, if it is playing.
    fn rewind(&self) -> OutcomeFuture {
        let (stop, play) = (self.stop_playing(), self.play());
        async move {
            if let Err(reason) = stop.await {
                tracing::debug!(reason, "playback ended before it was rewound");
            }
            // The recorder answers before the playback has ended, and plays one recording at a time.
            let limit = dragoman_time::now() + REWIND_LIMIT;
            loop {
                let played = play().await;
                if played.is_ok() || dragoman_time::now() > limit {
                    return played;
                }
                dragoman_time::sleep(PAUSE).await;
            }
        }
        .boxed()
    }
}

/// The name of a file without folder and suffix, because the recorder uses its own folder and suffix.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".log").unwrap_or(name).to_owned()
}

impl Driver for Log {
    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Log(request) = request else { return other_interface() };
        Ok(match request {
            Request::SetWriteState(true) if self.playing.is_set() => return Err("it is playing".to_owned()),
            Request::SetWriteState(begins) => self.record(begins),
            Request::SetReadState(true) if self.recording.is_set() => {
                return Err("it is recording".to_owned());
            }
            Request::SetReadState(true) => self.play()(),
            Request::SetReadState(false) => self.stop_playing(),
            Request::Rewind if self.playing.is_set() => self.rewind(),
            // A playback begins at the start of its file.
            Request::Rewind => acknowledged(&()),
            Request::GetState => {
                let playing = self.playing.is_set();
                let kind = if playing { LogKind::Read } else { LogKind::Write };
                acknowledged(&State { kind, enabled: playing || self.recording.is_set() })
            }
            Request::SetFileName(name) => {
                if self.recording.is_set() || self.playing.is_set() {
                    return Err("it is recording or playing".to_owned());
                }
                self.name = stem(&name);
                acknowledged(&())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_has_the_name_that_the_client_gives() {
        for (path, name) in
            [("/var/log/drive.log", "drive"), ("C:\\drive", "drive"), ("run.1", "run.1"), ("", "")]
        {
            assert_eq!(super::stem(path), name);
        }
    }
}
