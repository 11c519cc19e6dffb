//! Notes about attributes and children that the import does not read: each kind is named once, with a suggestion.

use std::collections::{BTreeMap, BTreeSet};

use dragoman_text::{excerpt, nearest};
use dragoman_urdf::xml::Element;

use super::importer::Importer;
use super::scene::is_known;
use super::shapes::is_part;

/// Maximum number of kinds that are named.
const MAX_KINDS: usize = 50;

/// Attributes of every element that is placed.
const OF_ALL: [&str; 6] = ["name", "id", "linkTo", "linkToTcp", "intersectable", "type"];
/// Children of every element that is placed.
const IN_ALL: [&str; 3] = ["position", "orientation", "colour"];

/// Attributes and children of an element, besides those of all. Some have no meaning here, but are in the files of Apolo.
fn known(name: &str) -> Option<[&'static [&'static str]; 2]> {
    Some(match name {
        "FaceSetPart" => [&[], &["face"]],
        "face" => [&[], &["vertex"]],
        "PrismaticPart" => [&["height"], &["face", "vertex"]],
        "CylindricalPart" => [&["height", "radius"], &[]],
        "SpherePart" => [&["radius"], &[]],
        "MeshPart" => [&["stl_file"], &["vertex", "TMEdge", "TMTriangle"]],
        "TMTriangle" => [&[], &["vertex_face", "vertex_normal"]],
        "colour" => [&["r", "g", "b"], &[]],
        "ComposedEntity" => [&[], &[]],
        "Pioneer3ATSim" | "PatrolbotSim" | "WheeledBaseSim" => [&["odometryNoise"], &["odometry"]],
        "LMS100Sim" | "LMS200Sim" => [&[], &[]],
        "UltrasonicSensor" => [&["conusAngle", "minRange", "maxRange", "error"], &[]],
        "LandMark" => [&["mark_id"], &[]],
        "WorldInfo" => [&["name"], &["RegisterNumber"]],
        "RegisterNumber" => [&["number"], &[]],
        "position" | "orientation" | "vertex" | "vertex_face" => [&[], &[]],
        _ => return None,
    })
}

/// Elements of a world that can have all of [`OF_ALL`] and [`IN_ALL`].
fn is_placed(name: &str) -> bool {
    is_known(name) || name == "face"
}

/// Kinds of parts that are not read: their first line, their number, and the end of the sentence.
type Found = BTreeMap<String, (usize, usize, String)>;

fn add(found: &mut Found, line: usize, part: String, given: &str, known: &[&str]) {
    let hint = nearest(given, known.iter().copied());
    let hint = hint.map(|name| format!("; did you mean '{name}'?")).unwrap_or_default();
    found.entry(part).or_insert((line, 0, hint)).1 += 1;
}

impl Importer<'_> {
    /// Adds notes about what these elements have and the import does not read, and about what is malformed.
    pub(super) fn look_for_unknown(&mut self, elements: &[&Element]) {
        let mut found = Found::new();
        for element in elements {
            self.look_into(element, &mut found);
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(_, (line, ..))| *line);
        for (part, (line, count, hint)) in found.into_iter().take(MAX_KINDS) {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            self.note(line, format!("{part}{times} is not read here: left out{hint}"));
        }
    }

    fn look_into(&mut self, element: &Element, found: &mut Found) {
        let name = element.name.as_str();
        // Unknown elements of a world, and of bodies, have notes of their own.
        let Some([mut attributes, mut children]) = known(name).map(|lists| lists.map(<[_]>::to_vec)) else {
            return;
        };
        if let Some(reason) = &element.malformed {
            self.note(element.line, format!("an attribute of <{name}> is left out: {reason}"));
        }
        if is_placed(name) {
            attributes.extend(OF_ALL);
            children.extend(IN_ALL);
        }
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (attribute, value) in &element.attributes {
            if seen.contains(attribute.as_str()) {
                self.note(element.line, format!("a second '{}' of <{name}> is left out", excerpt(attribute)));
            } else if !attributes.contains(&attribute.as_str()) {
                add(
                    found,
                    element.line,
                    format!("'{}' of <{name}>", excerpt(attribute)),
                    attribute,
                    &attributes,
                );
            } else if name == "colour" && value.trim().parse::<f64>().is_err() {
                self.note(
                    element.line,
                    format!("{attribute}={value:?} of <colour> is not a number: 1 instead"),
                );
            }
            seen.insert(attribute);
        }
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for child in &element.children {
            let is_part_of_body = name == "ComposedEntity" && !IN_ALL.contains(&child.name.as_str());
            if is_part_of_body {
                // A child that is not a part has a note of its parent.
                if !is_part(&child.name) {
                    continue;
                }
            } else if !children.contains(&child.name.as_str()) {
                add(
                    found,
                    child.line,
                    format!("<{}> in <{name}>", excerpt(&child.name)),
                    &child.name,
                    &children,
                );
            } else if IN_ALL.contains(&child.name.as_str()) {
                if seen.contains(child.name.as_str()) {
                    self.note(child.line, format!("a second <{}> in <{name}> is left out", child.name));
                }
                seen.insert(&child.name);
            }
            self.look_into(child, found);
        }
    }
}
