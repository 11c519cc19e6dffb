//! The pages of the station. The Cartesian page is that of the Ranger thesis, figure 3.3.

use dragoman_bridge::arm31::rotation;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::command;
use super::core::{Level, Page, SPEED, STEP, Station, flat, mode_name};

/// Terminals with fewer rows or columns get a denser page.
const COMPACT: (u16, u16) = (60, 16);

/// Draws the page.
pub(super) fn draw(station: &Station, frame: &mut Frame) {
    let area = frame.area();
    let mut page = Sheet { frame, area, row: 0 };
    if let Some(first) = station.help() {
        return help(station, &mut page, first);
    }
    let compact = area.width < COMPACT.0 || area.height < COMPACT.1;
    tabs(station, &mut page, compact);
    status(station, &mut page, compact);
    match station.page() {
        Page::Cartesian => cartesian(station, &mut page, compact),
        Page::Joint => joints(station, &mut page),
        Page::Twist => twist(station, &mut page),
    }
    let typing = station.line().is_open();
    if !compact {
        page.line(scale(station));
        page.row += 1;
    }
    let last = area.height.saturating_sub(1);
    let hint_row = last.saturating_sub(1);
    let end = if typing { hint_row } else { last };
    let room = usize::from(end.saturating_sub(page.row));
    let events = station.events();
    let mut lines: Vec<Line> = events
        .iter()
        .rev()
        .flat_map(|event| event_lines(event, area.width).into_iter().rev())
        .take(room)
        .collect();
    lines.reverse();
    lines.into_iter().for_each(|line| page.line(line));
    if let Some((text, cursor)) = station.line().text() {
        page.row = hint_row;
        page.line(Line::from(station.line().hint(station.joint_count())).dim());
        // A long line is shown around its cursor.
        let width = usize::from(area.width.saturating_sub(2)).max(1);
        let skipped = cursor.saturating_sub(width);
        page.line(Line::from(format!(":{}", text.chars().skip(skipped).collect::<String>())));
        let column = u16::try_from(cursor - skipped).unwrap_or(u16::MAX).saturating_add(1);
        frame.set_cursor_position(Position::new(column.min(area.width.saturating_sub(1)), last));
        return;
    }
    page.row = last;
    let recent = events.back().filter(|event| (station.now() - event.time).as_secs() < 10 && room == 0);
    page.line(match recent.and_then(|event| event_lines(event, area.width).into_iter().next()) {
        Some(line) => line,
        None => Line::from("q quit  ? help  : command  m mode  space stop").dim(),
    });
}

/// Lines from top to bottom.
struct Sheet<'a, 'b> {
    frame: &'a mut Frame<'b>,
    area: Rect,
    row: u16,
}

impl Sheet<'_, '_> {
    fn line<'l>(&mut self, line: impl Into<Line<'l>>) {
        if self.row < self.area.height {
            let area = Rect { y: self.area.y + self.row, height: 1, ..self.area };
            // It covers what was drawn there before.
            let line = line.into();
            self.frame.buffer_mut().set_stringn(
                area.x,
                area.y,
                " ".repeat(usize::from(area.width)),
                usize::from(area.width),
                Style::reset(),
            );
            self.frame.render_widget(line, area);
        }
        self.row += 1;
    }

    /// Columns of the same width; `label` has one of its own where there is room.
    fn columns(&mut self, style: Style, label: &str, columns: &[String]) {
        let label_width = if self.area.width < COMPACT.0 { 0 } else { 9 };
        let width = (usize::from(self.area.width) - label_width).min(64) / columns.len().max(1);
        let mut text = format!("{label:label_width$.label_width$}");
        for column in columns {
            text.push_str(&format!("{column:<width$.width$}"));
        }
        self.line(Line::styled(text, style));
    }
}

fn header() -> Style {
    Style::new().add_modifier(Modifier::UNDERLINED)
}

fn tabs(station: &Station, page: &mut Sheet, compact: bool) {
    let names = [(Page::Cartesian, "Cartesian"), (Page::Joint, "Joints"), (Page::Twist, "Twist")];
    let mut spans = Vec::new();
    for (tab, name) in names {
        let style =
            if tab == station.page() { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        spans.push(Span::styled(format!(" {name} "), style));
    }
    let title = &station.setup().title;
    spans.push(Span::raw(if compact { format!(" {title}") } else { format!("   Ranger station, {title}") }));
    page.line(Line::from(spans));
}

fn status(station: &Station, page: &mut Sheet, compact: bool) {
    let mut text = match (station.motion(), station.enabled()) {
        (None, _) => "no connection to the arm".to_owned(),
        (Some((mode, _)), Some(false)) => format!("mode {}, drives off", mode_name(mode)),
        (Some((mode, true)), _) => format!("mode {}, moving", mode_name(mode)),
        (Some((mode, false)), _) => format!("mode {}, at rest", mode_name(mode)),
    };
    if compact {
        text = format!("{text:<26} Scale: {:.4}", station.scale());
    }
    let style = match (station.motion(), station.enabled()) {
        (None, _) => Style::new().fg(Color::Red),
        (_, Some(false)) => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    };
    page.line(Line::styled(text, style));
}

fn scale(station: &Station) -> String {
    let scale = station.scale();
    let (length, angle) = (1000.0 * STEP.0 * scale, (STEP.1 * scale).to_degrees());
    match station.page() {
        Page::Cartesian => format!("Scale: {scale:.4}   {length} mm, {angle:.2} deg for a key press"),
        Page::Joint => {
            format!("Scale: {scale:.4}   {:.2} deg for a key press", (STEP.2 * scale).to_degrees())
        }
        Page::Twist => format!(
            "Scale: {scale:.4}   {} mm/s, {:.2} deg/s while a key is held",
            1000.0 * SPEED.0 * scale,
            (SPEED.1 * scale).to_degrees()
        ),
    }
}

/// A number with its sign's column, or a dash for what is not measured.
fn value(value: Option<f64>, digits: usize) -> String {
    let Some(value) = value else { return " -".to_owned() };
    let text = format!("{value:>+8.digits$}").replace('+', " ");
    // Minus zero is noise of the measurement.
    if text.chars().any(|character| character.is_ascii_digit() && character != '0') {
        text
    } else {
        text.replace('-', " ")
    }
}

/// The item of a list that may not be there.
fn item(list: Option<&Vec<f64>>, place: usize) -> Option<f64> {
    list.and_then(|list| list.get(place)).copied()
}

fn temperature(station: &Station, joint: usize) -> String {
    let known = station.temperatures().and_then(|all| all.get(joint).copied());
    value(known.flatten(), 1)
}

fn cartesian(station: &Station, page: &mut Sheet, compact: bool) {
    let titles = if compact && page.area.width < COMPACT.0 {
        [" Current", " Desired", " Joints", " Temp(C)"]
    } else {
        [" Current Pose", " Desired Pose", " Joints", " Temp(C)"]
    };
    page.columns(header(), "", &titles.map(str::to_owned));
    let (pose, desired) = (station.pose().map(flat), station.desired_pose().map(flat));
    let labels = ["x (m)", "y (m)", "z (m)", "q1 (x)", "q2 (y)", "q3 (z)", "q4 (w)"];
    for row in 0..labels.len().max(station.joint_count()) {
        let joint = row < station.joint_count();
        page.columns(
            Style::new(),
            labels.get(row).copied().unwrap_or_default(),
            &[
                if row < labels.len() { value(item(pose.as_ref(), row), 4) } else { String::new() },
                if row < labels.len() { value(item(desired.as_ref(), row), 4) } else { String::new() },
                if joint { value(item(station.joints(), row), 4) } else { String::new() },
                if joint { temperature(station, row) } else { String::new() },
            ],
        );
    }
    let text = match station.pose() {
        Some(pose) => {
            let [roll, pitch, yaw] = rotation::rpy_from_quaternion(pose.quaternion_xyzw);
            format!("RPY: {roll:.4} {pitch:.4} {yaw:.4}")
        }
        None => "RPY: -".to_owned(),
    };
    page.line(text);
}

fn joints(station: &Station, page: &mut Sheet) {
    page.columns(header(), "joint", &[" Current", " Desired", " Degrees", " Temp(C)"].map(str::to_owned));
    for joint in 0..station.joint_count() {
        let chosen = joint == station.joint();
        let style = if chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let current = item(station.joints(), joint);
        page.columns(
            style,
            &format!("{} {}", if chosen { '>' } else { ' ' }, joint + 1),
            &[
                value(current, 4),
                value(item(station.desired_joints(), joint), 4),
                value(current.map(f64::to_degrees), 2),
                temperature(station, joint),
            ],
        );
    }
}

fn twist(station: &Station, page: &mut Sheet) {
    page.columns(header(), "", &[" Current Pose", " Twist, per s"].map(str::to_owned));
    let pose = station
        .pose()
        .map(|pose| [pose.position, rotation::rpy_from_quaternion(pose.quaternion_xyzw)].concat());
    let labels = ["x (m)", "y (m)", "z (m)", "R (rad)", "P (rad)", "Y (rad)"];
    for (row, (label, speed)) in labels.into_iter().zip(station.commanded()).enumerate() {
        page.columns(Style::new(), label, &[value(item(pose.as_ref(), row), 4), value(Some(speed), 4)]);
    }
    let joystick = match station.dead_man() {
        None => "joystick: none",
        Some(false) => "joystick: dead-man button released",
        Some(true) => "joystick: dead-man button pressed",
    };
    let obstacle = match station.setup().has_twist {
        true => station.obstacle(),
        false => Some("the 31-byte protocol has no twists".to_owned()),
    };
    page.line(joystick);
    page.line(Line::from(obstacle.unwrap_or_default()).yellow());
}

/// An event in lines of this width.
fn event_lines(event: &super::core::Event, width: u16) -> Vec<Line<'static>> {
    let again = if event.count > 1 { format!(" ({} times)", event.count) } else { String::new() };
    let color = match event.level {
        Level::Info => Color::Reset,
        Level::Warning => Color::Yellow,
        Level::Error => Color::Red,
    };
    let text = format!("{:.1} {}{again}", event.time.as_secs_f64(), event.text);
    let characters: Vec<char> = text.chars().collect();
    let lines = characters.chunks(usize::from(width.max(1)));
    lines.map(|line| Line::styled(line.iter().collect::<String>(), Style::new().fg(color))).collect()
}

fn help(station: &Station, page: &mut Sheet, first: usize) {
    page.line(Line::from("Help: up and down scroll, any other key leaves").reversed());
    let lines: Vec<Line> =
        command::help(station.joint_count()).into_iter().skip(first).map(Line::from).collect();
    let area = page.area.intersection(Rect { y: page.area.y.saturating_add(1), ..page.area });
    page.frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}
