//! `dragoman latency`: the delay of the lab's robot data in another program. On virtual time messages take none.

use std::time::Duration;

use crate::common::{Folder, Lab, run, sleep};

/// The words of a row.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let row = table.lines().find(|line| line.split_whitespace().next() == Some(name));
    row.unwrap_or_else(|| panic!("{name} in\n{table}")).split_whitespace().collect()
}

#[test]
fn topics_services_and_echoes_have_their_times_and_plots() {
    let _lab = Lab::only("turtlebot");
    let folder = Folder::new();
    let plot = folder.path("latency.svg");
    let names = [
        "odom",
        "joint_states",
        "mobile_base/sensors/core",
        "mobile_base/sensors/imu_data",
        "simulation/sim_time",
        "mobile_base/get_geometry",
        "vrep/aux_console/print",
    ];
    let options = ["--topics", &names.join(","), "--samples", "30", "--plot", &plot];
    let table = run(0, &[&["latency"], &options[..]].concat()).unwrap();
    println!("{table}");
    for (name, measure, period) in [
        ("/odom", "stamp", "20.00"),
        // 25 Hz: the merged joints of base and arm.
        ("/joint_states", "stamp", "40.00"),
        ("/mobile_base/sensors/core", "stamp", "20.00"),
        ("/mobile_base/sensors/imu_data", "stamp", "20.00"),
        ("/simulation/sim_time", "publication", "20.00"),
    ] {
        let row = row(&table, name);
        assert_eq!(row[1..3], [measure, "30"]);
        let [median, p90, p99, longest, transit, printed_period] = row[3..] else { panic!("{row:?}") };
        assert_eq!((transit, printed_period), ("0.00", period), "{row:?}");
        let times = [median, p90, p99, longest].map(|word| word.parse::<f64>().unwrap());
        assert!(times.is_sorted() && times[3] < 20.0, "{row:?}");
    }
    for name in ["/mobile_base/get_geometry", "/vrep/aux_console/print"] {
        let row = row(&table, name);
        assert_eq!(row[1..3], ["request", "30"]);
        assert!(row[3].parse::<f64>().unwrap() < 20.0, "{row:?}");
    }
    let drawing = std::fs::read_to_string(plot).unwrap();
    assert_eq!(drawing.matches(": median ").count(), 7);
}

#[test]
fn without_a_robot_there_is_nothing_to_measure() {
    let complaint = run(0, &["latency", "--topics", "odom"]).unwrap_err();
    assert!(complaint.contains("nothing could be measured"), "{complaint}");
}

/// What was measured is printed all the same.
#[test]
fn a_measurement_with_gaps_is_not_a_success() {
    let lab = Lab::only("turtlebot");
    let names = "odom,nobody/publishes/this";
    let tool = Lab::start_with(0, &["latency", "--topics", names, "--samples", "30"], &[]);
    let (ended, _) = tool.ended();
    assert_eq!(ended.unwrap_err(), "not measured: /nobody/publishes/this (not published)");
    let table = tool.banner.join("\n") + &tool.output();
    assert_eq!(row(&table, "/odom")[2], "30");
    // Topics that the user has not named may be missing.
    run(lab.domain, &["latency", "--samples", "3"]).unwrap();
    let tool = Lab::start_with(0, &["latency", "--topics", "odom", "--samples", "3000"], &[]);
    sleep(Duration::from_secs(10));
    assert_eq!(tool.end().0.unwrap_err(), "stopped before all samples were taken");
}
