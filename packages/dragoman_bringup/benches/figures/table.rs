//! Figures, the goals that they have, and their table.

use std::fmt::Write as _;

/// The content of one line of a table for one program.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) shown: String,
    pub(crate) goals: Vec<Goal>,
}

/// A maximum.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// The limited part of the figure, such as `p99`.
    of: &'static str,
    value: f64,
    limit: f64,
    /// The limit is the goal times this, plus
    slack: f64,
    /// this: the delay caused by the machine itself.
    machine: f64,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { what: what.into(), shown: shown.into(), goals: Vec::new() }
    }

    /// A number that has a goal.
    pub(crate) fn at_most(what: impl Into<String>, value: f64, limit: f64, slack: f64) -> Self {
        Self::new(what, number(value)).goal("", value, limit, slack)
    }

    pub(crate) fn goal(mut self, of: &'static str, value: f64, limit: f64, slack: f64) -> Self {
        self.goals.push(Goal { of, value, limit, slack, machine: 0.0 });
        self
    }

    /// Adds the delay caused by the machine itself to the last goal.
    pub(crate) fn on_machine(mut self, more: f64) -> Self {
        self.goals.iter_mut().last().into_iter().for_each(|goal| goal.machine = more);
        self
    }

    /// Shows this text, in one line.
    pub(crate) fn reason(mut self, text: &str) -> Self {
        self.shown = text.replace(['\n', '|'], " ");
        self
    }

    /// Whether it is beyond a limit.
    pub(crate) fn is_beyond(&self) -> bool {
        self.goals.iter().any(|goal| goal.is_missed(goal.held()))
    }

    /// The median of figures with one name, ordered by their distance from the limits.
    pub(crate) fn median<'a>(figures: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let mut figures: Vec<&Self> = figures.collect();
        figures.sort_by(|a, b| a.excess().total_cmp(&b.excess()));
        let middle = *figures.get(figures.len() / 2)?;
        if middle.goals.is_empty() {
            return Some(middle.clone());
        }
        let shown = format!("{} (median of {})", middle.shown, figures.len());
        Some(Self { shown, ..middle.clone() })
    }

    /// The maximum ratio of a value to its limit; without goals, 0.
    fn excess(&self) -> f64 {
        let part = |goal: &Goal| match goal.held() {
            _ if !goal.value.is_finite() => f64::INFINITY,
            // A limit of 0 is exceeded by every other value.
            held if held > 0.0 => goal.value / held,
            _ => goal.value,
        };
        self.goals.iter().map(part).fold(0.0, f64::max)
    }

    fn is_reached(&self) -> bool {
        !self.goals.iter().any(|goal| goal.is_missed(goal.limit))
    }

    fn goal_text(&self) -> String {
        let goals =
            self.goals.iter().map(|goal| format!("{} <= {}", goal.of, number(goal.limit)).trim().to_owned());
        goals.collect::<Vec<_>>().join(", ")
    }
}

impl Goal {
    /// The limit: the goal with its tolerances.
    fn held(&self) -> f64 {
        self.limit * self.slack + self.machine
    }

    /// True for NaN, too.
    fn is_missed(&self, limit: f64) -> bool {
        !self.value.is_finite() || self.value > limit
    }
}

/// With the significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "none".into(),
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A figure of all programs, and whether its goal is reached. The last program is checked.
pub(crate) struct Line {
    /// Row and figure.
    pub(crate) names: [String; 2],
    pub(crate) of_programs: Vec<Option<Figure>>,
    pub(crate) is_open: bool,
}

impl Line {
    fn judged(&self) -> Option<&Figure> {
        self.of_programs.last()?.as_ref()
    }

    /// Whether it is beyond its limit.
    pub(crate) fn is_beyond(&self) -> bool {
        !self.is_open && self.judged().is_none_or(Figure::is_beyond)
    }

    fn state(&self) -> &'static str {
        let Some(figure) = self.judged() else { return "" };
        match self.is_open {
            _ if figure.goals.is_empty() => "",
            true if figure.is_reached() => "open, reached",
            true => "open",
            false if figure.is_beyond() => "**beyond**",
            false => "holds",
        }
    }
}

/// In Markdown, with a column for each program.
pub(crate) fn table(title: &str, programs: &[String], lines: &[Line]) -> String {
    let mut text = format!("\n## {title}\n\n| case | figure |");
    programs.iter().for_each(|name| {
        let _ = write!(text, " {name} |");
    });
    let _ = writeln!(text, " goal | |\n|{}", " --- |".repeat(4 + programs.len()));
    let mut last = "";
    for line in lines {
        let [row, what] = &line.names;
        // A row's name is in its first line.
        let _ = write!(text, "| {} | {what} |", if row == last { "" } else { row });
        last = row;
        for figure in &line.of_programs {
            let _ = write!(text, " {} |", figure.as_ref().map_or("", |figure| &figure.shown));
        }
        let goal = line.judged().map(Figure::goal_text).unwrap_or_default();
        let _ = writeln!(text, " {goal} | {} |", line.state());
    }
    text
}
