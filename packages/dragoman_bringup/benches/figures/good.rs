//! Good clients: how long they wait while others attack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dragoman_bridge::player::wire::player::DEVICES;
use dragoman_ros::sensor_msgs::msg::JointState;
use futures::StreamExt;
use serde_json::json;

use crate::common::Lab;
use crate::common::apolo::{ApoloClient, request};
use crate::common::beside::Beside;
use crate::common::neobotix::{CONNECT, GET_STATUS, INIT, NeobotixClient, STOP};
use crate::common::player::{PlayerClient, SERVER, base};
use crate::common::web::Client;
use crate::table::{Figure, number};

/// Time between an answer and the next request.
const PERIOD: Duration = Duration::from_millis(5);
/// Time after which an answer to a datagram is lost.
const LOST: Duration = Duration::from_millis(500);
/// What a busy machine may add to the time of an answer.
const SLACK: f64 = 2.0;

/// Protocol and request of a good client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Good {
    /// `ST` of the 31-byte protocol.
    Arm31,
    /// Sets a robot's speed to zero.
    Apolo,
    /// `CMD_STOP`, and the status, because only that has an answer.
    Neobotix,
    /// Sets a base's speed to zero, and lists the devices, because that is answered at once.
    Player,
    /// A service of the base, called through rosbridge.
    Web,
}

pub(crate) const LEGACY: &[Good] = &[Good::Arm31, Good::Apolo, Good::Neobotix, Good::Player];
pub(crate) const ALL: &[Good] = &[Good::Arm31, Good::Apolo, Good::Neobotix, Good::Player, Good::Web];

/// Sends one request; returns whether the answer came.
type Ask = Box<dyn FnMut() -> bool + Send>;

impl Good {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Arm31 => "STOP of the arm",
            Self::Apolo => "STOP of Apolo",
            Self::Neobotix => "STOP of PlatformCtrl",
            Self::Player => "STOP of Player",
            Self::Web => "call of a web client",
        }
    }

    /// Maximum of the 99th percentile, ms.
    fn goal(self) -> f64 {
        if self == Self::Web { 50.0 } else { 10.0 }
    }

    fn connect(self, lab: &Lab) -> Ask {
        match self {
            Self::Arm31 => arm31(lab),
            Self::Apolo => apolo(lab),
            Self::Neobotix => neobotix(lab),
            Self::Player => player(lab),
            Self::Web => web(lab),
        }
    }
}

fn arm31(lab: &Lab) -> Ask {
    let client = lab.client();
    client.socket.set_read_timeout(Some(LOST)).unwrap();
    Box::new(move || {
        client.send("ST", [0.0; 7], 0);
        client.receive().is_some()
    })
}

fn apolo(lab: &Lab) -> Ask {
    let mut client = ApoloClient::new(lab.apolo);
    let stop = request(b'm', "", &["Neo"], &[0.0, 0.0, 0.01]);
    Box::new(move || !client.ask(&stop).is_empty())
}

fn neobotix(lab: &Lab) -> Ask {
    let mut client = NeobotixClient::new(lab.neobotix[0]);
    // From now on the platform is localized with each scan.
    client.order(&[CONNECT]);
    client.order(&[INIT]);
    Box::new(move || {
        client.order(&[STOP]);
        client.ask(&[GET_STATUS]);
        true
    })
}

fn player(lab: &Lab) -> Ask {
    let mut client = PlayerClient::connect(lab.player);
    client.subscribe(base(0));
    Box::new(move || {
        client.set_speed(base(0), 0.0, 0.0);
        !client.granted(SERVER, DEVICES.subtype, &()).is_empty()
    })
}

fn web(lab: &Lab) -> Ask {
    let mut client = Client::connect(lab.console);
    Box::new(move || client.call("/mobile_base/get_geometry", &json!({})).is_ok())
}

/// Good clients at work, each in a thread of its own.
pub(crate) struct Working {
    over: Arc<AtomicBool>,
    measured: Arc<AtomicBool>,
    clients: Vec<(Good, JoinHandle<Times>)>,
}

impl Working {
    /// Starts the requests; the measurement begins with [`measure`](Self::measure).
    pub(crate) fn start(lab: &Lab, kinds: &[Good]) -> Self {
        let (over, measured) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let clients = kinds.iter().map(|&kind| {
            let (mut ask, over, measured) = (kind.connect(lab), over.clone(), measured.clone());
            let thread = std::thread::spawn(move || times(&mut ask, &over, &measured));
            (kind, thread)
        });
        Self { clients: clients.collect(), over, measured }
    }

    pub(crate) fn measure(&self) {
        self.measured.store(true, Ordering::Relaxed);
    }

    /// Ends them, and returns how long they waited.
    pub(crate) fn figures(self, machine: &Times) -> Vec<Figure> {
        self.over.store(true, Ordering::Relaxed);
        let figures = self.clients.into_iter().map(|(kind, client)| {
            let what = format!("{}: p50 / p99 / longest, ms", kind.name());
            let Ok(times) = client.join() else {
                return Figure::new(what, "no answer").goal("p99", f64::INFINITY, kind.goal(), SLACK);
            };
            let figure = times.figure(what).goal("p99", times.percentile(99), kind.goal(), SLACK);
            let figure = figure.on_machine(machine.percentile(99));
            // Datagrams may be lost.
            if kind == Good::Arm31 { figure.goal("lost", times.lost as f64, 0.0, 1.0) } else { figure }
        });
        figures.collect()
    }
}

/// Sends requests until the end of the attack.
fn times(ask: &mut Ask, over: &AtomicBool, measured: &AtomicBool) -> Times {
    let mut times = Times::default();
    while !over.load(Ordering::Relaxed) {
        let is_measured = measured.load(Ordering::Relaxed);
        let asked = Instant::now();
        let is_answered = ask();
        if is_measured {
            times.add(asked.elapsed(), is_answered);
        }
        std::thread::sleep(PERIOD);
    }
    times.sorted()
}

/// Delay caused by the machine itself: how late a sleeping thread resumes.
pub(crate) struct Machine {
    over: Arc<AtomicBool>,
    sleeper: JoinHandle<Times>,
}

impl Machine {
    pub(crate) fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let asked_to_end = over.clone();
        let sleeper = std::thread::spawn(move || {
            let mut times = Times::default();
            while !asked_to_end.load(Ordering::Relaxed) {
                let asleep = Instant::now();
                std::thread::sleep(PERIOD);
                times.add(asleep.elapsed().saturating_sub(PERIOD), true);
            }
            times.sorted()
        });
        Self { over, sleeper }
    }

    pub(crate) fn times(self) -> Times {
        self.over.store(true, Ordering::Relaxed);
        self.sleeper.join().unwrap_or_default()
    }
}

/// Times of answers, ms, in the end sorted.
#[derive(Default)]
pub(crate) struct Times {
    all: Vec<f64>,
    asked: usize,
    lost: usize,
}

impl Times {
    /// Adds a wait, and those of the requests that would have been sent during it: otherwise a long wait would count as
    /// one of many.
    fn add(&mut self, time: Duration, is_answered: bool) {
        self.asked += 1;
        self.lost += usize::from(!is_answered);
        let waits = (0..).map(|turn| time.checked_sub(turn * PERIOD)).map_while(|wait| wait);
        self.all.extend(waits.map(|wait| wait.as_secs_f64() * 1e3));
    }

    pub(crate) fn of(times: impl IntoIterator<Item = Duration>) -> Self {
        let all: Vec<f64> = times.into_iter().map(|time| time.as_secs_f64() * 1e3).collect();
        Self { asked: all.len(), lost: 0, all }.sorted()
    }

    fn sorted(mut self) -> Self {
        self.all.sort_by(f64::total_cmp);
        self
    }

    /// Not a number if there is none.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let place = (self.all.len() * percent / 100).min(self.all.len().saturating_sub(1));
        self.all.get(place).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn figure(&self, what: impl Into<String>) -> Figure {
        let [median, p99, longest] = [50, 99, 100].map(|percent| number(self.percentile(percent)));
        let mut shown = format!("{median} / {p99} / {longest}");
        if self.lost > 0 {
            shown += &format!(", {} of {} lost", self.lost, self.asked);
        }
        Figure::new(what, shown)
    }
}

/// Subscribes to joint states, which are published at 100 Hz.
pub(crate) struct Gaps {
    over: Arc<AtomicBool>,
    listener: JoinHandle<Vec<Duration>>,
}

impl Gaps {
    pub(crate) fn start(domain: u16) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (asked_to_end, (sender, first)) = (over.clone(), std::sync::mpsc::channel());
        let listener = std::thread::spawn(move || {
            let mut beside = Beside::new(domain);
            let mut states = beside.subscribe::<JointState>("/ranger/joint_states");
            beside.next("the first joint states", &mut states);
            let _ = sender.send(());
            let (mut last, mut gaps) = (Instant::now(), Vec::new());
            while !asked_to_end.load(Ordering::Relaxed) {
                let next = async { tokio::time::timeout(Duration::from_secs(1), states.next()).await };
                let _ = beside.runtime.block_on(next);
                gaps.push(last.elapsed());
                last = Instant::now();
            }
            gaps
        });
        let _ = first.recv();
        Self { over, listener }
    }

    pub(crate) fn figure(self, machine: &Times) -> Figure {
        self.over.store(true, Ordering::Relaxed);
        let times = Times::of(self.listener.join().unwrap_or_default());
        times
            .figure("gaps of joint states: p50 / p99 / longest, ms")
            .goal("p99", times.percentile(99), 30.0, SLACK)
            .on_machine(machine.percentile(99))
            .goal("longest", times.percentile(100), 200.0, SLACK)
            .on_machine(machine.percentile(100))
    }
}
