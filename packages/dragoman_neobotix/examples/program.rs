//! A program of a platform: from its text form to XML, and run by the interpreter.
//!
//!     cargo run -p dragoman_neobotix --example program

use std::error::Error;
use std::time::Duration;

use dragoman_neobotix::documents::ProgramSource;
use dragoman_neobotix::program::Program;
use dragoman_neobotix::program::interpreter::{Conditions, Interpreter};

const PATROL: &str = "\
program version=1.0
  task patrol priority=1
    motion > settarget > station \"door\"
    wait > target
    log \"at the door\" priority=1
";

fn main() -> Result<(), Box<dyn Error>> {
    let source = ProgramSource::parse(PATROL.as_bytes()).map_err(|errors| format!("{errors:?}"))?;
    println!("{}", source.to_xml()?);
    let (document, errors) = source.program();
    errors.iter().for_each(|error| println!("{error}"));
    let mut interpreter = Interpreter::new(Program::from(&document), 1)?;
    for second in 0..10 {
        let now = Duration::from_secs(second);
        for action in
            interpreter.cycle(&Conditions { now, target_reached: second > 5, ..Conditions::default() })
        {
            println!("{now:?}: {action:?}");
        }
    }
    println!("ended: {}", interpreter.has_ended());
    Ok(())
}
