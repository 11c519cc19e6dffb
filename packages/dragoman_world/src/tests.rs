//! Tests of the world, with closed forms where available.

mod cameras;
mod files;
mod import;
mod lab;
mod robots;
mod sensors;

use super::{LoadError, Worlds};

/// A world without files.
fn load(text: &str) -> Worlds {
    Worlds::from_yaml(text, &|_| Err("no files here".to_owned())).unwrap()
}

fn refusal(text: &str) -> LoadError {
    Worlds::from_yaml(text, &|_| Err("no files here".to_owned())).err().unwrap()
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}");
}
