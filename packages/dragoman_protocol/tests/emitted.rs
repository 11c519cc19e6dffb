//! The code generated from a description is that in the files of `emitted/`.

use dragoman_protocol::{Protocol, rust};

const LAMP: &str = "
protocol: lamp
title: lamp's protocol
source: its manual, page 3
about: The first lamp is 0.
link: { udp: 4000 }
order: little
frame:
  cut: { datagram: 12 }
  fields: [{ name: letter, type: 'text[1]', is: code }, { name: data, is: body }]
messages:
  - name: dim
    code: d
    role: start
    service: set_brightness
    meaning: set the brightness
    fields:
      - { name: levels, type: 'f32[2]', unit: cd, meaning: of both lamps }
      - { name: lamp, type: u8, at: 10, meaning: its number }
    answer: echo
  - { name: blow_out, code: b, meaning: switch off, answer: echo }
  - { name: broken, code: x, from: server, meaning: a lamp is broken }
";

#[test]
fn a_lamp_in_rust() {
    let source = rust::requests(&Protocol::read(LAMP).unwrap()).unwrap();
    assert_eq!(source, include_str!("emitted/lamp.rs"), "\n{source}");
}

const BELL: &str = "
protocol: bell
title: bell's protocol
source: its maker
about: A tone is a frequency.
link: { tcp: 4003 }
order: little
frame:
  cut: { size: size, counts: rest }
  fields: [{ name: size, type: u8, is: size }, { name: letter, type: 'text[1]', is: code }, { name: data, is: body }]
messages:
  - name: ring
    code: r
    ros: bell_msgs/srv/Ring
    meaning: ring
    fields: [{ name: house, type: 'text[u8]' }, { name: tones, type: 'f64[u8]', unit: Hz }, { name: place, type: 'f64[3]', unit: m }]
    answer: [{ name: loudness, type: f64 }, { name: place, type: 'f64[3]', unit: m }]
  - name: hush
    code: h
    ros: bell_msgs/srv/Silence
    service: silence
    meaning: be silent
    fields: [{ name: house, type: 'text[u8]' }]
";

#[test]
fn a_bell_and_its_services_in_rust() {
    let protocol = Protocol::read(BELL).unwrap();
    let source = rust::requests(&protocol).unwrap() + &rust::answers(&protocol).unwrap();
    assert_eq!(source, include_str!("emitted/bell.rs"), "\n{source}");
    let source = rust::services(&protocol).unwrap();
    assert_eq!(source, include_str!("emitted/bell_services.rs"), "\n{source}");
}

const LAMPS: &str = "
protocol: lamps
title: lamps
source: RFC 0
link: { tcp: 4001 }
encoding: xdr
frame:
  cut: { size: size, counts: body }
  fields: [{ name: number, type: u32, is: code }, { name: size, type: u32, is: size }, { name: body, is: body }]
interfaces:
  - name: lamp
    code: 5
    meaning: a lamp
    types:
      - { name: color, meaning: color of light, base: u8, codes: { red: { code: 1, meaning: as fire }, blue: 2 } }
      - { name: constants, meaning: numbers, base: u32, codes: { max_level: 9 } }
      - { name: light, meaning: what it gives, fields: [{ name: color, type: u8, codes: color }, { name: levels, type: 'f32[u32]', unit: cd }] }
    messages:
      - { name: light, code: 1, from: server, meaning: its light, fields: [{ name: value, type: light }] }
      - { name: get_name, code: 2, meaning: its name, answer: [{ name: value, type: 'text[u32]' }] }
";

#[test]
fn lamps_in_rust() {
    let source = rust::interfaces(&Protocol::read(LAMPS).unwrap(), &[]).unwrap();
    assert_eq!(source, include_str!("emitted/lamps.rs"), "\n{source}");
}

const SHELF: &str = "
protocol: shelf
title: shelf
source: its plate
link: { tcp: 4002 }
frame:
  cut: { size: size, counts: rest }
  fields: [{ name: size, type: u32, is: size }, { name: number, type: u8, is: code }, { name: data, is: body }]
messages:
  - { name: fetch, code: 1, ros: std_srvs/srv/Empty, meaning: fetch a box, fields: [{ name: value, type: place }] }
  - { name: get_boxes, code: 2, ros: shelf_msgs/srv/GetBoxes, meaning: the boxes, answer: [{ name: value, type: boxes }, { name: end_check, type: i32, value: '-1' }] }
types:
  - { name: side, meaning: side of the shelf, base: u8, codes: { left: { code: 0, text: SIDE_L }, right: { code: 1, text: SIDE_R, meaning: where the sun rises } } }
  - { name: place, meaning: a place, fields: [{ name: side, type: u8, codes: side, strict: true }, { name: height_mm, type: i32, optional: true }] }
  - { name: boxes, meaning: what is there, fields: [{ name: side, type: i32, codes: side }, { name: names, type: 'text[u32]' }, { name: has_top, type: bool }, { name: top, type: f64, when: { has_top: 1 } }] }
";

#[test]
fn a_shelf_in_rust() {
    let protocol = Protocol::read(SHELF).unwrap();
    let source = rust::codes(&protocol) + &rust::telegrams(&protocol, &[], &["boxes"]).unwrap();
    assert_eq!(source, include_str!("emitted/shelf.rs"), "\n{source}");
    let source = rust::body_services(&protocol).unwrap();
    assert_eq!(source, include_str!("emitted/shelf_services.rs"), "\n{source}");
}

#[test]
fn an_unsupported_field_is_refused_with_its_place() {
    for (from, to, reason) in [
        ("f32[2]", "f32[u32]", "dim: levels: f32[u32] has no Rust yet"),
        ("f32[2]", "text[2]", "dim: levels: text[2] has no Rust yet"),
        ("at: 10", "at: 3", "dim: lamp: lies before the end of the field before it"),
    ] {
        let protocol = Protocol::read(&LAMP.replace(from, to)).unwrap();
        assert_eq!(rust::requests(&protocol).unwrap_err().to_string(), reason);
    }
}
