//! The command line, and the loop over the rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use crate::attacker::attack;
use crate::common::program;
use crate::rows::{FigureRow, Run, TABLES};
use crate::table::{Figure, Line, table};

/// Figures of a running lab, as tables in Markdown
#[derive(Debug, Parser)]
#[command(name = "figures")]
struct Options {
    /// Rows to run: those whose names contain one of these; default: all, with --hold those that hold something
    rows: Vec<String>,
    /// Name the rows and end
    #[arg(long)]
    list: bool,
    /// The program to measure; several are measured by turns, and the last is held against the limits. Default:
    /// DRAGOMAN_TEST_PROGRAM, or the one that cargo has built
    #[arg(long = "program", value_name = "PATH")]
    programs: Vec<PathBuf>,
    /// End with code 1, and a list, if a figure is beyond its limit
    #[arg(long)]
    hold: bool,
    /// Attacks of full length; otherwise shorter ones
    #[arg(long)]
    full: bool,
    /// Seed of the attackers' random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What cargo passes
    #[arg(long, hide = true)]
    bench: bool,
}

pub(crate) fn main() -> ExitCode {
    // A failure is reported in one line.
    std::panic::set_hook(Box::new(|panic| eprintln!("figures: {panic}")));
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "attacker").is_some() {
        attack(arguments);
        return ExitCode::SUCCESS;
    }
    let mut options = Options::parse();
    if options.programs.is_empty() {
        options.programs.push(program().into());
    }
    if options.list {
        all_rows().for_each(|row| println!("{:22} {}", row.name, row.what));
        return ExitCode::SUCCESS;
    }
    let beyond = tables(&options);
    if beyond.is_empty() || !options.hold {
        return ExitCode::SUCCESS;
    }
    println!("\nfigures: beyond their limits:");
    beyond.iter().for_each(|line| println!("- {line}"));
    ExitCode::FAILURE
}

fn all_rows() -> impl Iterator<Item = &'static FigureRow> {
    TABLES.iter().flat_map(|(_, rows)| rows.iter())
}

/// Measures and prints all tables; returns the figures beyond their limits.
fn tables(options: &Options) -> Vec<String> {
    let names: Vec<String> = options.programs.iter().map(|program| program.display().to_string()).collect();
    let names = short(&names);
    println!("# Figures\n\nSeed {}, {} attacks.", options.seed, if options.full { "full" } else { "short" });
    let mut beyond = Vec::new();
    for (title, rows) in TABLES {
        let wanted: Vec<&FigureRow> = rows.iter().filter(|row| is_wanted(options, row)).collect();
        let lines: Vec<Line> = wanted.iter().flat_map(|row| lines(options, row)).collect();
        beyond.extend(lines.iter().filter(|line| line.is_beyond()).map(|line| line.names.join(": ")));
        if !lines.is_empty() {
            println!("{}", table(title, &names, &lines));
        }
    }
    let left_out: Vec<&str> = all_rows()
        .filter(|row| options.rows.is_empty() && !is_wanted(options, row))
        .map(|row| row.name)
        .collect();
    if !left_out.is_empty() {
        println!("Open, and not measured: {}.", left_out.join(", "));
    }
    beyond
}

/// The programs' paths without their common beginning.
fn short(paths: &[String]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = paths.iter().map(|path| path.split('/').collect()).collect();
    let most = parts.iter().map(Vec::len).min().unwrap_or(1) - 1;
    let alike =
        (0..most).take_while(|&place| parts.iter().all(|path| path[place] == parts[0][place])).count();
    parts.iter().map(|path| path[alike..].join("/")).collect()
}

fn is_wanted(options: &Options, row: &FigureRow) -> bool {
    if options.rows.is_empty() {
        return true;
    }
    // A complete name selects that row alone.
    let is_whole = |name: &String| all_rows().any(|row| row.name == name);
    options.rows.iter().any(|name| row.name == name || !is_whole(name) && row.name.contains(name.as_str()))
}

/// A row's figures, of all programs one after the other.
fn lines(options: &Options, row: &FigureRow) -> Vec<Line> {
    let of_programs: Vec<Vec<Figure>> =
        options.programs.iter().map(|program| settled(options, row, program)).collect();
    let mut names: Vec<String> = Vec::new();
    for figure in of_programs.iter().flatten() {
        if !names.contains(&figure.what) {
            names.push(figure.what.clone());
        }
    }
    let line = |name: String| {
        let of_program = |figures: &Vec<Figure>| figures.iter().find(|figure| figure.what == name).cloned();
        Line {
            of_programs: of_programs.iter().map(of_program).collect(),
            is_open: row.is_open(&name),
            names: [row.what.to_owned(), name],
        }
    };
    names.into_iter().map(line).collect()
}

/// A row's figures. If one is beyond its limit, the row is measured twice more, and each figure is the median: other
/// work on the machine disturbs a single measurement, a fault all of them.
fn settled(options: &Options, row: &FigureRow, program: &Path) -> Vec<Figure> {
    let first = measure(options, row, program);
    if !options.hold || !first.iter().any(|figure| figure.is_beyond() && !row.is_open(&figure.what)) {
        return first;
    }
    let all = [first, measure(options, row, program), measure(options, row, program)];
    let median =
        |figure: &Figure| Figure::median(all.iter().flatten().filter(|other| other.what == figure.what));
    all[0].iter().filter_map(median).collect()
}

/// Measures a row. If it fails, the reason is a figure without a value.
fn measure(options: &Options, row: &FigureRow, program: &Path) -> Vec<Figure> {
    let run = Run { program: program.to_path_buf(), seed: options.seed, is_full: options.full };
    let start = Instant::now();
    eprint!("figures: {} of {}", row.name, program.display());
    let figures = catch_unwind(AssertUnwindSafe(|| (row.run)(&run)));
    eprintln!(": {:.0} s", start.elapsed().as_secs_f64());
    figures.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        vec![Figure::at_most("failed", f64::INFINITY, 0.0, 1.0).reason(text)]
    })
}
