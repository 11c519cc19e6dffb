//! The parameters, and loading the worlds.

use std::path::Path;

use dragoman_ros::parameters::{Declaration, Parameters, Range};

use super::control::Loader;
use super::{WorldNodeError, frames};
use crate::{SCENES, Worlds};

/// Encodings of depth images.
const METRES: &str = "32FC1";
pub(super) const GREY: &str = "mono8";

/// The parameters of the node; `world_file` and `planners` are the defaults of the parameters with these names.
pub fn declarations(world_file: &str, planners: &[String]) -> Vec<Declaration> {
    let declared = [
        Declaration::new(
            "world_file",
            world_file,
            "YAML file of the worlds, or a scene: lab, laboratory, corridor; empty: lab.",
        ),
        Declaration::new(
            "planners",
            planners.to_vec(),
            "Arms of the world whose planners get the bodies around them, as ARM=NAMESPACE, the namespace of the arm's nodes: \
             topic world_scene there. Arms that the world does not have get none.",
        ),
        Declaration::new("seed", -1, "Seed of all noise; -1: that of each world's file.")
            .within(Range::Integer { from: -1, to: u32::MAX.into() }),
        Declaration::new(
            "as_original",
            true,
            "Whether Apolo's services measure odometry, landmarks and ultrasonic ranges as the original Apolo.",
        ),
        Declaration::new("rate", 20.0, "Maximum rate of publishing changes, Hz.")
            .within(Range::Double { from: 0.1, to: 200.0 }),
        Declaration::new(
            "real_time_factor",
            1.0,
            "Speed of the worlds' time relative to real time; 0: paused, advanced by service advance.",
        )
        .within(Range::Double { from: 0.0, to: 100.0 }),
        Declaration::new(
            "as_fast_as_possible",
            false,
            "Run the worlds' time as fast as possible, with /clock; real_time_factor is ignored.",
        ),
        Declaration::new(
            "depth_encoding",
            METRES,
            "Encoding of the depth images of all cameras, depth/image: 32FC1, m, NaN where nothing was measured; or \
             mono8, the grey values of the TurtleBot thesis: 255 at the minimum range, 0 at the maximum and where \
             nothing was measured.",
        )
        .within(Range::OneOf(&[METRES, GREY])),
        Declaration::new(
            "publish_clock",
            false,
            "Publish the worlds' time on /clock, and stamp all messages with it.",
        ),
        Declaration::new(
            "command_timeout",
            0.6,
            "A velocity expires when it is not repeated for this long, s.",
        )
        .within(Range::Double { from: 0.01, to: 60.0 }),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
}

/// Loads the worlds; again as they were, whenever it is called. Files used by the world file are searched in its folder.
pub(super) fn loader(values: &Parameters) -> Result<Loader, WorldNodeError> {
    let path: String = values.value("world_file");
    let seed = u64::try_from(values.value::<i64>("seed")).ok();
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
    let as_original = values.value("as_original");
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
