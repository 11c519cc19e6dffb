//! The view of a running program: a block that is drawn again in a terminal; otherwise lines of changes.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use crossterm::{cursor, queue, style, terminal};
use dragoman_bridge::neobotix::documents::ProgramSource;
use dragoman_ros::outln;

/// A task that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) name: String,
    /// Its step, from 0.
    pub(super) step: usize,
    /// Whether the step has not begun, and waits for the user.
    pub(super) is_next: bool,
}

pub(super) struct View {
    /// Text of each step of each task.
    steps: BTreeMap<String, Vec<String>>,
    start: Instant,
    is_terminal: bool,
    /// The tasks as they were shown.
    lines: Vec<(String, String)>,
    /// Number of lines of the block in the terminal.
    drawn: u16,
}

impl View {
    pub(super) fn new(source: &ProgramSource) -> Self {
        Self {
            steps: source.step_lines().into_iter().collect(),
            start: dragoman_time::now(),
            is_terminal: !dragoman_time::is_virtual() && io::stdout().is_terminal(),
            lines: Vec::new(),
            drawn: 0,
        }
    }

    /// Time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        dragoman_time::since(self.start)
    }

    /// Shows the tasks that have not ended; `moving` is the one whose motion is under way.
    pub(super) fn show(&mut self, tasks: &[Shown], moving: Option<&str>) -> io::Result<()> {
        let plain = |text: &str| dragoman_text::line(text).into_owned();
        let lines: Vec<_> =
            tasks.iter().map(|task| (plain(&task.name), plain(&self.line(task, moving)))).collect();
        if lines == self.lines {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.lines, lines);
        if self.is_terminal {
            return self.draw(&[]);
        }
        let time = self.time();
        for (name, line) in self.lines.iter().filter(|line| !before.contains(line)) {
            outln!("{time}  {name}: {line}");
        }
        for (name, _) in before.iter().filter(|(name, _)| self.lines.iter().all(|(other, _)| other != name)) {
            outln!("{time}  {name}: ended");
        }
        Ok(())
    }

    /// Shows a message, which may come from a platform.
    pub(super) fn note(&mut self, message: &str) -> io::Result<()> {
        let line = format!("{}  {}", self.time(), dragoman_text::line(message));
        if self.is_terminal {
            return self.draw(&[line]);
        }
        outln!("{line}");
        Ok(())
    }

    fn time(&self) -> String {
        format!("{:7.1} s", dragoman_time::since(self.start).as_secs_f64())
    }

    fn line(&self, task: &Shown, moving: Option<&str>) -> String {
        let steps = self.steps.get(&task.name).map(Vec::as_slice).unwrap_or_default();
        let text = steps.get(task.step).map_or("end", String::as_str);
        let is_motion = text.starts_with("motion");
        let state = match moving {
            _ if task.is_next => " (next)",
            Some(name) if name == task.name => " (its motion is under way)",
            Some(name) if is_motion => &format!(" (waits for the motion of {name})"),
            _ => "",
        };
        format!("step {} of {}: {text}{state}", task.step + 1, steps.len())
    }

    /// Draws the block again below these lines.
    fn draw(&mut self, notes: &[String]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.drawn > 0 {
            queue!(out, cursor::MoveToPreviousLine(self.drawn))?;
        }
        queue!(out, terminal::Clear(terminal::ClearType::FromCursorDown))?;
        for note in notes {
            queue!(out, style::Print(note), style::Print("\n"))?;
        }
        // Some terminals do not know their size.
        let columns =
            terminal::size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0);
        let width = columns.unwrap_or(80) - 1;
        let longest = self.lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, line) in &self.lines {
            // A line that is wrapped could not be drawn again in its place.
            let line: String = format!("{name:longest$}  {line}").chars().take(width).collect();
            queue!(out, style::Print(line), style::Print("\n"))?;
        }
        self.drawn = u16::try_from(self.lines.len()).unwrap_or(u16::MAX);
        out.flush()
    }

    /// A line of input was typed: the terminal has moved on.
    pub(super) fn typed(&mut self) {
        if self.is_terminal {
            self.drawn = self.drawn.saturating_add(1);
        }
    }
}
