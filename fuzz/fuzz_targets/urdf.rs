//! Any robot description.
//!
//! Checked: no panic; notes are in the order of their lines; what was read has the joints that it names, and is the same
//! after its origins were written again.

#![no_main]

use std::collections::BTreeMap;

use dragoman_urdf::{About, Description, decode, with_origins};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (text, _) = decode(input);
    let Ok(description) = Description::parse(&text) else { return };
    for note in &description.notes {
        if let About::Joint(name) = &note.about {
            assert!(description.robot.joints.iter().any(|joint| joint.name == *name));
        }
    }
    assert!(description.notes.is_sorted_by_key(|note| note.line));
    let joints = description.robot.joints.iter();
    let origins: BTreeMap<_, _> = joints.map(|joint| (joint.name.clone(), joint.origin.clone())).collect();
    let again = Description::parse(&with_origins(&text, &origins).unwrap()).unwrap();
    for (joint, before) in again.robot.joints.iter().zip(&description.robot.joints) {
        assert_eq!(
            (&joint.name, joint.origin.xyz, joint.origin.rpy),
            (&before.name, before.origin.xyz, before.origin.rpy)
        );
    }
});
