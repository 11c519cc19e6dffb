//! Any world of the simulator Apolo.
//!
//! Input: the file; the data after the first zero byte is the content of every mesh file that it names. Checked: no
//! panic; the world file loads, and holds what was counted.

#![no_main]

use dragoman_world::{Worlds, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut halves = input.splitn(2, |byte| *byte == 0);
    let text = halves.next().unwrap_or_default();
    let named = halves.next().unwrap_or_default().to_vec();
    let files = |_: &str| Ok(named.clone());
    let Ok(import) = import::world(text, &files, "") else { return };
    let worlds = Worlds::from_yaml(&import.yaml, &files).unwrap();
    let world = worlds.world(None).unwrap();
    let sensors = world.lasers().count() + world.ultrasonics().count();
    assert_eq!(sensors, import.counts.sensors);
    assert_eq!(world.landmarks().len(), import.counts.landmarks);
    assert_eq!(world.objects().len(), import.counts.bodies + import.counts.robots);
});
