use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Room {
    name: String,
    #[serde(default)]
    walls: Vec<Wall>,
    #[serde(default)]
    numbers: BTreeMap<String, f64>,
    door: Option<Door>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wall {
    length: f64,
    #[serde(default)]
    height: f64,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Door {
    Open,
    Closed,
    Locked { key: u8 },
}

fn room(text: &str) -> Result<(Room, Vec<String>), String> {
    let (room, notes) = lenient::<Room>(text).map_err(|error| error.to_string())?;
    Ok((room, notes.iter().map(Note::to_string).collect()))
}

#[test]
fn unknown_keys_are_left_out_with_a_note() {
    let text = "name: hall\nauthor: {name: me}\nwalls:\n- length: 1\n  # a comment\n  paint: blue\n- {length: 2, 7: x}\n\
                numbers: {any: 1, name: 2}\n";
    let (room, notes) = room(text).unwrap();
    assert_eq!((room.name.as_str(), room.walls.len(), room.numbers.len()), ("hall", 2, 2));
    assert_eq!(
        notes,
        [
            "line 2: the unknown key 'author' is left out",
            "line 6: walls[0]: the unknown key 'paint' is left out",
            "line 7: walls[1]: the unknown key '7' is left out",
        ]
    );
    let many: String = (0..30).map(|number| format!("further_{number}: 1\n")).collect();
    let (_, notes) = self::room(&format!("name: hall\n{many}")).unwrap();
    assert_eq!((notes.len(), notes[20].as_str()), (21, "line 21: 10 more unknown keys are left out"));
}

#[test]
fn errors_have_line_key_and_a_suggestion() {
    for (text, expected) in [
        ("name: hall\nwals: []\n", "line 2, column 1: the unknown key 'wals'; did you mean 'walls'?"),
        (
            "name: hall\nwalls:\n- lenght: 1\n",
            "line 3, column 3: walls[0]: the unknown key 'lenght'; did you mean 'length'?",
        ),
        ("walls: []\n", "line 1, column 1: missing field `name`"),
        (
            "title: hall\n",
            "line 1, column 1: missing field `name`; line 1: the unknown key 'title' is left out",
        ),
        (
            "name: a\nwalls:\n- <<: {length: 1}\n",
            "line 3, column 3: walls[0]: the key '<<' is not supported: write the values out",
        ),
        ("name: a\r\nname: b\r\n", "line 2, column 1: the key 'name' is given twice"),
        (
            "name: a\nwalls:\n- length: long\n",
            "line 3, column 11: walls[0].length: invalid type: string \"long\", expected f64",
        ),
        (
            "name: a\ndoor: opne\n",
            "line 2, column 7: door: unknown variant `opne`, expected one of `open`, `closed`, `locked`; did you mean 'open'?",
        ),
        (
            "name: a\ndoor: !locked {kye: 1}\n",
            "line 2, column 16: door: the unknown key 'kye'; did you mean 'key'?",
        ),
    ] {
        assert_eq!(room(text), Err(expected.to_owned()), "{text}");
    }
    let error = room("name: a\n\tdoor: open\n").unwrap_err();
    assert!(error.starts_with("line 2, "), "{error}");
    assert!(room("").is_err() && room("[").is_err() && room("- a").is_err());
    assert_eq!(
        room("\u{feff}name: a\r\ndoor: closed\r\n").unwrap().0.door,
        Some(Door::Closed),
        "a mark of the byte order"
    );
}

#[test]
fn strict_documents_have_known_keys_only() {
    let refused = |text: &str| strict::<Room>(text).unwrap_err().to_string();
    assert_eq!(
        refused("name: a\nauthor: me\n"),
        "line 2, column 1: the unknown key 'author'; known: name, walls, numbers, door"
    );
    assert!(refused("name: a\nwals: []\n").ends_with("did you mean 'walls'?"));
    assert!(strict::<Room>("name: a\n").is_ok());
}

#[test]
fn elements_have_lines_and_paths_of_their_own() {
    let of = |text: &str, index| {
        let read = lenient_element::<Room>(text, "rooms", index, &["id", "nam"]);
        read.map_err(|error| error.to_string())
    };
    let text = "a: 1\nrooms:\n- id: 1\n  name: b\n- name: c\n  nam: d\n  author: me\n  walls:\n  - {length: 1, by: me}\nb: []\n";
    let (room, notes) = of(text, 0).unwrap();
    assert_eq!((room.name.as_str(), notes), ("b", Vec::new()));
    let (room, notes) = of(text, 1).unwrap();
    assert_eq!(room.name, "c");
    assert_eq!(
        notes.iter().map(Note::to_string).collect::<Vec<_>>(),
        [
            "line 7: the unknown key 'author' is left out",
            "line 9: walls[0]: the unknown key 'by' is left out"
        ]
    );
    let refused = |text: &str, index| of(text, index).unwrap_err();
    assert_eq!(
        refused(&text.replace("author", "wals"), 1),
        "line 7, column 3: the unknown key 'wals'; did you mean 'walls'?"
    );
    assert_eq!(
        refused(&text.replace("length: 1", "length: x"), 1),
        "line 9, column 14: walls[0].length: invalid type: string \"x\", expected f64"
    );
    assert_eq!(refused(text, 2), "there is no rooms[2]");
    assert_eq!(refused("a: 1\n", 0), "there is no rooms[0]");
}

#[test]
fn a_section_has_lines() {
    let of = |text: &str| section::<Room>(text, "room").map_err(|error| error.to_string());
    assert_eq!(of("a: 1\n"), Ok(None));
    assert_eq!(of("a: {b: 1}\nroom: {name: x}\n").unwrap().unwrap().name, "x");
    assert_eq!(
        of("a: 1\nroom:\n  nme: x\n"),
        Err("line 3, column 3: room: the unknown key 'nme'; did you mean 'name'?".to_owned())
    );
    assert!(strict_part::<Room>(&serde_norway::from_str("{name: a, author: me}").unwrap()).is_err());
}

#[test]
fn keys_have_lines() {
    let text = "a:\n  b: 1\n  c:\n    d: [1,\n 2]\n    e: 3\nb: 2\n";
    for (keys, line) in [
        (&["a"][..], Some(1)),
        (&["a", "b"], Some(2)),
        (&["a", "c", "e"], Some(6)),
        (&["b"], Some(7)),
        (&["b", "c"], None),
        (&["x"], None),
        (&[], None),
    ] {
        assert_eq!(line_of(text, keys), line, "{keys:?}");
    }
    assert_eq!(line_of("[", &["a"]), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), key in "[a-z]{1,8}", other in "[a-z: {}\\[\\],\n-]{0,60}") {
        for text in [&text, &other, &format!("name: a\n{key}: {other}\n")] {
            let read = lenient::<Room>(text);
            // Both agree, except about unknown keys.
            match strict::<Room>(text) {
                Ok(room) => prop_assert_eq!(read, Ok((room, Vec::new()))),
                Err(_) => prop_assert!(read.is_err() || !read.unwrap().1.is_empty()),
            }
            let _ = line_of(text, &[key.as_str()]);
            let _ = lenient_element::<Wall>(text, &key, 0, &["height"]);
        }
    }
}
