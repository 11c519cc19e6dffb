//! Velocities with and without a header.

use std::sync::mpsc;

use dragoman_ros::geometry_msgs::msg::{Twist, TwistStamped};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::velocity::{self, VelocityParameters};
use dragoman_ros::{QosProfile, WrappedTypesupport};

use super::{TIMEOUT, node, run, soon, started_with};

/// Checks that a node that subscribes to velocities receives `message`.
#[track_caller]
fn takes<T: WrappedTypesupport + 'static>(test: &str, message: &T) {
    let mut tasks = NodeTasks::new(node("base", test));
    let parameters = tasks.declare(VelocityParameters::default()).unwrap().read();
    let (sender, received) = mpsc::channel();
    velocity::subscribe(&mut tasks, &parameters, "cmd_vel", QosProfile::default(), move |twist| {
        let _ = sender.send(twist.linear.x);
    })
    .unwrap();
    let mut user = node("user", test);
    let publisher = user.create_publisher::<T>("cmd_vel", QosProfile::default()).unwrap();
    let subscribed = publisher.wait_for_inter_process_subscribers().unwrap();
    let _working = [run(tasks), run(NodeTasks::new(user))];
    soon(subscribed).unwrap();
    publisher.publish(message).unwrap();
    assert_eq!(received.recv_timeout(TIMEOUT), Ok(0.25));
}

fn twist() -> Twist {
    let mut twist = Twist::default();
    twist.linear.x = 0.25;
    twist
}

fn stamped() -> TwistStamped {
    TwistStamped { twist: twist(), ..Default::default() }
}

#[test]
fn a_velocity_without_a_header_is_taken() {
    takes("plain", &twist());
}

#[test]
fn with_the_parameter_a_velocity_with_a_header_is_taken() {
    let test = "velocity::with_the_parameter_a_velocity_with_a_header_is_taken";
    if started_with(test, &["-p", "enable_stamped_cmd_vel:=true"]) {
        takes("stamped", &stamped());
    }
}

#[cfg(not(feature = "r2r"))]
#[test]
fn the_embedded_implementation_takes_both_whatever_the_parameter_says() {
    takes("both", &stamped());
    let test = "velocity::the_embedded_implementation_takes_both_whatever_the_parameter_says";
    if started_with(test, &["-p", "enable_stamped_cmd_vel:=true"]) {
        takes("plain", &twist());
    }
}
