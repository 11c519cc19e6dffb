//! Failures of parts, shutdown, and two programs with the same names.

use std::time::Duration;

use crate::common::apolo::{ApoloClient, FALSE, request};
use crate::common::{ArmReply, Lab, Simulated, find, node, sleep};
use crate::device::Device;
use dragoman_ros::QosProfile;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::msg::NamespaceClaim;
use dragoman_ros::dragoman_msgs::srv::GetLocation;

#[test]
fn a_port_whose_node_panics_is_served_again_and_diagnostics_say_so() {
    let lab = Lab::start_with(0, &["up", "--only", "ranger", "--fault", "/ranger/arm31=panic@3"], &[]);
    let mut node = node(lab.domain);
    let mut diagnostics = node.subscribe::<DiagnosticArray>("/diagnostics", QosProfile::default()).unwrap();
    let mut state_of = |is_wanted: fn(&str) -> bool| {
        find(&mut diagnostics, |array: DiagnosticArray| {
            let status = array.status.into_iter().find(|status| status.name == "dragoman: parts")?;
            let state = status.values.into_iter().find(|value| value.key == "/ranger/arm31")?.value;
            is_wanted(&state).then_some((status.level, state))
        })
    };
    let begin = dragoman_time::now();
    assert_eq!(state_of(|state| state == "running").0, 0);
    let (level, state) = state_of(|state| state.contains("restarted 1 times"));
    println!("{:?}", dragoman_time::since(begin));
    assert_eq!(level, 1, "{state}");
    assert!(state.contains("has panicked: a fault on purpose"), "{state}");
    assert!(matches!(lab.client().ask("PS", [0.0; 7], 0), ArmReply::Values(..)));
}

#[test]
fn a_driver_that_fails_ends_the_lab_with_its_reason() {
    for (kind, reason) in [("panic", "has panicked: a fault on purpose"), ("end", "has ended")] {
        let fault = format!("/mobile_base={kind}@2");
        let lab = Lab::start_with(0, &["up", "--only", "turtlebot", "--fault", &fault], &[]);
        let (ended, time) = lab.ended();
        println!("{kind}: {time:?}");
        let errors = ended.unwrap_err();
        assert!(errors.contains(&format!("/mobile_base {reason}")), "{errors}");
        // The node that should close the line to the base has failed: the wait for it ends after 0.4 s.
        assert!(time <= Duration::from_millis(2400), "{time:?}");
    }
}

/// A lab that others of its domain disturb. They share the network, so their ports differ.
fn lab() -> Lab {
    Lab::only("ranger,apolo")
}

const SECOND: (&[&str], &[&str]) =
    (&["up", "--only", "ranger,apolo"], &["-p", "arm31:port:=0", "-p", "apolo:port:=0"]);

#[test]
fn of_two_labs_the_older_one_goes_on_whatever_their_distance_in_time() {
    for apart in [0, 1, 30, 100, 400, 700, 1000, 1001, 3000] {
        let first = lab();
        sleep(Duration::from_millis(apart));
        let begin = dragoman_time::now();
        let errors = match Lab::try_start(1, &[], 0, SECOND.0, SECOND.1) {
            Ok(second) => second.ended().0.unwrap_err(),
            Err(reason) => reason,
        };
        println!("{apart} ms: {:?}", dragoman_time::since(begin));
        assert!(errors.contains("is served by `dragoman up`") && errors.contains("in a circle"), "{errors}");
        // Its answers need 700 ms; claims are repeated every 400 ms.
        assert!(dragoman_time::since(begin) < Duration::from_millis(1300), "{apart} ms");
        sleep(Duration::from_secs(10));
        assert_ne!(
            ApoloClient::new(first.apolo).ask(&request(b'G', "", &["pieza"], &[])),
            FALSE,
            "{apart} ms"
        );
    }
}

#[test]
fn of_two_labs_that_start_together_one_goes_on() {
    // Either of them may be the one that ends.
    for seed in 1..10 {
        let labs = Lab::start_twice(seed, 0, SECOND.0, SECOND.1);
        let (ended, how) = labs[0].next_end(Duration::from_secs(2)).expect("one ends");
        let errors = how.unwrap_err();
        assert!(errors.contains("is served by `dragoman up`"), "{errors}");
        println!("seed {seed}: {ended} ends");
        assert_eq!(labs[0].next_end(Duration::from_secs(10)), None, "the other goes on");
        let answer = labs[1 - ended].client().ask("PS", [0.0; 7], 0);
        assert!(matches!(answer, ArmReply::Values(..)), "{answer:?}");
    }
}

#[test]
fn of_two_drivers_of_one_name_the_older_one_goes_on() {
    for (machine, command, name) in [("kobuki", "base", "/mobile_base"), ("widowx", "arm", "/widowx")] {
        let ports = ["/dev/ttyUSB0", "/dev/ttyUSB1"];
        let _devices = ports.map(|port| Device::start(port, &[machine]));
        let first = Lab::start_with(0, &[command, "--port", ports[0]], &[]);
        let errors = match Lab::try_start(1, &[], 0, &[command, "--port", ports[1]], &[]) {
            Ok(second) => second.ended().0.unwrap_err(),
            Err(reason) => reason,
        };
        let expected = format!("{name} is served by `dragoman {command}`");
        assert!(errors.contains(&expected), "{errors}");
        assert_eq!(first.next_end(Duration::from_secs(10)), None, "the older goes on");
    }
}

#[test]
fn announcements_of_other_participants_end_nothing() {
    let _simulated = Simulated::new();
    let mut other = node(0);
    // A former crash: another process has a writer on the topic of a service's responses.
    let _before =
        other.create_service::<GetLocation::Service>("/apolo/get_location", QosProfile::services_default());
    let lab = lab();
    let _after = other.create_service::<GetLocation::Service>("/apolo/get_location", QosProfile::default());
    let claims = other
        .create_publisher::<NamespaceClaim>("/dragoman/_claims", QosProfile::default().transient_local())
        .unwrap();
    for count in 1..20 {
        let namespaces = ["/apolo", "/ranger", "/neobotix"].map(str::to_owned).to_vec();
        let claim = NamespaceClaim { holder: "other".to_owned(), count, namespaces, ..Default::default() };
        claims.publish(&claim).unwrap();
        // It would end here.
        sleep(Duration::from_millis(300));
    }
    assert!(matches!(lab.client().ask("PS", [0.0; 7], 0), ArmReply::Values(..)));
}
