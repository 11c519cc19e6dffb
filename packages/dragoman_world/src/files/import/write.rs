//! Writes a world as YAML.

use std::fmt::Write;

use super::scene::{Robot, Scene, Sensor, SensorKind, WHEEL_RADIUS};
use super::shapes::{Shape, rounded};
use super::values::Placement;
use crate::geometry::Geometry;

pub(super) fn world(scene: &Scene) -> String {
    let mut text =
        "# Imported from a world of the simulator Apolo.\nworlds:\n  - name: World 1\n    seed: 1\n"
            .to_owned();
    if scene.repeated_ids {
        text.push_str("    repeated_landmark_ids: true\n");
    }
    if !scene.bodies.is_empty() {
        text.push_str("    bodies:\n");
    }
    for body in &scene.bodies {
        line(&mut text, format_args!("      - name: {}", quoted(&body.name)));
        placement_lines(&mut text, &body.placement);
        text.push_str("        shapes:\n");
        shapes(&mut text, &body.shapes);
    }
    if !scene.robots.is_empty() {
        text.push_str("    wheeled_robots:\n");
    }
    scene.robots.iter().for_each(|robot| wheeled(&mut text, robot));
    let (ultrasonics, lasers): (Vec<&Sensor>, Vec<&Sensor>) =
        scene.sensors.iter().partition(|sensor| matches!(sensor.kind, SensorKind::Ultrasonic(_)));
    for (title, sensors) in [("lasers", lasers), ("ultrasonics", ultrasonics)] {
        if !sensors.is_empty() {
            line(&mut text, format_args!("    {title}:"));
        }
        sensors.into_iter().for_each(|sensor| self::sensor(&mut text, sensor));
    }
    if !scene.marks.is_empty() {
        text.push_str("    landmarks:\n");
    }
    for mark in &scene.marks {
        let (name, xyz) = (quoted(&mark.name), list(&mark.xyz));
        line(&mut text, format_args!("      - {{ name: {name}, id: {}, xyz: {xyz} }}", mark.id));
    }
    text
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(content);
    text.push('\n');
}

fn placement_lines(text: &mut String, placement: &Placement) {
    line(text, format_args!("        xyz: {}", list(&placement.xyz)));
    if placement.rpy != [0.0; 3] {
        line(text, format_args!("        rpy: {}", list(&placement.rpy)));
    }
}

fn shapes(text: &mut String, shapes: &[Shape]) {
    for shape in shapes {
        let mut parts = vec![geometry(shape)];
        if shape.placement.xyz.map(rounded) != [0.0; 3] {
            parts.push(format!("xyz: {}", list(&shape.placement.xyz)));
        }
        if shape.placement.rpy.map(rounded) != [0.0; 3] {
            parts.push(format!("rpy: {}", list(&shape.placement.rpy)));
        }
        parts.extend(shape.color.map(|color| format!("color: {}", list(&color))));
        line(text, format_args!("          - {{ {} }}", parts.join(", ")));
    }
}

fn geometry(shape: &Shape) -> String {
    match &shape.geometry {
        Geometry::Box { size } => format!("box: {}", list(size)),
        Geometry::Cylinder { radius, length } => {
            format!("cylinder: {{ radius: {}, length: {} }}", rounded(*radius), rounded(*length))
        }
        Geometry::Sphere { radius } => format!("sphere: {{ radius: {} }}", rounded(*radius)),
        Geometry::Extrusion { polygon, height } => {
            let corners: Vec<String> = polygon.iter().map(|corner| list(corner)).collect();
            format!("extrusion: {{ polygon: [{}], height: {} }}", corners.join(", "), rounded(*height))
        }
        Geometry::Mesh { mesh, .. } => match &shape.mesh_file {
            Some(file) => format!("mesh: {{ file: {} }}", quoted(file)),
            None => {
                let corners: Vec<String> = mesh.vertices.iter().map(|corner| list(corner)).collect();
                let triangles: Vec<String> =
                    mesh.indices.iter().map(|[a, b, c]| format!("[{a}, {b}, {c}]")).collect();
                let (corners, triangles) = (corners.join(", "), triangles.join(", "));
                format!("mesh: {{ vertices: [{corners}], triangles: [{triangles}] }}")
            }
        },
    }
}

fn wheeled(text: &mut String, robot: &Robot) {
    let [x, y] = robot.wheels.map(rounded);
    let [distance, heading] = robot.noise.map(rounded);
    line(text, format_args!("      - name: {}", quoted(&robot.name)));
    line(text, format_args!("        xyz: {}", list(&robot.xyz)));
    line(text, format_args!("        yaw: {}", rounded(robot.yaw)));
    line(text, format_args!("        supports: [[{x}, {y}], [{x}, -{y}], [-{x}, {y}], [-{x}, -{y}]]"));
    line(text, format_args!("        wheel_radius: {WHEEL_RADIUS}"));
    line(text, format_args!("        wheel_width: {}", rounded(robot.wheel_width)));
    line(text, format_args!("        odometry_noise: {{ distance: {distance}, heading: {heading} }}"));
    text.push_str("        body:\n");
    shapes(text, &robot.body);
}

fn sensor(text: &mut String, sensor: &Sensor) {
    line(text, format_args!("      - name: {}", quoted(&sensor.name)));
    if let Some(on) = &sensor.on {
        line(text, format_args!("        on: {}", quoted(on)));
    }
    placement_lines(text, &sensor.placement);
    let noise = match &sensor.kind {
        SensorKind::Lms100(noise) => {
            text.push_str("        model: lms100\n");
            noise
        }
        SensorKind::Lms200(noise) => {
            let half = rounded(std::f64::consts::FRAC_PI_2);
            let angles = format!("first_angle: -{half}, last_angle: {half}");
            let scan = format!("{{ beams: 181, {angles}, min_range: 0.0001, max_range: 8 }}");
            line(text, format_args!("        scan: {scan}"));
            noise
        }
        SensorKind::Ultrasonic(figures) => {
            line(text, format_args!("        half_angle: {}", figures.half_angle));
            line(text, format_args!("        min_range: {}", figures.min_range));
            line(text, format_args!("        max_range: {}", figures.max_range));
            return;
        }
    };
    let [distance, angle] = noise.landmark.map(rounded);
    line(text, format_args!("        noise: {}", rounded(noise.laser)));
    line(text, format_args!("        landmark_noise: {{ distance: {distance}, angle: {angle} }}"));
}

fn list(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| rounded(*value).to_string()).collect();
    format!("[{}]", values.join(", "))
}

/// A text as YAML reads it in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' => quoted.push(letter),
            _ => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(letter));
            }
        }
    }
    quoted.push('"');
    quoted
}
