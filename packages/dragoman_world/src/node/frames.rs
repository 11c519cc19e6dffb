//! Names of frames.

use std::collections::BTreeMap;

use dragoman_ros::naming;

use crate::World;
use crate::{ObjectKind, Worlds};

/// The frame of a world: `map` for the first, their names for the others.
pub(super) fn world_frame(at: usize, world: &World) -> String {
    if at == 0 { "map".to_owned() } else { naming::token(world.name()) }
}

/// The frame of a body; the prefix of the frames and topics of a robot or a sensor.
pub(super) fn prefix(at: usize, world: &World, name: &str) -> String {
    in_world(at, world, naming::token(name))
}

/// A frame with the prefix of its world, except for the first world.
pub(super) fn in_world(at: usize, world: &World, frame: String) -> String {
    if at == 0 { frame } else { format!("{}/{frame}", world_frame(at, world)) }
}

/// The name of a part, `object/link`, as a frame.
pub(super) fn part_frame(name: &str) -> String {
    name.split('/').map(naming::token).collect::<Vec<_>>().join("/")
}

/// A frame shared by two objects, and their names in the world file.
pub(super) fn shared(worlds: &Worlds) -> Option<(String, [String; 2])> {
    let mut frames = BTreeMap::new();
    for (at, world) in worlds.worlds().iter().enumerate() {
        let of_world = (world_frame(at, world), world.name().to_owned());
        let of_things = world.objects().iter().flat_map(|object| {
            let parts = world.parts().get(object.parts()).unwrap_or_default().iter();
            let links = parts.filter(|_| object.kind() == ObjectKind::Arm);
            let links = links.map(|link| (in_world(at, world, part_frame(&link.name)), link.name.clone()));
            std::iter::once((prefix(at, world, object.name()), object.name().to_owned())).chain(links)
        });
        for (frame, thing) in std::iter::once(of_world).chain(of_things) {
            if let Some(other) = frames.insert(frame.clone(), thing.clone()) {
                return Some((frame, [other, thing]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shared frame in a world file with these bodies.
    fn clash(file: &str) -> Option<(String, [String; 2])> {
        let text = file.replace("SHAPE", "shapes: [{sphere: {radius: 1}}]");
        shared(&Worlds::from_yaml(&text, &|name| Err(format!("no {name}"))).unwrap())
    }

    #[test]
    fn two_things_that_would_share_a_frame_are_found() {
        for (file, frame, things) in [
            ("worlds: [{name: A, bodies: [{name: a-1, SHAPE}, {name: a_1, SHAPE}]}]", "a_1", ["a-1", "a_1"]),
            ("worlds: [{name: A, bodies: [{name: Map, SHAPE}]}]", "map", ["A", "Map"]),
            ("worlds: [{name: A}, {name: b-c}, {name: b_c}]", "b_c", ["b-c", "b_c"]),
            (
                "worlds: [{name: A}, {name: B, bodies: [{name: a-1, SHAPE}, {name: a.1, SHAPE}]}]",
                "b/a_1",
                ["a-1", "a.1"],
            ),
        ] {
            assert_eq!(clash(file), Some((frame.to_owned(), things.map(str::to_owned))), "{file}");
        }
        let apart =
            "worlds: [{name: A, bodies: [{name: a-1, SHAPE}]}, {name: B, bodies: [{name: a_1, SHAPE}]}]";
        assert_eq!(clash(apart), None);
        for (scene, _) in crate::SCENES {
            assert_eq!(shared(&Worlds::scene(scene).unwrap().unwrap()), None, "{scene}");
        }
    }

    #[test]
    fn parts_are_below_their_object() {
        assert_eq!(part_frame("Puma560/fore arm"), "puma560/fore_arm");
    }
}
