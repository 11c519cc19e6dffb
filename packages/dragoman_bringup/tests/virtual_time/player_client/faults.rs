//! Lost connections, broken streams, devices that are repaired.

use super::Operator;
use super::server::Manner;
use dragoman_bridge::player::wire::power;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::std_srvs::srv::SetBool;
use futures::stream::BoxStream;

#[test]
fn a_server_that_fails_is_reported_and_connected_again() {
    let limits = ["-p", "player_client:answer_timeout:=1.0"];
    let mut operator = Operator::new(&[], &limits);
    let mut odom = operator.beside.subscribe::<Odometry>("/player/odom");
    let mut diagnostics = operator.beside.subscribe::<DiagnosticArray>("/diagnostics");
    operator.beside.next("odometry", &mut odom);
    for (manner, reason) in [
        (Manner::Garbage, "a body of"),
        (Manner::Silent, "the server does not answer any more"),
        (Manner::Closed, "it closed the connection"),
    ] {
        let connections = operator.server.script().connections;
        operator.server.script().manner = manner;
        operator.beside.find("the report", &mut diagnostics, |message| {
            let status = &message.status[0];
            status.level == 2
                && status.message.starts_with("not connected")
                && status.message.contains(reason)
        });
        let answer = operator.call::<SetBool::Service>("set_motor_power", SetBool::Request { data: true });
        assert!(!answer.success, "{manner:?}");
        operator.server.script().manner = Manner::Good;
        operator.until("connected again", |operator| operator.server.script().connections > connections);
        while futures::FutureExt::now_or_never(futures::StreamExt::next(&mut odom)).is_some() {}
        operator.beside.next("odometry again", &mut odom);
    }
}

/// A server whose broken device begins to work, with data of that device and of its base.
fn repaired() -> (Operator, BoxStream<'static, BatteryState>, BoxStream<'static, Odometry>) {
    let mut operator = Operator::new(&[], &["-p", "player_client:retry_period:=1.0"]);
    let battery = operator.beside.subscribe::<BatteryState>("/player/power1/battery_state");
    let mut odom = operator.beside.subscribe::<Odometry>("/player/odom");
    operator.beside.next("odometry", &mut odom);
    let state = power::State { valid: power::VOLTS, volts: 24.0, ..Default::default() };
    let mut script = operator.server.script();
    let broken = std::mem::take(&mut script.broken);
    let body = dragoman_bridge::player::wire::Xdr::to_bytes(&state);
    script.data.insert(broken[0], vec![(power::STATE.subtype, body)]);
    drop(script);
    (operator, battery, odom)
}

#[test]
fn a_device_that_is_repaired_appears() {
    let (operator, mut battery, mut odom) = repaired();
    assert_eq!(operator.beside.next("the battery", &mut battery).voltage, 24.0);
    operator.beside.next("odometry goes on", &mut odom);
}

#[test]
fn calls_that_wait_while_devices_are_replaced_are_answered() {
    let (mut operator, mut battery, _odom) = repaired();
    let mut refused = Vec::new();
    operator.until("other devices", |operator| {
        // One call waits at any time.
        let answer = operator.call::<SetBool::Service>("set_motor_power", SetBool::Request { data: true });
        if !answer.success {
            refused.push(answer.message);
        }
        futures::FutureExt::now_or_never(futures::StreamExt::next(&mut battery)).is_some()
    });
    assert!(!refused.is_empty(), "no call waits");
    assert!(refused.iter().all(|reason| reason == "the server has other devices now"), "{refused:?}");
    let answer = operator.call::<SetBool::Service>("set_motor_power", SetBool::Request { data: true });
    assert!(answer.success, "{answer:?}");
}
