//! A lab in the test's own thread, on virtual time, and its clients.
//!
//! While a [`Lab`] exists, its thread is in the simulation: `dragoman_time::now()` and all nodes that the test makes have
//! its time. Nothing happens until [`block_on`], or what is built on it, runs the lab.

#[path = "../../../dragoman_bridge/tests/apolo_node/client.rs"]
pub(crate) mod apolo;
#[path = "../common/arm31.rs"]
mod arm31;
#[path = "common/beside.rs"]
pub(crate) mod beside;
#[path = "../common/neobotix.rs"]
pub(crate) mod neobotix;
#[path = "common/platform.rs"]
pub(crate) mod platform;
#[path = "../common/player.rs"]
pub(crate) mod player;
#[path = "../common/recording.rs"]
pub(crate) mod recording;
#[path = "../common/web.rs"]
pub(crate) mod web;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman_bringup::lab::{self, LabOptions, run_until};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{
    Arguments, Client, Context, Node, Publisher, QosProfile, WrappedServiceTypeSupport, WrappedTypesupport,
    logging,
};
use dragoman_time::{Simulation, SimulationGuard};
use futures::{Stream, StreamExt};
use tracing::dispatcher::DefaultGuard;

#[allow(unused_imports, reason = "shared with the tests of processes")]
pub(crate) use arm31::{ArmClient, ArmReply, distance, roll_pitch_yaw};

/// Time limit of a wait.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The seed of tests by default. `DRAGOMAN_TEST_SEED` replaces it.
const SEED: u64 = 1;

/// The simulation of a test, with its programs.
struct World {
    programs: RefCell<Vec<lab::Lab>>,
    /// How many folders of programs there are.
    folders: Cell<usize>,
    // Fields are dropped in this order.
    _guard: SimulationGuard,
    _log: DefaultGuard,
    simulation: Simulation,
    folder: Folder,
}

thread_local! {
    static WORLD: RefCell<Weak<World>> = const { RefCell::new(Weak::new()) };
}

/// The simulation of this test; a new one if there is none.
fn world(seed: u64) -> Rc<World> {
    if let Some(world) = WORLD.with_borrow(Weak::upgrade) {
        return world;
    }
    let seed = std::env::var("DRAGOMAN_TEST_SEED").ok().map_or(seed, |text| text.parse().unwrap());
    println!("seed {seed}: DRAGOMAN_TEST_SEED={seed} repeats this run");
    let simulation = Simulation::new(seed);
    let guard = simulation.guard();
    // Captured by the test if it does not fail.
    let log = tracing::dispatcher::set_default(&logging::of_lab("info", true).unwrap());
    let world = Rc::new(World {
        programs: RefCell::default(),
        folders: Cell::new(0),
        _guard: guard,
        _log: log,
        simulation,
        folder: Folder::new(),
    });
    WORLD.set(Rc::downgrade(&world));
    world
}

fn present() -> Rc<World> {
    WORLD.with_borrow(Weak::upgrade).expect("a lab")
}

/// A simulation without programs yet, for objects that exist before the first of them. The labs that start while this
/// exists join it.
pub(crate) struct Simulated(Rc<World>);

impl Simulated {
    pub(crate) fn new() -> Self {
        Self(world(SEED))
    }

    pub(crate) fn simulation(&self) -> &Simulation {
        &self.0.simulation
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.programs.borrow_mut().clear();
    }
}

/// A folder that is removed at the end, also of a test that fails.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("virtual_{}_{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file; returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the lab until `future` is ready.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let world = present();
    let mut programs = world.programs.borrow_mut();
    let ended = world.simulation.block_on(run_until(&mut programs, future));
    ended.unwrap_or_else(|(number, ended)| panic!("program {number} has ended: {ended:?}"))
}

/// Runs the lab for `time`.
#[track_caller]
pub(crate) fn sleep(time: Duration) {
    block_on(dragoman_time::sleep(time));
}

/// Runs the lab until a condition holds. It is checked every millisecond.
#[track_caller]
pub(crate) fn until(what: &str, holds: impl FnMut() -> bool) {
    within(TIME_LIMIT, what, holds);
}

/// As [`until`], at most for `limit`.
#[track_caller]
pub(crate) fn within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = dragoman_time::now();
    while !holds() {
        assert!(dragoman_time::since(start) < limit, "{what} does not happen within {limit:?}");
        sleep(Duration::from_millis(1));
    }
}

/// The next item of a stream.
#[track_caller]
pub(crate) fn next<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> T {
    find(stream, Some)
}

/// The first value that `find` returns.
#[track_caller]
pub(crate) fn find<T, R>(
    stream: &mut (impl Stream<Item = T> + Unpin),
    mut find: impl FnMut(T) -> Option<R>,
) -> R {
    let found = async {
        loop {
            let item = stream.next().await.expect("the stream goes on");
            if let Some(found) = find(item) {
                return found;
            }
        }
    };
    block_on(dragoman_time::timeout(TIME_LIMIT, found)).expect("what is looked for does not come")
}

/// A running program: `dragoman up`, or another server.
pub(crate) struct Lab {
    world: Rc<World>,
    /// Its place among the programs of the simulation.
    number: usize,
    folder: PathBuf,
    pub(crate) domain: u16,
    /// Address of the 31-byte protocol.
    pub(crate) address: SocketAddr,
    /// Address of Apolo's protocol.
    pub(crate) apolo: SocketAddr,
    /// Addresses of PlatformCtrl's protocol.
    pub(crate) neobotix: Vec<SocketAddr>,
    /// Address of Player's protocol.
    pub(crate) player: SocketAddr,
    /// Address of the console.
    pub(crate) console: SocketAddr,
    /// Address of Foxglove's protocol.
    pub(crate) foxglove: SocketAddr,
    /// Its output up to `ready`.
    pub(crate) banner: Vec<String>,
}

impl Lab {
    /// `dragoman up`.
    #[track_caller]
    pub(crate) fn start() -> Self {
        Self::start_with(0, &["up"], &[])
    }

    /// Some parts of `dragoman up`, separated by commas: a test starts those that it needs.
    #[track_caller]
    pub(crate) fn only(parts: &str) -> Self {
        Self::start_with(0, &["up", "--only", parts], &[])
    }

    #[track_caller]
    pub(crate) fn start_with(domain: u16, arguments: &[&str], ros_arguments: &[&str]) -> Self {
        Self::start_in(&[], domain, arguments, ros_arguments)
    }

    /// With environment variables.
    #[track_caller]
    pub(crate) fn start_in(
        variables: &[(&str, &str)],
        domain: u16,
        arguments: &[&str],
        ros_arguments: &[&str],
    ) -> Self {
        Self::try_start(SEED, variables, domain, arguments, ros_arguments).unwrap()
    }

    /// With a seed, for the first program of a simulation.
    #[track_caller]
    pub(crate) fn try_start(
        seed: u64,
        variables: &[(&str, &str)],
        domain: u16,
        arguments: &[&str],
        ros_arguments: &[&str],
    ) -> Result<Self, String> {
        let world = world(seed);
        let options = options(&world, variables, domain, arguments, ros_arguments);
        let folder = options.folder.clone();
        // Other programs of the simulation wait meanwhile.
        let started = lab::Lab::start(&world.simulation, options).map_err(|error| error.to_string())?;
        Ok(Self::of(world, domain, folder, started))
    }

    /// Two programs with the same arguments at the same time.
    #[track_caller]
    pub(crate) fn start_twice(
        seed: u64,
        domain: u16,
        arguments: &[&str],
        ros_arguments: &[&str],
    ) -> [Self; 2] {
        let world = world(seed);
        let options = [(); 2].map(|()| options(&world, &[], domain, arguments, ros_arguments));
        let folders = options.each_ref().map(|options| options.folder.clone());
        let started = lab::Lab::start_together(&world.simulation, options).unwrap();
        let labs = started.into_iter().zip(folders);
        let labs = labs.map(|(started, folder)| Self::of(Rc::clone(&world), domain, folder, started));
        let labs: Vec<Self> = labs.collect();
        labs.try_into().unwrap_or_else(|_| panic!("two labs"))
    }

    fn of(world: Rc<World>, domain: u16, folder: PathBuf, started: lab::Lab) -> Self {
        let number = world.programs.borrow().len();
        let banner: Vec<String> = started.banner().lines().map(str::to_owned).collect();
        world.programs.borrow_mut().push(started);
        let addresses = |protocol: &str| -> Vec<SocketAddr> {
            let rows = banner.iter().filter(|line| line.contains(protocol));
            rows.filter_map(|row| row.split_whitespace().find_map(|word| word.parse().ok())).collect()
        };
        let address =
            |protocol: &str| addresses(protocol).first().copied().unwrap_or(([127, 0, 0, 1], 0).into());
        let web = |scheme: &str| {
            let mut found =
                banner.iter().filter_map(|line| line.split_once(scheme)?.1.split('/').next()?.parse().ok());
            found.next().unwrap_or(([127, 0, 0, 1], 0).into())
        };
        Self {
            number,
            folder,
            domain,
            address: address("31-byte arm protocol"),
            apolo: address("Apolo's protocol"),
            neobotix: addresses("PlatformCtrl's protocol"),
            player: address("Player's protocol"),
            console: web("http://"),
            foxglove: web("ws://"),
            banner,
            world,
        }
    }

    /// A client of its 31-byte protocol.
    pub(crate) fn client(&self) -> ArmClient {
        ArmClient::new(self.address)
    }

    /// Its folder, `HOME` of its environment.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The present use of all bounds in the simulation; unused ones are left out.
    pub(crate) fn held(&self) -> BTreeMap<&'static str, usize> {
        let held = self.world.simulation.held().into_iter().map(|(name, held)| (name, held.now));
        held.filter(|(_, now)| *now > 0).collect()
    }

    /// Its output since the last call.
    pub(crate) fn output(&self) -> String {
        self.world.programs.borrow()[self.number].program().take_output()
    }

    /// All that it has printed from its start to now.
    fn printed(&self) -> String {
        let beginning = self.world.programs.borrow()[self.number].banner().to_owned();
        beginning + &self.output()
    }

    /// Ends it as a signal does; returns how it has ended, and after which time.
    #[track_caller]
    pub(crate) fn end(&self) -> (Result<(), String>, Duration) {
        self.world.programs.borrow()[self.number].stop();
        self.ended()
    }

    /// Which of the running programs ends next, and how, if one does within `limit`.
    #[track_caller]
    pub(crate) fn next_end(&self, limit: Duration) -> Option<(usize, Result<(), String>)> {
        let mut programs = self.world.programs.borrow_mut();
        let never = dragoman_time::sleep(limit);
        self.world.simulation.block_on(run_until(&mut programs, never)).err()
    }

    /// Runs the simulation until this program ends by itself; returns how, and after which time.
    #[track_caller]
    pub(crate) fn ended(&self) -> (Result<(), String>, Duration) {
        self.ended_within(TIME_LIMIT)
    }

    /// As [`Lab::ended`], at most for `limit`.
    #[track_caller]
    pub(crate) fn ended_within(&self, limit: Duration) -> (Result<(), String>, Duration) {
        let start = dragoman_time::now();
        let mut programs = self.world.programs.borrow_mut();
        let never = dragoman_time::sleep(limit);
        match self.world.simulation.block_on(run_until(&mut programs, never)) {
            Err((number, ended)) if number == self.number => (ended, dragoman_time::since(start)),
            Err((number, ended)) => panic!("program {number} has ended: {ended:?}"),
            Ok(()) => panic!("the program does not end"),
        }
    }

    /// The history of its simulation.
    pub(crate) fn simulation(&self) -> &Simulation {
        &self.world.simulation
    }
}

/// Command line and environment of a program, with a folder of its own.
fn options(
    world: &World,
    variables: &[(&str, &str)],
    domain: u16,
    arguments: &[&str],
    ros_arguments: &[&str],
) -> LabOptions {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut arguments = owned(arguments);
    arguments.extend(owned(&["--domain", &domain.to_string(), "--ros-args"]));
    arguments.extend(owned(ros_arguments));
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let number = world.folders.get();
    world.folders.set(number + 1);
    let folder = world.folder.0.join(number.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    LabOptions { arguments, variables, folder }
}

/// Time after which a tool hangs.
const LONG: Duration = Duration::from_secs(3600);

/// Runs a tool of `dragoman`, for example `evaluate run`, until it ends; returns what it has printed, or why it fails.
#[track_caller]
pub(crate) fn run(domain: u16, arguments: &[&str]) -> Result<String, String> {
    let tool = Lab::try_start(SEED, &[], domain, arguments, &[])?;
    let (ended, _) = tool.ended_within(LONG);
    ended.map(|()| tool.printed())
}

/// The context of another program of this domain.
pub(crate) fn context(domain: u16) -> Context {
    Context::in_memory(domain, Arguments::default()).unwrap()
}

/// A node of another program.
pub(crate) fn node(domain: u16) -> Node {
    Node::create(context(domain), "observer", "").unwrap()
}

pub(crate) type Log<T> = Arc<Mutex<Vec<T>>>;

/// Another program, in ROS.
pub(crate) struct Program {
    pub(crate) tasks: NodeTasks,
}

impl Program {
    pub(crate) fn new(lab: &Lab) -> Self {
        let node = Node::create(context(lab.domain), "program", "").unwrap();
        Self { tasks: NodeTasks::new(node) }
    }

    pub(crate) fn record<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Log<T> {
        let log = Log::default();
        let sink = Arc::clone(&log);
        self.tasks.subscribe(topic, qos, move |message: T| sink.lock().unwrap().push(message)).unwrap();
        log
    }

    pub(crate) fn publisher<T: WrappedTypesupport>(&mut self, topic: &str) -> Publisher<T> {
        self.tasks.node().create_publisher(topic, QosProfile::default()).unwrap()
    }

    pub(crate) fn client<S: WrappedServiceTypeSupport + 'static>(&mut self, name: &str) -> Client<S> {
        self.tasks.node().create_client(name, QosProfile::services_default()).unwrap()
    }

    pub(crate) fn start(self) {
        dragoman_time::spawn(self.tasks.start().unwrap());
    }
}

/// The answer of a service, for which it waits.
#[track_caller]
pub(crate) fn call<S: WrappedServiceTypeSupport + 'static>(
    client: &Client<S>,
    request: &S::Request,
) -> S::Response {
    let answer = async {
        Node::is_available(client).unwrap().await.unwrap();
        client.request(request).unwrap().await.unwrap()
    };
    let answer = block_on(dragoman_time::timeout(TIME_LIMIT, answer));
    answer.unwrap_or_else(|_| panic!("no answer from {}", std::any::type_name::<S>()))
}

pub(crate) fn last<T: Clone>(log: &Log<T>) -> Option<T> {
    log.lock().unwrap().last().cloned()
}

pub(crate) fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}
