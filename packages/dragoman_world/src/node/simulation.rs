//! The node of the simulator: the simulator's own topics in the TurtleBot thesis, table A.2, control of the simulation
//! (A.5), and manual operation of the robot.
//!
//! If the thesis shows no message type, the simplest type for the value is used: `std_msgs/Float64` for times, because
//! its programs read `.Data` (A.4), `std_msgs/Empty` for messages without data. Its function for the pose
//! (`getKobukiSimulationPoseMsg`, table 4.3) is not printed; here it is a `geometry_msgs/PoseStamped` in the world's
//! frame.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_base::kobuki::driver::LedColor;
use dragoman_ros::dragoman_msgs::srv::{PressButton, SetSimulationSpeed, SetTimeStep};
use dragoman_ros::geometry_msgs::msg::{PoseStamped, Twist};
use dragoman_ros::kobuki_ros_interfaces::msg::{DigitalOutput, ExternalPower, Led, MotorPower};
use dragoman_ros::parameters::Parameters;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_msgs::msg::{ColorRGBA, Empty, Float64, String as Text};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::times::SharedClock;
use dragoman_ros::velocity::{self, VelocityParameters};
use dragoman_ros::{
    Context, Node, Publisher, QosProfile, Result, WrappedTypesupport, parameters, poses, times,
};
use futures::StreamExt;
use parking_lot::Mutex;

use super::{ControlError, Live, WorldNodeError, listened};
use crate::WorldError;
use crate::console::Console;
use dragoman_sim::Kobuki;
use dragoman_sim::kobuki::Noise;
use dragoman_sim::serial::edge::RealTime;

/// Name of the node, and thus of its topics: `/simulation/pose`.
pub const NODE_NAME: &str = "simulation";
/// Maximum duration of a button press by one request, s.
const MAX_PRESS: f64 = 60.0;
/// Period of updating buttons and LEDs.
const HAND_PERIOD: Duration = Duration::from_millis(50);
/// Joints with commands that set `/vrep/last_cmd_time`; those of the base are below its name.
const JOINTS: [&str; 6] =
    ["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"];

/// Settings of the node.
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct SimulationSettings {
    /// Namespace of the robot with its commands, e.g. `/`.
    pub robot_namespace: String,
    pub worlds: Live,
    /// The robot's name in the first world that has it.
    pub robot: String,
    /// Its base, if it is simulated in this process.
    pub base: Option<RealTime<Kobuki>>,
}

parameters! {
    /// The parameters of the node.
    pub struct SimulationParameters {
        ..cmd_vel: VelocityParameters;
        /// Rate of pose and time while they have subscribers, Hz.
        rate: f64 = 50.0, in 0.1..=1000.0;
        /// Whether the samples of the simulated base's gyro, imu_data_raw, have noise and a bias.
        imu_noise: bool = true, settable;
        /// Whether the heading of the simulated base drifts by the gyro's noise, with imu_data and odom, as on a
        /// real one; includes imu_noise.
        heading_noise: bool, settable;
    }
}

/// Starts node `simulation` in the root namespace.
///
/// # Errors
/// A wrong parameter; an error of the middleware.
pub fn start(
    context: &Context,
    settings: SimulationSettings,
) -> std::result::Result<RunningNode, WorldNodeError> {
    let SimulationSettings { robot_namespace, worlds, robot, base } = settings;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, "")?);
    let parameters = tasks.declare(SimulationParameters::default())?;
    let values = parameters.read();
    serve_console(&mut tasks)?;
    serve_control(&mut tasks, &worlds, robot_namespace.trim_end_matches('/'))?;
    note_commands(&mut tasks, &values.cmd_vel, &worlds, robot_namespace.trim_end_matches('/'))?;
    if let Some(base) = base {
        follow_noise(&mut tasks, parameters, base.clone());
        serve_base(&mut tasks, base)?;
    }
    let mut truth = Truth::new(tasks.node(), worlds, robot)?;
    tasks.every(Duration::from_secs_f64(1.0 / values.rate), move || truth.publish())?;
    Ok(tasks.start()?)
}

fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

fn report(result: Result<()>) {
    if let Err(error) = result {
        tracing::warn!(%error, "publishing failed");
    }
}

/// The robot's true pose, and the time in its world.
struct Truth {
    worlds: Live,
    robot: String,
    clock: SharedClock,
    pose: Publisher<PoseStamped>,
    time: Publisher<Float64>,
}

impl Truth {
    fn new(node: &mut Node, worlds: Live, robot: String) -> Result<Self> {
        Ok(Self {
            worlds,
            robot,
            clock: node.get_ros_clock(),
            pose: node.create_publisher("~/pose", QosProfile::default())?,
            time: node.create_publisher("~/sim_time", QosProfile::default())?,
        })
    }

    fn publish(&mut self) {
        if listened(&self.time) {
            report(self.time.publish(&Float64 { data: self.worlds.time().as_secs_f64() }));
        }
        if listened(&self.pose) {
            // In another world file the robot may be missing.
            let Ok((frame, pose)) = self.worlds.pose(&self.robot) else { return };
            let mut message = PoseStamped { pose: poses::pose(&pose), ..Default::default() };
            message.header.stamp = times::stamp(&self.clock);
            message.header.frame_id = frame;
            report(self.pose.publish(&message));
        }
    }
}

/// Services that control the simulation, and its state.
fn serve_control(tasks: &mut NodeTasks, worlds: &Live, namespace: &str) -> Result<()> {
    let again = ResetRequests::new(tasks.node(), namespace)?;
    let shown: SharedPublisher<Text> = tasks.node().create_publisher("~/state", latched())?.into();
    report(shown.publish(&Text { data: worlds.run_state().to_string() }));
    let answer =
        |worlds: &Live, shown: &SharedPublisher<Text>, result: std::result::Result<(), ControlError>| {
            let state = worlds.run_state().to_string();
            report(shown.publish(&Text { data: state.clone() }));
            match result {
                Ok(()) => (true, state),
                Err(error) => (false, error.to_string()),
            }
        };
    let mut trigger =
        |name: &str, act: fn(&Live) -> std::result::Result<(), ControlError>, is_again: bool| {
            let (worlds, shown, again) = (worlds.clone(), shown.clone(), again.clone());
            tasks.serve::<Trigger::Service>(name, move |_request| {
                let result = act(&worlds);
                if is_again && result.is_ok() {
                    report(again.publish());
                }
                let (success, message) = answer(&worlds, &shown, result);
                Trigger::Response { success, message }
            })
        };
    trigger("~/start", Live::start, false)?;
    trigger("~/pause", Live::pause, false)?;
    trigger("~/stop", Live::stop, true)?;
    trigger("~/reset", Live::reset, true)?;
    let (speeds, speed_shown) = (worlds.clone(), shown.clone());
    tasks.serve::<SetSimulationSpeed::Service>("~/set_speed", move |request| {
        let (success, message) = answer(&speeds, &speed_shown, speeds.set_speed(request.factor));
        SetSimulationSpeed::Response { success, message }
    })?;
    let steps = worlds.clone();
    tasks.serve::<SetTimeStep::Service>("~/set_time_step", move |request| {
        let (success, message) = answer(&steps, &shown, steps.set_time_step(request.time_step));
        SetTimeStep::Response { success, message }
    })
}

/// Requests that a reset sends to the robot's drivers: they keep the odometry, the outputs and the switch of the
/// motors, and the modes and speeds of the joints, while their devices are reset.
#[derive(Clone)]
struct ResetRequests {
    odometry: SharedPublisher<Empty>,
    joints: SharedPublisher<Empty>,
    leds: [SharedPublisher<Led>; 2],
    outputs: SharedPublisher<DigitalOutput>,
    outlets: SharedPublisher<ExternalPower>,
    motors: SharedPublisher<MotorPower>,
}

impl ResetRequests {
    fn new(node: &mut Node, namespace: &str) -> Result<Self> {
        let base = format!("{namespace}/mobile_base/commands");
        let led = |node: &mut Node, name: &str| {
            let qos = QosProfile::default().keep_last(1);
            node.create_publisher(&format!("{base}/{name}"), qos).map(SharedPublisher::from)
        };
        Ok(Self {
            odometry: node.create_publisher(&format!("{base}/reset_odometry"), QosProfile::default())?.into(),
            joints: node
                .create_publisher(&format!("{namespace}/widowx/commands/begin_again"), QosProfile::default())?
                .into(),
            leds: [led(node, "led1")?, led(node, "led2")?],
            outputs: node.create_publisher(&format!("{base}/digital_output"), QosProfile::default())?.into(),
            outlets: node.create_publisher(&format!("{base}/external_power"), QosProfile::default())?.into(),
            motors: node.create_publisher(&format!("{base}/motor_power"), QosProfile::default())?.into(),
        })
    }

    fn publish(&self) -> Result<()> {
        self.odometry.publish(&Empty::default())?;
        self.joints.publish(&Empty::default())?;
        self.leds.iter().try_for_each(|led| led.publish(&Led { value: Led::BLACK as u8 }))?;
        self.outputs.publish(&DigitalOutput { values: vec![false; 4], mask: vec![true; 4] })?;
        for source in 0..4 {
            self.outlets.publish(&ExternalPower { source, state: ExternalPower::ON as u8 })?;
        }
        self.motors.publish(&MotorPower { state: MotorPower::ON as u8 })
    }
}

/// Status bar and console: in the log, and on one topic each.
fn serve_console(tasks: &mut NodeTasks) -> Result<()> {
    let bar = tasks.node().create_publisher::<Text>("vrep/status_bar", latched())?;
    tasks.subscribe("vrep/status_bar_message", QosProfile::default(), move |message: Text| {
        tracing::info!("status bar: {}", message.data);
        report(bar.publish(&message));
    })?;
    let shown = tasks.node().create_publisher::<Text>("vrep/aux_console/text", latched())?;
    let console = Arc::new(Mutex::new((Console::default(), shown)));
    let change = |act: fn(&mut Console)| {
        let console = Arc::clone(&console);
        move |_: Empty| touch(&console, act)
    };
    tasks.subscribe("vrep/aux_console/create", QosProfile::default(), change(Console::create))?;
    tasks.subscribe("vrep/aux_console/delete", QosProfile::default(), change(Console::delete))?;
    tasks.subscribe("vrep/aux_console/hide", QosProfile::default(), change(Console::hide))?;
    tasks.subscribe("vrep/aux_console/show", QosProfile::default(), change(Console::show))?;
    tasks.subscribe("vrep/aux_console/clear", QosProfile::default(), change(Console::clear))?;
    tasks.subscribe("vrep/aux_console/print", QosProfile::default().keep_last(100), move |message: Text| {
        tracing::info!("console: {}", message.data);
        touch(&console, |console| console.print(&message.data));
    })
}

fn touch(shared: &Mutex<(Console, Publisher<Text>)>, act: impl FnOnce(&mut Console)) {
    let mut shared = shared.lock();
    let (console, shown) = &mut *shared;
    act(console);
    report(shown.publish(&Text { data: console.text() }));
}

/// Publishes the time of the last command to the robot or the simulator. Service calls are not included.
fn note_commands(
    tasks: &mut NodeTasks,
    cmd_vel: &VelocityParameters,
    worlds: &Live,
    namespace: &str,
) -> Result<()> {
    let last = tasks.node().create_publisher::<Float64>("vrep/last_cmd_time", latched())?;
    let note = Note { worlds: worlds.clone(), last: last.into() };
    let base = format!("{namespace}/mobile_base/commands");
    velocity::subscribe(tasks, cmd_vel, &format!("{namespace}/cmd_vel"), Note::qos(), note.handler())?;
    note.of::<Twist>(tasks, &format!("{base}/velocity"))?;
    note.of::<Led>(tasks, &format!("{base}/led1"))?;
    note.of::<Led>(tasks, &format!("{base}/led2"))?;
    note.of::<MotorPower>(tasks, &format!("{base}/motor_power"))?;
    note.of::<Empty>(tasks, &format!("{base}/reset_odometry"))?;
    for joint in JOINTS {
        note.of::<Float64>(tasks, &format!("{namespace}/{joint}/command"))?;
    }
    Ok(())
}

struct Note {
    worlds: Live,
    last: SharedPublisher<Float64>,
}

impl Note {
    fn of<T: WrappedTypesupport + Send + 'static>(&self, tasks: &mut NodeTasks, topic: &str) -> Result<()> {
        tasks.subscribe(topic, Self::qos(), self.handler::<T>())
    }

    fn handler<T>(&self) -> impl FnMut(T) + Clone + Send + 'static + use<T> {
        let (worlds, last) = (self.worlds.clone(), self.last.clone());
        move |_| report(last.publish(&Float64 { data: worlds.time().as_secs_f64() }))
    }

    fn qos() -> QosProfile {
        QosProfile::default().keep_last(1)
    }
}

/// Sets the gyro's noise when its parameter changes.
fn follow_noise(tasks: &mut NodeTasks, parameters: Parameters<SimulationParameters>, base: RealTime<Kobuki>) {
    let set = move |values: &SimulationParameters| {
        let noise = match (values.imu_noise, values.heading_noise) {
            (_, true) => Noise::Typical,
            (true, false) => Noise::Raw,
            (false, false) => Noise::None,
        };
        base.with(|kobuki| kobuki.set_noise(noise));
    };
    set(&parameters.read());
    tasks.spawn(async move {
        let mut changes = parameters.changes();
        while changes.next().await.is_some() {
            set(&parameters.read());
        }
    });
}

/// Serves button presses, and publishes the LEDs.
fn serve_base(tasks: &mut NodeTasks, base: RealTime<Kobuki>) -> Result<()> {
    let held: Arc<Mutex<[Option<Instant>; 3]>> = Arc::default();
    let (pressed, touched) = (Arc::clone(&held), base.clone());
    tasks.serve::<PressButton::Service>("~/press_button", move |request| {
        match press(&pressed, &touched, &request) {
            Ok(()) => PressButton::Response { success: true, message: "pressed".to_owned() },
            Err(message) => PressButton::Response { success: false, message },
        }
    })?;
    let mut lamps = [
        tasks.node().create_publisher::<ColorRGBA>("~/led1", latched())?,
        tasks.node().create_publisher::<ColorRGBA>("~/led2", latched())?,
    ]
    .map(|publisher| (publisher, None));
    tasks.every(HAND_PERIOD, move || {
        let now = dragoman_time::now();
        let mut held = held.lock();
        let leds = base.with(|kobuki| {
            for (until, button) in held.iter_mut().zip(&mut kobuki.inputs.buttons) {
                if until.is_some_and(|until| until <= now) {
                    (*until, *button) = (None, false);
                }
            }
            kobuki.leds()
        });
        for ((publisher, shown), led) in lamps.iter_mut().zip(leds) {
            if *shown != Some(led) {
                *shown = Some(led);
                report(publisher.publish(&color(led)));
            }
        }
    })
}

fn press(
    held: &Mutex<[Option<Instant>; 3]>,
    base: &RealTime<Kobuki>,
    request: &PressButton::Request,
) -> std::result::Result<(), String> {
    let PressButton::Request { button, duration } = *request;
    let mut held = held.lock();
    let Some(until) = held.get_mut(usize::from(button)) else {
        return Err(format!("there is no button {button}: use 0, 1 or 2"));
    };
    // Also false for NaN.
    if !(duration > 0.0 && duration <= MAX_PRESS) {
        return Err(format!("a duration of {duration} s is not within 0 to {MAX_PRESS} s"));
    }
    let end = dragoman_time::now() + Duration::from_secs_f64(duration);
    *until = Some(until.map_or(end, |before| before.max(end)));
    base.with(|kobuki| {
        if let Some(input) = kobuki.inputs.buttons.get_mut(usize::from(button)) {
            *input = true;
        }
    });
    Ok(())
}

/// The colours of the TurtleBot thesis, 3.6.1.
fn color(led: LedColor) -> ColorRGBA {
    let [r, g, b] = match led {
        LedColor::Black => [0.4, 0.4, 0.4],
        LedColor::Green => [0.0, 1.0, 0.0],
        LedColor::Orange => [1.0, 0.5, 0.0],
        LedColor::Red => [1.0, 0.0, 0.0],
    };
    ColorRGBA { r, g, b, a: 1.0 }
}

impl Live {
    /// The worlds' time.
    pub fn time(&self) -> Duration {
        self.with(|state| state.pace.time())
    }

    /// Pose of an object in the frame of its world.
    ///
    /// # Errors
    /// Unknown object.
    pub fn pose(&self, object: &str) -> std::result::Result<(String, nalgebra::Isometry3<f64>), WorldError> {
        self.with(|state| {
            let worlds = state.pace.worlds();
            let pose = worlds.pose(None, object)?;
            let holder = worlds.worlds().iter().enumerate().find(|(_, world)| world.pose(object).is_ok());
            let frame =
                holder.map_or_else(|| "map".to_owned(), |(at, world)| super::frames::world_frame(at, world));
            Ok((frame, pose))
        })
    }
}
