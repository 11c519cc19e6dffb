//! Text as the startup files of a platform, and as a recorded motion with a platform that replays it. Checked:
//! no panic, what is parsed prints as the same, poses and velocities are finite, a replay ends.

#![no_main]

use std::time::Duration;

use dragoman_geometry::{Pose, Twist};
use dragoman_platform::replay::{Player, Recording, Replayed};
use dragoman_platform::settings::Settings;
use dragoman_platform::startup::{SavedNames, StartPosition};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let names = SavedNames::parse(text);
    assert_eq!(SavedNames::parse(&names.to_string()), names);
    if let Ok(start) = StartPosition::parse(text) {
        assert!(start.0.is_finite());
        assert_eq!(StartPosition::parse(&start.to_string()), Ok(start));
    }
    let Ok(recording) = Recording::read(text) else { return };
    assert_eq!(Recording::read(&recording.to_string()), Ok(recording.clone()));
    let Some(mut pose) = recording.samples().first().map(|sample| sample.pose) else { return };
    let mut player = Player::new(recording, pose).expect("it begins here");
    let settings = Settings::default();
    let step = Duration::from_millis(100);
    for _ in 0..1000 {
        match player.cycle(pose, Twist::ZERO, step, &settings) {
            Replayed::Moving(twist) => {
                assert!(twist.is_finite());
                let (sin, cos) = pose.heading.sin_cos();
                let way = twist.linear * step.as_secs_f64();
                pose = Pose::new(
                    pose.x + cos * way,
                    pose.y + sin * way,
                    pose.heading + twist.angular * step.as_secs_f64(),
                );
            }
            _ => return,
        }
    }
});
