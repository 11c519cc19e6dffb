//! Interfaces of a Kobuki besides its motion: sensors, events, LEDs, outputs, sounds.

use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_io::serial::Line;
use dragoman_ros::kobuki_ros_interfaces::msg as kobuki;
use dragoman_ros::sensor_msgs::msg::{BatteryState, Imu};
use dragoman_ros::shared::listened;
use dragoman_ros::std_msgs::msg::{Empty, Int16MultiArray, String as Text};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Clock, Node, Publisher, QosProfile, Result, WrappedTypesupport};

use super::messages::{self, SampleTimes};
use super::motion::{MotionTopics, log_expired, log_motors, log_robot};
use super::parameters::KobukiParameters;
use crate::kobuki::driver::{Driver, Event, KobukiState, Led, LedColor, Record, Recorded};
use crate::kobuki::wire::{ControllerGains, SoundSequence};
use dragoman_ros::diagnostics::Refusals;

/// Topics of a Kobuki's sensors.
pub(super) struct KobukiTopics {
    motion: MotionTopics,
    /// Number of published measurements.
    published: u64,
    samples: SampleTimes,
    core: Publisher<kobuki::SensorState>,
    dock_ir: Publisher<kobuki::DockInfraRed>,
    battery: Publisher<BatteryState>,
    imu: Publisher<Imu>,
    raw_imu: Publisher<Imu>,
    version: Publisher<kobuki::VersionInfo>,
    controller: Publisher<kobuki::ControllerInfo>,
    bumper: Publisher<kobuki::BumperEvent>,
    button: Publisher<kobuki::ButtonEvent>,
    cliff: Publisher<kobuki::CliffEvent>,
    wheel_drop: Publisher<kobuki::WheelDropEvent>,
    power_system: Publisher<kobuki::PowerSystemEvent>,
    digital_input: Publisher<kobuki::DigitalInputEvent>,
    robot_state: Publisher<kobuki::RobotStateEvent>,
    raw_command: Publisher<Text>,
    raw_stream: Publisher<Text>,
    raw_control: Publisher<Int16MultiArray>,
    /// Where the sensors are; late subscribers get it as long as the publisher is there.
    _places: Option<Publisher<TFMessage>>,
}

/// Subscribes to a Kobuki's commands, and creates its topics.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    line: &Line<Driver>,
    values: &KobukiParameters,
    motion: MotionTopics,
    refusals: &Refusals,
) -> Result<KobukiTopics> {
    subscribe(tasks, line, refusals)?;
    KobukiTopics::new(tasks.node(), values, motion)
}

impl KobukiTopics {
    fn new(node: &mut Node, values: &KobukiParameters, motion: MotionTopics) -> Result<Self> {
        let events = || QosProfile::default().keep_last(100);
        let latched = || QosProfile::default().keep_last(1).transient_local();
        let places =
            values.publish_sensor_tf.then(|| node.create_publisher("/tf_static", latched())).transpose()?;
        if let Some(places) = &places {
            places.publish(&messages::sensor_places(&motion.stamp(), &values.base.base_frame))?;
        }
        let topics = Self {
            motion,
            published: 0,
            samples: SampleTimes::default(),
            core: node.create_publisher("~/sensors/core", QosProfile::default())?,
            dock_ir: node.create_publisher("~/sensors/dock_ir", QosProfile::default())?,
            battery: node.create_publisher("~/sensors/battery_state", QosProfile::default())?,
            imu: node.create_publisher("~/sensors/imu_data", QosProfile::default())?,
            raw_imu: node.create_publisher("~/sensors/imu_data_raw", QosProfile::default())?,
            version: node.create_publisher("~/version_info", latched())?,
            controller: node.create_publisher("~/controller_info", latched())?,
            bumper: node.create_publisher("~/events/bumper", events())?,
            button: node.create_publisher("~/events/button", events())?,
            cliff: node.create_publisher("~/events/cliff", events())?,
            wheel_drop: node.create_publisher("~/events/wheel_drop", events())?,
            power_system: node.create_publisher("~/events/power_system", events())?,
            digital_input: node.create_publisher("~/events/digital_input", events())?,
            robot_state: node.create_publisher("~/events/robot_state", latched())?,
            raw_command: node.create_publisher("~/debug/raw_data_command", events())?,
            raw_stream: node.create_publisher("~/debug/raw_data_stream", events())?,
            raw_control: node.create_publisher("~/debug/raw_control_command", events())?,
            _places: places,
        };
        topics.robot_state.publish(&messages::robot_state(false))?;
        Ok(topics)
    }

    /// Publishes new data; returns whether there was a measurement.
    pub(super) fn update(&mut self, line: &Line<Driver>) -> bool {
        let recorded = Recorded {
            sent: listened(&self.raw_command),
            received: listened(&self.raw_stream),
            velocities: listened(&self.raw_control),
        };
        let (state, events, records) = line.look(|driver| {
            driver.record(recorded);
            let events: Vec<Event> = std::iter::from_fn(|| driver.poll_event()).collect();
            let records: Vec<Record> = std::iter::from_fn(|| driver.poll_record()).collect();
            let state = driver.state();
            self.motion.show_motors(state.motor_power);
            (state, events, records)
        });
        let measured = state.feedback_frames != self.published;
        self.published = state.feedback_frames;
        let now = self.motion.now();
        let stamp = Clock::to_builtin_time(&now);
        let published = events
            .into_iter()
            .try_for_each(|event| self.publish_event(&event, &state))
            .and_then(|()| records.iter().try_for_each(|record| self.publish_record(record)))
            .and_then(|()| if measured { self.publish_sensors(now, &state) } else { Ok(()) })
            .and_then(|()| if measured { self.motion.publish(&stamp, &(&state).into()) } else { Ok(()) });
        if let Err(error) = published {
            tracing::warn!(%error, "publishing failed");
        }
        measured
    }

    fn publish_sensors(&mut self, now: Duration, state: &KobukiState) -> Result<()> {
        let sensors = &state.sensors;
        let stamp = Clock::to_builtin_time(&now);
        if let Some(core) = &sensors.core {
            self.core.publish(&messages::sensor_state(stamp.clone(), core, sensors))?;
        }
        if let Some(dock) = &sensors.dock_ir {
            self.dock_ir.publish(&messages::dock_infra_red(stamp.clone(), dock))?;
        }
        if let Some(battery) = &state.battery {
            self.battery.publish(&messages::battery_state(stamp.clone(), battery))?;
        }
        if let Some(inertia) = &sensors.inertia {
            self.imu.publish(&messages::imu(stamp.clone(), state.heading, inertia.rate()))?;
        }
        if let Some(gyro) = &sensors.gyro {
            let times = self.samples.arrived(now, gyro.readings().len() as u32);
            messages::raw_imu(times.map(|time| Clock::to_builtin_time(&time)), gyro)
                .try_for_each(|imu| self.raw_imu.publish(&imu))?;
        }
        Ok(())
    }

    fn publish_record(&self, record: &Record) -> Result<()> {
        match record {
            Record::Sent(bytes) => self.raw_command.publish(&messages::raw_data(bytes)),
            Record::Received(bytes) => self.raw_stream.publish(&messages::raw_data(bytes)),
            Record::Velocity { control, twist } => {
                self.raw_control.publish(&messages::raw_control(control, twist))
            }
        }
    }

    fn publish_event(&self, event: &Event, state: &KobukiState) -> Result<()> {
        match *event {
            Event::Bumper { side, pressed } => self.bumper.publish(&messages::bumper(side, pressed)),
            Event::Cliff { side, cliff, reading } => {
                self.cliff.publish(&messages::cliff(side, cliff, reading))
            }
            Event::WheelDrop { wheel, dropped } => {
                self.wheel_drop.publish(&messages::wheel_drop(wheel, dropped))
            }
            Event::Button { button, pressed } => {
                self.button.publish(&kobuki::ButtonEvent { button, state: pressed.into() })
            }
            Event::Power(event) => self.power_system.publish(&messages::power_system(event)),
            Event::Input(inputs) => self.digital_input.publish(&messages::digital_input(inputs)),
            Event::Robot { online } => {
                log_robot(online);
                self.robot_state.publish(&messages::robot_state(online))
            }
            Event::Identified => self.version.publish(&messages::version_info(&state.identity)),
            Event::Gains(gains) => self.controller.publish(&messages::controller_info(&gains)),
            Event::MotorPower { on } => {
                log_motors(on);
                Ok(())
            }
            Event::CommandExpired => {
                log_expired();
                Ok(())
            }
        }
    }
}

/// The reason of a refusal, or `Ok`.
type Outcome = std::result::Result<(), String>;

fn subscribe(tasks: &mut NodeTasks, line: &Line<Driver>, refusals: &Refusals) -> Result<()> {
    for (topic, led) in [("~/commands/led1", Led::One), ("~/commands/led2", Led::Two)] {
        take(tasks, line, refusals, topic, move |driver, message: kobuki::Led| {
            let color = LedColor::from_number(message.value)
                .ok_or_else(|| format!("an LED has no colour {}", message.value))?;
            driver.set_led(led, color);
            Ok(())
        })?;
    }
    take(tasks, line, refusals, "~/commands/digital_output", |driver, message: kobuki::DigitalOutput| {
        driver.set_digital_outputs(messages::masked(&message.values, &message.mask));
        Ok(())
    })?;
    take(tasks, line, refusals, "~/commands/external_power", |driver, message: kobuki::ExternalPower| {
        let mut outlets = [None; 4];
        let outlet = outlets
            .get_mut(usize::from(message.source))
            .ok_or_else(|| format!("there is no power outlet {}", message.source))?;
        *outlet = Some(on_off("a power outlet", message.state)?);
        driver.set_external_power(outlets);
        Ok(())
    })?;
    take(tasks, line, refusals, "~/commands/sound", |driver, message: kobuki::Sound| {
        let sequence = SoundSequence::from_number(message.value)
            .ok_or_else(|| format!("there is no sound {}", message.value))?;
        driver.play_sequence(sequence).map_err(|refusal| refusal.to_string())
    })?;
    take(tasks, line, refusals, "~/commands/motor_power", |driver, message: kobuki::MotorPower| {
        let on = on_off("motor power", message.state)?;
        driver.set_motor_power(on).map_err(|refusal| refusal.to_string())
    })?;
    take(tasks, line, refusals, "~/commands/controller_info", |driver, message: kobuki::ControllerInfo| {
        let gains = ControllerGains {
            kind: message.type_,
            p_thousandths: thousandths("P gain", message.p_gain)?,
            i_thousandths: thousandths("I gain", message.i_gain)?,
            d_thousandths: thousandths("D gain", message.d_gain)?,
        };
        if gains.kind > 1 {
            return Err(format!("controller type {} is neither 0 (default) nor 1 (user's)", gains.kind));
        }
        driver.set_controller_gains(gains).map_err(|refusal| refusal.to_string())
    })?;
    take(tasks, line, refusals, "~/commands/reset_odometry", |driver, _message: Empty| {
        driver.set_odometry(Pose::ORIGIN).map_err(|error| error.to_string())
    })
}

fn take<T: WrappedTypesupport + Send + 'static>(
    tasks: &mut NodeTasks,
    line: &Line<Driver>,
    refusals: &Refusals,
    topic: &'static str,
    take: impl Fn(&mut Driver, T) -> Outcome + Send + 'static,
) -> Result<()> {
    let (line, refusals) = (line.clone(), refusals.clone());
    tasks.subscribe(topic, QosProfile::default(), move |message: T| {
        if let Err(reason) = line.with(|_, driver| take(driver, message)) {
            refusals.note(&format_args!("{topic}: {reason}"));
        }
    })
}

fn on_off(what: &str, state: u8) -> std::result::Result<bool, String> {
    match state {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(format!("{what} is 0 (off) or 1 (on), not {state}")),
    }
}

/// A gain in the units of the line.
fn thousandths(what: &str, gain: f64) -> std::result::Result<u32, String> {
    let thousandths = (gain * 1000.0).round();
    if (0.0..=f64::from(u32::MAX)).contains(&thousandths) {
        Ok(thousandths as u32)
    } else {
        Err(format!("a {what} of {gain} is outside the protocol's range"))
    }
}
