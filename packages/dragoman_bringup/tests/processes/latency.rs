//! The delay of the lab's robot data in another process.

use std::process::{Command, Output};

use crate::common::{Lab, domain};

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
fn topics_services_and_echoes_have_their_times_and_plots() {
    let lab = Lab::start();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("latency.svg");
    let names = [
        "odom",
        "joint_states",
        "mobile_base/sensors/core",
        "mobile_base/sensors/imu_data",
        "simulation/sim_time",
        "mobile_base/get_geometry",
        "vrep/aux_console/print",
        "nobody/publishes/this",
    ];
    let output = latency(
        lab.domain,
        &["--topics", &names.join(","), "--samples", "30", "--plot", path.to_str().unwrap()],
    );
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}");
    println!("{table}");
    for (name, measure, period) in [
        ("/odom", "stamp", 20.0),
        // 25 Hz: the merged joints of base and arm.
        ("/joint_states", "stamp", 40.0),
        ("/mobile_base/sensors/core", "stamp", 20.0),
        ("/mobile_base/sensors/imu_data", "stamp", 20.0),
        ("/simulation/sim_time", "publication", 20.0),
    ] {
        let row = row(&table, name);
        assert_eq!(row[1..3], [measure, "30"]);
        let times: Vec<f64> = row[3..].iter().map(|word| word.parse().unwrap()).collect();
        let [median, p90, p99, longest, transit, printed_period] = times[..] else { panic!("{row:?}") };
        assert!(0.0 < median && median <= p90 && p90 <= p99 && p99 <= longest, "{row:?}");
        // Wide limits, for a shared machine; figures of an idle one are in docs/commands.md.
        assert!(median < 20.0 && transit <= median + 1.0, "{row:?}");
        assert!((period * 0.5..period * 2.0).contains(&printed_period), "{row:?}");
    }
    for name in ["/mobile_base/get_geometry", "/vrep/aux_console/print"] {
        let row = row(&table, name);
        assert_eq!(row[1..3], ["request", "30"]);
        assert!(row[3].parse::<f64>().unwrap() < 50.0, "{row:?}");
    }
    assert!(table.contains("not published"));
    let drawing = std::fs::read_to_string(path).unwrap();
    assert_eq!(drawing.matches(": median ").count(), 7);
}

#[test]
fn without_a_robot_there_is_nothing_to_measure() {
    let output = latency(domain(), &["--topics", "odom"]);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && complaint.contains("nothing could be measured"), "{complaint}");
}
