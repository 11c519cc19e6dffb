//! `dragoman latency` between two processes: its table. The figures themselves: `benches/figures`.

use std::process::{Command, Output};

use crate::common::Lab;

fn latency(domain: u16, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .arg("latency")
        .args(arguments)
        .args(["--domain", &domain.to_string()])
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .output()
        .unwrap()
}

/// The words of a row.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let row = table.lines().find(|line| line.split_whitespace().next() == Some(name));
    row.unwrap_or_else(|| panic!("{name} in\n{table}")).split_whitespace().collect()
}

#[test]
fn topics_services_and_echoes_have_their_times() {
    let lab = Lab::start();
    let names = [
        "odom",
        "joint_states",
        "mobile_base/sensors/core",
        "mobile_base/sensors/imu_data",
        "simulation/sim_time",
        "mobile_base/get_geometry",
        "vrep/aux_console/print",
    ];
    // The default timeout is too short for a lab that waits for a processor.
    let arguments = ["--topics", &names.join(","), "--samples", "30", "--timeout", "60"];
    let output = latency(lab.domain, &arguments);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}");
    for (name, measure) in [
        ("/odom", "stamp"),
        ("/joint_states", "stamp"),
        ("/mobile_base/sensors/core", "stamp"),
        ("/mobile_base/sensors/imu_data", "stamp"),
        ("/simulation/sim_time", "publication"),
    ] {
        let row = row(&table, name);
        assert_eq!(row[1..3], [measure, "30"]);
        let times: Vec<f64> = row[3..].iter().map(|word| word.parse().unwrap()).collect();
        let [median, p90, p99, longest, transit, _period] = times[..] else { panic!("{row:?}") };
        assert!(0.0 < median && median <= p90 && p90 <= p99 && p99 <= longest, "{row:?}");
        assert!(transit <= median + 1.0, "{row:?}");
    }
    for name in ["/mobile_base/get_geometry", "/vrep/aux_console/print"] {
        let row = row(&table, name);
        assert_eq!(row[1..3], ["request", "30"]);
    }
}
