//! A platform that vanishes, stops answering, or sends invalid messages.

use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::std_srvs::srv::Trigger;

use super::platform_ctrl::Manner;
use super::*;

impl Operator {
    fn connections(&self) -> usize {
        self.platform.script().connections
    }

    /// Statuses arrive in ROS.
    #[track_caller]
    fn works(&mut self) {
        let mut statuses = self.beside.subscribe::<PlatformStatus>("/neobotix/status");
        self.until("an order", |operator| {
            operator.call::<Trigger::Service>("connect_to_pltf", Trigger::Request::default()).success
        });
        self.beside.next("status", &mut statuses);
    }
}

#[test]
fn a_platform_that_comes_and_goes_is_found_again() {
    let mut operator = Operator::new(&["-p", "neobotix_client:answer_timeout:=0.5"]);
    operator.works();
    let mut diagnostics = operator.beside.subscribe::<DiagnosticArray>("/diagnostics");
    for manner in [Manner::Silent, Manner::Half, Manner::Garbage, Manner::Closed] {
        let before = operator.connections();
        operator.platform.script().manner = manner;
        operator.until("another connection", |operator| operator.connections() > before);
        if manner == Manner::Closed || manner == Manner::Silent {
            // One that closes a connection with unread bytes resets it.
            let reasons = match manner {
                Manner::Silent => &["it does not answer"][..],
                _ => &["it closed the connection", "Connection reset by peer (os error 104)"],
            };
            let is_lost = |status: &DiagnosticStatus| {
                let reason = status.message.strip_prefix("not connected: ");
                status.name.contains("Neobotix platform")
                    && reason.is_some_and(|reason| reasons.contains(&reason))
            };
            operator.beside.find("an error", &mut diagnostics, |array: &DiagnosticArray| {
                array.status.iter().any(is_lost)
            });
            let answer = operator.call::<Trigger::Service>("stop", Trigger::Request::default());
            assert!(!answer.success, "{manner:?}");
        }
        operator.platform.script().manner = Manner::Good;
        operator.works();
    }
    // It refuses all connections for a while: the retries must be limited.
    operator.platform.script().manner = Manner::Closed;
    let before = operator.connections();
    operator.until("five attempts", |operator| operator.connections() > before + 4);
    sleep(Duration::from_secs(5));
    assert!(operator.connections() < before + 14, "{}", operator.connections() - before);
    operator.platform.script().manner = Manner::Good;
    operator.works();

    // A status that is a byte short is skipped; the connection stays.
    let before = operator.connections();
    operator.platform.script().manner = Manner::Short;
    operator.until("a short status", |operator| operator.platform.script().manner == Manner::Good);
    operator.works();
    assert_eq!(operator.connections(), before);
}

#[test]
fn two_platforms_do_not_share_a_namespace() {
    let operator = Operator::new(&[]);
    let arguments = ["neobotix", "--server", "127.0.0.1:9"];
    let second = Lab::try_start(1, &[], operator.lab.domain, &arguments, &[]);
    let complaint = second.err().expect("it does not start");
    assert!(complaint.contains("already"), "{complaint}");
}
