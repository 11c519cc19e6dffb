//! The parameters, and loading the worlds.

use std::path::Path;
use std::time::Duration;

use dragoman_ros::parameters;

use super::control::Loader;
use super::{WorldNodeError, frames};
use crate::{SCENES, Worlds};

/// Encodings of depth images.
const METRES: &str = "32FC1";
pub(super) const GREY: &str = "mono8";

parameters! {
    /// The parameters of the node.
    pub struct WorldParameters {
        /// YAML file of the worlds, or a scene: lab, laboratory, corridor; empty: lab.
        world_file: String;
        /// Arms of the world whose planners get the bodies around them, as ARM=NAMESPACE, the namespace of the arm's nodes:
        /// topic world_scene there. Arms that the world does not have get none.
        planners: Vec<String>;
        /// Seed of all noise; -1: that of each world's file.
        seed: i64 = -1, in -1..=u32::MAX.into();
        /// Whether Apolo's services measure odometry, landmarks and ultrasonic ranges as the original Apolo.
        as_original: bool = true;
        /// Maximum rate of publishing changes, Hz.
        rate: f64 = 20.0, in 0.1..=200.0;
        /// Speed of the worlds' time relative to real time; 0: paused, advanced by service advance.
        real_time_factor: f64 = 1.0, in 0.0..=100.0;
        /// Run the worlds' time as fast as possible, with /clock; real_time_factor is ignored.
        as_fast_as_possible: bool;
        /// Encoding of the depth images of all cameras, depth/image: 32FC1, m, NaN where nothing was measured; or
        /// mono8, the grey values of the TurtleBot thesis: 255 at the minimum range, 0 at the maximum and where
        /// nothing was measured.
        depth_encoding: String = METRES, in &[METRES, GREY];
        /// Publish the worlds' time on /clock, and stamp all messages with it.
        publish_clock: bool;
        /// A velocity expires when it is not repeated for this long, s.
        command_timeout: Duration = 0.6, in 0.01..=60.0;
    }
}

/// Loads the worlds; again as they were, whenever it is called. Files used by the world file are searched in its folder.
pub(super) fn loader(parameters: &WorldParameters) -> Result<Loader, WorldNodeError> {
    let path = parameters.world_file.clone();
    let seed = u64::try_from(parameters.seed).ok();
    let is_scene = path.is_empty() || SCENES.iter().any(|(name, _)| *name == path);
    let text = if is_scene {
        String::new()
    } else if !Path::new(&path).exists() {
        let hint = dragoman_text::hint(&path, SCENES.map(|(name, _)| name));
        return Err(WorldNodeError::Unknown { name: path, hint });
    } else {
        let bytes =
            std::fs::read(&path).map_err(|source| WorldNodeError::File { path: path.clone(), source })?;
        let (text, note) = dragoman_text::decode(&bytes);
        if let Some(note) = note {
            tracing::warn!("{path}, {note}");
        }
        text
    };
    let as_original = parameters.as_original;
    Ok(Box::new(move || worlds(&path, &text, seed, as_original)))
}

fn worlds(path: &str, text: &str, seed: Option<u64>, as_original: bool) -> Result<Worlds, WorldNodeError> {
    let path = path.to_owned();
    let loaded = if path.is_empty() {
        Worlds::load_default()
    } else if let Some(scene) = Worlds::scene(&path) {
        scene
    } else {
        let folder = Path::new(&path).parent().unwrap_or(Path::new(""));
        let read = |name: &str| std::fs::read(folder.join(name)).map_err(|error| error.to_string());
        Worlds::from_yaml(text, &read)
    };
    let mut worlds = loaded.map_err(|source| WorldNodeError::World { path: path.clone(), source })?;
    if let Some((frame, things)) = frames::shared(&worlds) {
        return Err(WorldNodeError::Frames { path, frame, things });
    }
    worlds.set_as_original(as_original);
    if let Some(seed) = seed {
        worlds.reseed(seed);
    }
    Ok(worlds)
}
