//! `dragoman teleop`: a base driven from the keyboard of a terminal.

use std::error::Error;
use std::io::{self, IsTerminal, Write as _};
use std::time::Duration;

use clap::Args;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::{cursor, execute, terminal};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{
    Client, Clock, ClockType, Context, Node, Publisher, QosProfile, geometry_msgs, out, outln, std_srvs,
};
use dragoman_time::MissedTicks;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use std_srvs::srv::SetBool;

/// The command line of `dragoman teleop`.
#[derive(Args)]
pub struct TeleopOptions {
    /// Topic of the velocity commands.
    #[arg(long, value_name = "TOPIC", default_value = "/cmd_vel")]
    topic: String,
    /// Publish geometry_msgs/TwistStamped instead of geometry_msgs/Twist.
    #[arg(long)]
    stamped: bool,
    /// The base whose motors are switched by the keys p and o, with its service set_motor_power.
    #[arg(long, value_name = "NAME", default_value = "/mobile_base")]
    base: String,
    /// Maximum forward speed, in m/s.
    #[arg(long, value_name = "SPEED", default_value_t = 0.7, value_parser = positive)]
    max_linear: f64,
    /// Maximum turn rate, in rad/s.
    #[arg(long, value_name = "SPEED", default_value_t = 3.0, value_parser = positive)]
    max_angular: f64,
    /// Change of the forward speed per key press, in m/s.
    #[arg(long, value_name = "SPEED", default_value_t = 0.05, value_parser = positive)]
    linear_step: f64,
    /// Change of the turn rate per key press, in rad/s.
    #[arg(long, value_name = "SPEED", default_value_t = 0.2, value_parser = positive)]
    angular_step: f64,
}

/// Period of repeating the command: a base without commands stops after 0.6 s.
const PERIOD: Duration = Duration::from_millis(100);
/// Number of zero commands before publishing ends.
const ZEROS: u32 = 5;
/// Timeout of the service that switches the motors.
const POWER_TIME: Duration = Duration::from_secs(2);

const HELP: &str = "\
up, w      faster ahead          left, a    turn more to the left
down, s    slower, back          right, d   turn more to the right
space      stop                  x          drive straight on
p          motors on             o          motors off
q, Esc     stop and leave
";

/// Drives until `stop` resolves or the user leaves.
pub async fn run(
    context: &Context,
    options: &TeleopOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    if !io::stdin().is_terminal() {
        return Err("teleop reads the keyboard of a terminal; standard input is not a terminal".into());
    }
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "teleop", "")?);
    let mut output = Output::new(tasks.node(), options)?;
    let mut keyboard = Keyboard::new(options);
    // It has no tasks to wait for, but responses are delivered in its thread.
    let _running = tasks.start()?;
    out!("{HELP}");
    outln!("{}", output.description);
    let _raw = RawTerminal::enter()?;
    let mut keys = EventStream::new();
    let mut ticks = dragoman_time::interval(PERIOD).with_missed(MissedTicks::Delay);
    let mut stop = std::pin::pin!(stop);
    let mut has_subscriber = output.has_subscriber();
    let show = |keyboard: &Keyboard, has_subscriber: bool, note: Option<&str>| {
        keyboard.show((!has_subscriber).then_some(options.topic.as_str()), note)
    };
    show(&keyboard, has_subscriber, None)?;
    let mut switching = FuturesUnordered::new();
    loop {
        let action = tokio::select! {
            biased;
            () = &mut stop => Action::Leave,
            event = keys.next() => match event {
                Some(Ok(Event::Key(key))) => keyboard.press(key),
                Some(Ok(_)) => continue,
                Some(Err(error)) => return Err(format!("the keyboard cannot be read: {error}").into()),
                None => Action::Leave,
            },
            () = ticks.tick() => {
                output.repeat(keyboard.linear, keyboard.angular)?;
                if std::mem::replace(&mut has_subscriber, output.has_subscriber()) != has_subscriber {
                    show(&keyboard, has_subscriber, None)?;
                }
                continue;
            }
            Some(answer) = switching.next() => {
                let answer: String = answer;
                show(&keyboard, has_subscriber, Some(&answer))?;
                continue;
            }
        };
        match action {
            Action::Nothing => continue,
            Action::Drive => {}
            Action::Power(on) => switching.push(output.switch_motors(on)?),
            Action::Leave => return Ok(()),
        }
        output.publish(keyboard.linear, keyboard.angular)?;
        show(&keyboard, has_subscriber, None)?;
    }
}

/// Action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Nothing,
    /// The speeds have changed.
    Drive,
    /// Switch the motors.
    Power(bool),
    Leave,
}

/// The speeds set by the keys, in m/s and rad/s.
struct Keyboard {
    linear: f64,
    angular: f64,
    linear_step: f64,
    angular_step: f64,
    max_linear: f64,
    max_angular: f64,
}

impl Keyboard {
    fn new(options: &TeleopOptions) -> Self {
        Self {
            linear: 0.0,
            angular: 0.0,
            linear_step: options.linear_step,
            angular_step: options.angular_step,
            max_linear: options.max_linear,
            max_angular: options.max_angular,
        }
    }

    fn press(&mut self, key: KeyEvent) -> Action {
        if key.kind == KeyEventKind::Release {
            return Action::Nothing;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            // In a raw terminal these keys send no signal.
            return match key.code {
                KeyCode::Char('c' | 'd' | 'z' | '\\') => Action::Leave,
                _ => Action::Nothing,
            };
        }
        let step = |speed: f64, step: f64, max: f64| {
            // To the next multiple of the step, so that zero is met on the way back; + 0.0 avoids -0.
            let steps = (speed / step + 1e-9).floor() + 1.0;
            (steps * step).clamp(-max, max) + 0.0
        };
        match key.code {
            KeyCode::Up | KeyCode::Char('w') => {
                self.linear = step(self.linear, self.linear_step, self.max_linear);
            }
            KeyCode::Down | KeyCode::Char('s') => {
                self.linear = -step(-self.linear, self.linear_step, self.max_linear);
            }
            KeyCode::Left | KeyCode::Char('a') => {
                self.angular = step(self.angular, self.angular_step, self.max_angular);
            }
            KeyCode::Right | KeyCode::Char('d') => {
                self.angular = -step(-self.angular, self.angular_step, self.max_angular);
            }
            KeyCode::Char('x') => self.angular = 0.0,
            KeyCode::Char(' ') => (self.linear, self.angular) = (0.0, 0.0),
            // The base waits for the next command.
            KeyCode::Char(key @ ('p' | 'o')) => {
                (self.linear, self.angular) = (0.0, 0.0);
                return Action::Power(key == 'p');
            }
            KeyCode::Char('q') | KeyCode::Esc => return Action::Leave,
            _ => return Action::Nothing,
        }
        Action::Drive
    }

    /// The status line at the bottom; `without_subscriber` is the topic if it has no subscriber. A note gets a line of
    /// its own above it.
    fn show(&self, without_subscriber: Option<&str>, note: Option<&str>) -> io::Result<()> {
        let mut out = io::stdout();
        execute!(out, cursor::MoveToColumn(0), terminal::Clear(terminal::ClearType::CurrentLine))?;
        if let Some(note) = note {
            write!(out, "{note}\r\n")?;
        }
        write!(out, "ahead {:+.2} m/s   turn {:+.2} rad/s", self.linear, self.angular)?;
        if let Some(topic) = without_subscriber {
            write!(out, "   nobody listens on {topic}")?;
        }
        out.flush()
    }
}

/// Publisher of the commands; stops the base when it is dropped.
struct Output {
    velocity: Velocity,
    power: Client<SetBool::Service>,
    description: String,
    zeros: u32,
}

enum Velocity {
    Plain(Publisher<geometry_msgs::msg::Twist>),
    Stamped(Publisher<geometry_msgs::msg::TwistStamped>, Box<Clock>),
}

impl Output {
    fn new(node: &mut Node, options: &TeleopOptions) -> dragoman_ros::Result<Self> {
        let power = format!("{}/set_motor_power", options.base.trim_end_matches('/'));
        let velocity = if options.stamped {
            let clock = Box::new(Clock::create(ClockType::SystemTime)?);
            Velocity::Stamped(node.create_publisher(&options.topic, QosProfile::default())?, clock)
        } else {
            Velocity::Plain(node.create_publisher(&options.topic, QosProfile::default())?)
        };
        let description = format!("commands on {}, motors by {power}", options.topic);
        let power = node.create_client::<SetBool::Service>(&power, QosProfile::services_default())?;
        // Nothing is published before the first key press.
        Ok(Self { velocity, power, description, zeros: ZEROS })
    }

    fn publish(&mut self, linear: f64, angular: f64) -> dragoman_ros::Result<()> {
        self.zeros = 0;
        let mut twist = geometry_msgs::msg::Twist::default();
        (twist.linear.x, twist.angular.z) = (linear, angular);
        match &mut self.velocity {
            Velocity::Plain(publisher) => publisher.publish(&twist),
            Velocity::Stamped(publisher, clock) => {
                let mut stamped = geometry_msgs::msg::TwistStamped { twist, ..Default::default() };
                stamped.header.stamp = Clock::to_builtin_time(&clock.get_now()?);
                publisher.publish(&stamped)
            }
        }
    }

    /// Whether the topic of the commands has a subscriber.
    fn has_subscriber(&self) -> bool {
        let listeners = match &self.velocity {
            Velocity::Plain(publisher) => publisher.get_inter_process_subscription_count(),
            Velocity::Stamped(publisher, _) => publisher.get_inter_process_subscription_count(),
        };
        // If the number is unknown, no warning is shown.
        !listeners.is_ok_and(|count| count == 0)
    }

    /// Repeats the command, unless the base has been stopped for a while.
    fn repeat(&mut self, linear: f64, angular: f64) -> dragoman_ros::Result<()> {
        let zeros = if (linear, angular) == (0.0, 0.0) { self.zeros + 1 } else { 0 };
        if zeros <= ZEROS {
            self.publish(linear, angular)?;
            self.zeros = zeros;
        }
        Ok(())
    }

    /// Requests the base to switch its motors; the future returns the result.
    fn switch_motors(&self, on: bool) -> dragoman_ros::Result<impl Future<Output = String> + use<>> {
        let answer = self.power.request(&SetBool::Request { data: on })?;
        Ok(async move {
            match dragoman_time::timeout(POWER_TIME, answer).await {
                Ok(Ok(answer)) => answer.message,
                Ok(Err(error)) => format!("motors: {error}"),
                Err(_) => "motors: no answer".to_owned(),
            }
        })
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Err(error) = self.publish(0.0, 0.0) {
            tracing::error!(%error, "stopping the base failed");
        }
    }
}

/// A terminal in raw mode; restored when dropped.
struct RawTerminal;

impl RawTerminal {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // A closed terminal needs no handling.
        let _ = terminal::disable_raw_mode();
        outln!("");
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("not a positive number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyboard() -> Keyboard {
        Keyboard {
            linear: 0.0,
            angular: 0.0,
            linear_step: 0.05,
            angular_step: 0.2,
            max_linear: 0.12,
            max_angular: 3.0,
        }
    }

    fn press(keyboard: &mut Keyboard, code: KeyCode) -> Action {
        keyboard.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn keys_step_the_speeds_up_to_their_limits() {
        let mut keyboard = keyboard();
        let speeds: Vec<f64> = (0..4)
            .map(|_| {
                assert_eq!(press(&mut keyboard, KeyCode::Up), Action::Drive);
                keyboard.linear
            })
            .collect();
        assert_eq!(speeds, [0.05, 0.1, 0.12, 0.12]);
        let back: Vec<f64> = (0..6)
            .map(|_| {
                press(&mut keyboard, KeyCode::Char('s'));
                keyboard.linear
            })
            .collect();
        assert_eq!(back, [0.1, 0.05, 0.0, -0.05, -0.1, -0.12]);
        press(&mut keyboard, KeyCode::Left);
        assert_eq!(keyboard.angular, 0.2);
        press(&mut keyboard, KeyCode::Char('x'));
        assert_eq!((keyboard.linear, keyboard.angular), (-0.12, 0.0));
        press(&mut keyboard, KeyCode::Char(' '));
        assert_eq!((keyboard.linear, keyboard.angular), (0.0, 0.0));
    }

    #[test]
    fn switching_off_and_leaving_stop_and_other_keys_do_nothing() {
        let mut keyboard = keyboard();
        press(&mut keyboard, KeyCode::Up);
        assert_eq!(press(&mut keyboard, KeyCode::Char('m')), Action::Nothing);
        assert_eq!(keyboard.linear, 0.05);
        assert_eq!(press(&mut keyboard, KeyCode::Char('o')), Action::Power(false));
        assert_eq!(keyboard.linear, 0.0);
        assert_eq!(press(&mut keyboard, KeyCode::Char('q')), Action::Leave);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(keyboard.press(interrupt), Action::Leave);
    }
}
