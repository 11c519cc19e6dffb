//! Clocks and timers.

use std::time::{Duration, Instant, SystemTime};

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Clock, ClockType};

use super::{node, run, soon};

#[test]
fn a_timer_keeps_its_period_on_average() {
    const PERIOD: Duration = Duration::from_millis(20);
    const TICKS: u32 = 20;
    let mut node = node("clock", "timer");
    let mut timer = node.create_wall_timer(PERIOD).unwrap();
    let _working = run(NodeTasks::new(node));
    soon(timer.tick()).unwrap();
    let start = Instant::now();
    for _ in 0..TICKS {
        soon(timer.tick()).unwrap();
    }
    // A tick may be late, but none is early by more than the first was late.
    assert!(start.elapsed() > PERIOD * TICKS / 2, "{:?}", start.elapsed());
}

#[test]
fn a_clock_without_simulation_shows_the_systems_time() {
    let node = node("clock", "system");
    let unix = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let before = unix();
    let shown = node.get_ros_clock().lock().unwrap().get_now().unwrap();
    let system = Clock::create(ClockType::SystemTime).unwrap().get_now().unwrap();
    assert!(before <= shown && shown <= system && system <= unix());
    let stamp = Clock::to_builtin_time(&Duration::new(5, 7));
    assert_eq!((stamp.sec, stamp.nanosec), (5, 7));
}

/// r2r's documentation build has no `/clock`.
#[cfg(not(feature = "r2r-doc-only"))]
#[test]
fn with_use_sim_time_a_clock_follows_the_clock_topic() {
    use dragoman_ros::{QosProfile, parameters, rosgraph_msgs};

    parameters! {
        struct EveryNodeParameters {
            /// Declared for every node.
            use_sim_time: bool;
        }
    }

    let test = "time::with_use_sim_time_a_clock_follows_the_clock_topic";
    if !super::started_with(test, &["-p", "use_sim_time:=true"]) {
        return;
    }
    let (mut node, mut world) = (node("arm", "simulated"), super::node("world", "simulated"));
    let (values, server) = parameters::declare(&mut node, EveryNodeParameters::default()).unwrap();
    assert!(values.read().use_sim_time);
    let clock = node.get_ros_clock();
    let now = || clock.lock().unwrap().get_now().unwrap();
    assert_eq!(now(), Duration::ZERO);
    let publisher =
        world.create_publisher::<rosgraph_msgs::msg::Clock>("/clock", QosProfile::default()).unwrap();
    let subscribed = publisher.wait_for_inter_process_subscribers().unwrap();
    let mut tasks = NodeTasks::new(node);
    tasks.spawn(server);
    let _working = [run(tasks), run(NodeTasks::new(world))];
    soon(subscribed).unwrap();
    for time in [Duration::from_millis(123_500), Duration::from_secs(200)] {
        let end = Instant::now() + super::TIMEOUT;
        // The subscription is best effort.
        while now() != time {
            assert!(Instant::now() < end, "{:?} instead of {time:?}", now());
            publisher.publish(&rosgraph_msgs::msg::Clock { clock: Clock::to_builtin_time(&time) }).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
