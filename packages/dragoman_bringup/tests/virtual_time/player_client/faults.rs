//! Lost connections, broken streams, devices that are repaired.

use super::Operator;
use super::server::Manner;
use dragoman_bridge::player::wire::power;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::std_srvs::srv::SetBool;

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

#[test]
fn a_device_that_is_repaired_appears() {
    let mut operator = Operator::new(&[], &["-p", "player_client:retry_period:=1.0"]);
    let broken = power::INTERFACE.device(1);
    let mut battery = operator.beside.subscribe::<BatteryState>("/player/power1/battery_state");
    let mut odom = operator.beside.subscribe::<Odometry>("/player/odom");
    operator.beside.next("odometry", &mut odom);
    let state = power::State { valid: power::VOLTS, volts: 24.0, ..Default::default() };
    {
        let mut script = operator.server.script();
        script.broken.clear();
        let body = dragoman_bridge::player::wire::Xdr::to_bytes(&state);
        script.data.insert(broken, vec![(power::STATE.subtype, body)]);
    }
    assert_eq!(operator.beside.next("the battery", &mut battery).voltage, 24.0);
    operator.beside.next("odometry goes on", &mut odom);
}
