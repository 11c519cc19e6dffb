//! A platform drives to a pose in an empty hall.
//!
//!     cargo run -p dragoman_platform --example drive

use std::error::Error;
use std::time::Duration;

use dragoman_geometry::{Point, Pose, compose};
use dragoman_platform::controller::{Command, Input, MotionMode, Platform};
use dragoman_platform::motion::obstacles::Scan;
use dragoman_platform::settings::Settings;

const CYCLE: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let mut platform = Platform::new(Settings::default())?;
    for command in
        [Command::Connect, Command::Initialize, Command::SetMode(MotionMode::Automatic), Command::Start]
    {
        platform.command(command)?;
    }
    platform.command(Command::MoveAbsolute(Pose::new(2.0, 1.0, 0.5)))?;
    let mut pose = Pose::ORIGIN;
    for cycle in 0..1200 {
        // Its laser sees nothing. Without a laser it would not move.
        let scan = Some(Scan { origin: Point::new(0.4, 0.0), points: &[] });
        let twist = platform.cycle(&Input { scan, ..Input::at(CYCLE * cycle, pose) }).twist;
        // An ideal base.
        let [ahead, turn] = [twist.linear, twist.angular].map(|speed| speed * CYCLE.as_secs_f64());
        pose = compose(pose, Pose::new(ahead, 0.0, turn));
        while let Some(event) = platform.poll_event() {
            println!("{:?}: {event:?} at {:.2}, {:.2}", CYCLE * cycle, pose.x, pose.y);
        }
    }
    Ok(())
}
