//! `dragoman station`: the command station of an arm on a terminal (Ranger thesis, 3.6 and 5.2.2).
//!
//! | file | holds |
//! | --- | --- |
//! | `core.rs` | what the station knows, what keys and messages do; no I/O |
//! | `command.rs` | the command line: commands of appendix A, completion, history |
//! | `draw.rs` | the pages |
//! | `joystick.rs` | axes and buttons; Linux' joystick devices |
//! | `ros.rs`, `udp.rs` | the two links: an arm in ROS, and a controller of the 31-byte protocol |
//! | `screen.rs` | the terminal, and how it is left |

mod command;
mod core;
mod draw;
mod joystick;
mod ros;
mod screen;
mod udp;

use std::error::Error;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::time::{Duration, Instant};

use clap::Args;
use crossterm::event::{Event, EventStream};
use dragoman_ros::logging::{self, Severity};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, signals};
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc;

use self::core::{Action, Level, Setup, Station, TICK, Update};
use self::joystick::{Joystick, Mapping};
use self::ros::{Incoming, RosLink};
use self::screen::Screen;
use self::udp::UdpLink;

/// The command line of `dragoman station`.
#[derive(Debug, Args)]
pub struct StationOptions {
    /// Namespace of the arm.
    #[arg(long, value_name = "NAMESPACE", default_value = "/ranger")]
    namespace: String,
    /// Connect to this controller by the 31-byte protocol, without ROS; its port is 5031 unless you name another. The protocol
    /// has no twists.
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["namespace", "joy", "joystick", "twist_frame"])]
    pub udp: Option<String>,
    /// Topic of a joystick, sensor_msgs/Joy.
    #[arg(long, value_name = "TOPIC", default_value = "/joy")]
    joy: String,
    /// A joystick device instead of the topic, for example /dev/input/js0.
    #[arg(long, value_name = "DEVICE", conflicts_with = "joy")]
    joystick: Option<PathBuf>,
    /// Axes of the joystick for x, y and z.
    #[arg(long, value_name = "X,Y,Z", default_value = "1,0,4", value_parser = axes)]
    joystick_axes: [usize; 3],
    /// Button of the joystick without which nothing moves.
    #[arg(long, value_name = "N", default_value_t = 4)]
    dead_man_button: usize,
    /// Button of the joystick with which the axes turn the tool.
    #[arg(long, value_name = "N", default_value_t = 5)]
    turn_button: usize,
    /// Time after which a key that is not repeated counts as released, s; longer than the terminal's delay before the
    /// first repetition (660 ms in X11). Once it repeats, 0.4 s at most.
    #[arg(long, value_name = "SECONDS", default_value = "0.8", value_parser = hold_time)]
    hold_time: Duration,
    /// Frame of twists: the arm's base link (default) or its tip link.
    #[arg(long, value_name = "FRAME", default_value = "")]
    twist_frame: String,
}

/// How long the answer to the last stop is awaited: longer than a call may take, because a start that the stop has overtaken
/// is answered first, and stopped again.
const END_TIME: Duration = Duration::from_secs(8);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs the station for an arm in ROS until the user leaves or `stop` resolves.
///
/// # Errors
/// There is no terminal; an error of the terminal, the joystick or the middleware.
pub async fn run(context: &Context, options: &StationOptions, stop: impl Future<Output = ()>) -> Result<()> {
    let joystick = options.joystick.as_ref().map(|path| open_joystick(path)).transpose()?;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "station", &options.namespace)?);
    let joy = joystick.is_none().then_some(options.joy.as_str());
    let link = RosLink::new(context, tasks.node(), joy, &options.twist_frame)?;
    // It has no tasks to wait for, but responses are delivered in its thread.
    let _running = tasks.start()?;
    serve(Link::Ros(Box::new(link)), options, options.namespace.clone(), joystick, stop).await
}

/// Runs the station for the controller at this address, without ROS, until the user leaves or a signal comes.
///
/// # Errors
/// There is no terminal; an error of the terminal or of the socket.
pub fn run_udp(options: &StationOptions, controller: SocketAddr) -> Result<()> {
    logging::init("warn")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let ended = runtime.block_on(async {
        let stop = signals::first()?;
        let link = UdpLink::new(controller)?;
        serve(Link::Udp(Box::new(link)), options, format!("{controller} (UDP)"), None, stop).await
    });
    // The thread that reads the keyboard may still wait for it.
    runtime.shutdown_background();
    ended
}

/// Checks that there is a terminal.
///
/// # Errors
/// Standard input or output is none.
pub fn check_terminal() -> Result<()> {
    use std::io::IsTerminal;
    for (is_terminal, name) in
        [(std::io::stdin().is_terminal(), "input"), (std::io::stdout().is_terminal(), "output")]
    {
        if !is_terminal {
            return Err(format!("station needs a terminal; standard {name} is not a terminal").into());
        }
    }
    Ok(())
}

/// The way to the arm.
enum Link {
    Ros(Box<RosLink>),
    Udp(Box<UdpLink>),
}

impl Link {
    async fn next(&mut self) -> Incoming {
        match self {
            Self::Ros(link) => link.next().await,
            Self::Udp(link) => Incoming::Update(link.next().await),
        }
    }

    /// Executes all actions of the station.
    fn act(&mut self, station: &mut Station) -> Result<()> {
        while let Some(action) = station.poll_action() {
            match (&mut *self, action) {
                (Self::Ros(link), Action::Order { id, order }) => link.order(id, order),
                (Self::Udp(link), Action::Order { id, order }) => link.order(id, &order),
                (Self::Ros(link), Action::Twist(twist)) => link.twist(twist)?,
                // The station does not command twists where there are none.
                (Self::Udp(_), Action::Twist(_)) => {}
            }
        }
        Ok(())
    }
}

async fn serve(
    mut link: Link,
    options: &StationOptions,
    title: String,
    joystick: Option<File>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let mut entries = logging::divert();
    let mut screen = Screen::enter()?;
    let mut station = Station::new(Setup {
        title,
        has_twist: matches!(link, Link::Ros(_)),
        reports_release: screen.reports_release(),
        hold: options.hold_time,
        joystick: Mapping {
            axes: options.joystick_axes,
            dead_man: options.dead_man_button,
            turn: options.turn_button,
        },
    });
    let start = dragoman_time::now();
    let now = || dragoman_time::since(start);
    let mut joystick = joystick.map(read_joystick).transpose()?;
    let mut keys = EventStream::new();
    let mut due = start;
    let mut stop = pin!(stop);
    let ended = loop {
        if let Err(error) = link.act(&mut station) {
            break Err(error);
        }
        if station.leaves() {
            break Ok(());
        }
        let deflected = async {
            match &mut joystick {
                Some(device) => device.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop => break Ok(()),
            // Before all else: among the keys is the stop.
            event = keys.next() => match event {
                Some(Ok(Event::Key(key))) => station.handle_key(now(), key),
                Some(Ok(_)) => {}
                Some(Err(error)) => break Err(format!("the keyboard cannot be read: {error}").into()),
                None => break Ok(()),
            },
            state = deflected => match state {
                Some(Ok(state)) => station.handle_joystick(now(), &state.axes, &state.buttons),
                Some(Err(reason)) => station.handle_joystick_lost(now(), reason),
                None => joystick = None,
            },
            () = dragoman_time::sleep_until(due) => {
                station.handle_tick(now());
                // An error here is a terminal that is gone.
                if let Err(error) = screen.draw(|frame| draw::draw(&station, frame)) {
                    break Err(format!("the terminal cannot be written: {error}").into());
                }
                // On a busy machine this may take long; updates are handled in between.
                due = dragoman_time::now() + TICK;
            }
            Some(entry) = entries.next() => {
                let level = match entry.severity {
                    Severity::Error => Level::Error,
                    Severity::Warn => Level::Warning,
                    Severity::Info => Level::Info,
                };
                station.handle_update(now(), Update::Event(level, entry.text));
            }
            incoming = link.next() => handle_incoming(&mut station, now(), incoming),
        }
    };
    let stopped = end(&mut station, &mut link, start).await;
    drop(screen);
    // Text that came too late for the screen, such as the reason of a panic.
    while let Some(entry) = entries.next().now_or_never().flatten() {
        eprintln!("{}", entry.text);
    }
    ended.and(stopped)
}

/// Stops what the station has set in motion.
async fn end(station: &mut Station, link: &mut Link, start: Instant) -> Result<()> {
    if station.handle_end(dragoman_time::since(start)) {
        let stopped = async {
            link.act(station)?;
            while station.is_stopping() {
                let incoming = link.next().await;
                handle_incoming(station, dragoman_time::since(start), incoming);
                link.act(station)?;
            }
            Ok(())
        };
        // Without an answer nothing else can be done from here.
        let silent = || Err("the arm has not confirmed the stop".into());
        return dragoman_time::timeout(END_TIME, stopped).await.unwrap_or_else(|_| silent());
    }
    link.act(station)
}

fn handle_incoming(station: &mut Station, now: Duration, incoming: Incoming) {
    match incoming {
        Incoming::Update(update) => station.handle_update(now, update),
        Incoming::Joy(axes, buttons) => station.handle_joystick(now, &axes, &buttons),
    }
}

fn open_joystick(path: &PathBuf) -> Result<File> {
    File::open(path).map_err(|error| format!("joystick {}: {error}", path.display()).into())
}

/// Reads the device in a thread of its own, which is never joined: it blocks until the joystick is moved. The state is
/// repeated, because the device reports changes only.
fn read_joystick(device: File) -> std::io::Result<mpsc::Receiver<std::result::Result<Joystick, String>>> {
    let (sender, polled) = mpsc::channel(16);
    let (changes, mut states) = dragoman_time::watch::channel(Joystick::default());
    let failed = sender.clone();
    std::thread::Builder::new().name("joystick".into()).spawn(move || {
        if let Err(error) = Joystick::read(device, |state| changes.send(state.clone()).is_ok()) {
            let _ = failed.blocking_send(Err(format!("the joystick cannot be read: {error}")));
        }
    })?;
    dragoman_time::spawn(async move {
        let mut ticks = dragoman_time::interval(TICK);
        loop {
            tokio::select! {
                biased;
                () = ticks.tick() => {}
                changed = states.changed() => if changed.is_err() { return },
            }
            let state = states.borrow_and_update().clone();
            if sender.send(Ok(state)).await.is_err() {
                return;
            }
        }
    });
    Ok(polled)
}

fn axes(text: &str) -> std::result::Result<[usize; 3], String> {
    let numbers: Option<Vec<usize>> = text.split(',').map(|axis| axis.trim().parse().ok()).collect();
    numbers
        .and_then(|numbers| <[usize; 3]>::try_from(numbers).ok())
        .ok_or_else(|| "not the numbers of three axes, as in 1,0,4".to_owned())
}

fn hold_time(text: &str) -> std::result::Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=5.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("not a time of 0.05 to 5 s".to_owned()),
    }
}

#[cfg(test)]
mod tests;
