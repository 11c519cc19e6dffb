//! The guide's example session, the state chart, and a session like those of clients in use.

use std::time::Duration;

use dragoman_ros::std_msgs::msg::Bool;

use super::Site;
use crate::common::beside::Beside;
use crate::common::neobotix::{
    BREAK, CONNECT, CONTINUE, EXIT, INIT, MOVE_TO_STATION, MOVE_VEL_WHEEL, NeobotixClient, SET_MODE, START,
    STOP, ints, texts,
};
use crate::host::{now, sleep};

const READY: u8 = 0;
const RUNNING: u8 = 1;
const BROKEN: u8 = 2;
const NOT_INITIALIZED: u8 = 3;
const VELOCITY: i32 = 3;
const AUTOMATIC: i32 = 4;

/// A command, and the status after it.
#[track_caller]
fn leads_to(client: &mut NeobotixClient, data: &[u8], operation: u8) {
    client.order(data);
    assert_eq!(client.status().operation, operation, "after {data:?}");
}

/// PlatformCtrl guide, chapter 4: connect, initialize, set the mode, start, drive to a station, break, continue,
/// arrive, stop; and the emergency stop.
#[test]
fn the_guide_s_story_and_the_state_chart() {
    let mut site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    let status = client.status();
    assert_eq!((status.operation, status.is_initialized, status.mode), (NOT_INITIALIZED, false, 0));
    // Transitions missing in the state chart have no effect.
    let to_middle = texts(MOVE_TO_STATION, &["middle"]);
    for order in [&[START][..], &[BREAK], &[CONTINUE], &ints(SET_MODE, &[AUTOMATIC]), &to_middle, &[INIT]] {
        leads_to(client, order, NOT_INITIALIZED);
    }
    // Data of the base must have been received.
    let end = now() + Duration::from_secs(60);
    while client.status().operation != READY {
        assert!(now() < end, "it is not initialized");
        client.order(&[CONNECT]);
        client.order(&[INIT]);
    }
    assert!(client.status().is_initialized);
    leads_to(client, &[BREAK], READY);
    leads_to(client, &ints(SET_MODE, &[AUTOMATIC]), READY);
    assert_eq!(client.status().mode, 4);
    leads_to(client, &[START], RUNNING);
    // The mode changes only in Ready.
    leads_to(client, &ints(SET_MODE, &[VELOCITY]), RUNNING);
    assert_eq!(client.status().mode, 4);
    client.until("it knows where it is", |status| !status.is_lost);

    let start = site.truth();
    let begun = client.status();
    assert!((f64::from(begun.estimated[0]) / 1000.0 - start[0]).abs() < 0.05, "{begun:?} {start:?}");
    client.order(&to_middle);
    let moved = |site: &mut Site| {
        let [x, y, ..] = site.truth();
        (x - start[0]).hypot(y - start[1])
    };
    client.until("it drives", |_| moved(&mut site) > 0.3);
    let driving = client.status();
    assert!(driving.path.len() > 1 && !driving.is_target_reached && driving.planner == 3, "{driving:?}");
    leads_to(client, &[BREAK], BROKEN);
    client.until("it stands", |status| status.velocity == [0, 0]);
    assert!(site.stands());
    leads_to(client, &[CONTINUE], RUNNING);
    let arrived = client.until("it arrives", |status| status.is_target_reached);
    let [x, y, _, heading] = site.truth();
    let (away, wrong) = ((x - 1.0).hypot(y - 3.0), (heading - 170_f64.to_radians()).sin().asin().abs());
    assert!(away < 0.02 && wrong < 1_f64.to_radians(), "{x} {y} {heading}");
    let published = [x, y].map(|place| place * 1000.0);
    let [published_x, published_y, published_angle] = arrived.estimated.map(f64::from);
    assert!(
        (published_x - published[0]).abs() < 30.0 && (published_y - published[1]).abs() < 30.0,
        "{arrived:?}"
    );
    assert!(
        (published_angle / 1000.0 - 170.0).abs() < 2.0 && arrived.commanded[0].abs_diff(1000) < 30,
        "{arrived:?}"
    );
    // The laser's points are in the room, and on the lines detected in them.
    assert!(arrived.scan.len() > 100 && !arrived.lines.is_empty(), "{arrived:?}");
    assert!(arrived.scan.iter().all(|[x, y]| x.abs() < 6200 && y.abs() < 5200), "{arrived:?}");
    assert!(arrived.covariance.iter().take(3).all(|deviation| (0..1000).contains(deviation)), "{arrived:?}");
    assert!(client.status().time_stamp > begun.time_stamp);
    leads_to(client, &[STOP], READY);

    // The emergency stop: a secure state that no command leaves; then Ready.
    let mut beside = Beside::new(site.lab.domain);
    leads_to(client, &[START], RUNNING);
    client.order(&texts(MOVE_TO_STATION, &["north"]));
    client.until("it drives again", |status| status.velocity[0] > 100);
    beside.publish("/neobotix/emergency_stop", &Bool { data: true });
    client.until("emergency", |status| status.emergency == 1 && status.operation == BROKEN);
    client.until("it stands", |status| status.velocity == [0, 0]);
    for order in [CONTINUE, STOP, START] {
        leads_to(client, &[order], BROKEN);
    }
    assert!(site.stands());
    beside.publish("/neobotix/emergency_stop", &Bool { data: false });
    client.until("reset", |status| status.emergency == 0 && status.operation == READY);
    assert!(site.stands());
    leads_to(client, &[EXIT], NOT_INITIALIZED);
}

/// Without START or INIT: connect, stop, velocity mode, continue, and velocities of the wheels every 0.4 s, until the
/// client stops sending.
#[test]
fn a_client_in_use_drives_until_it_stops_sending() {
    let mut site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[1]);
    // Data of the base must have been received.
    let end = now() + Duration::from_secs(60);
    while client.status().operation != RUNNING {
        assert!(now() < end, "the session does not begin");
        client.order(&[CONNECT]);
        client.order(&[STOP]);
        client.order(&ints(SET_MODE, &[VELOCITY]));
        client.order(&[CONTINUE]);
    }
    assert_eq!(client.status().mode, 3);
    assert!(site.stands());
    // Backwards, as there is a wall behind the bend; the platform faces south.
    let start = site.truth();
    for _ in 0..8 {
        client.order(&ints(MOVE_VEL_WHEEL, &[150, 150]));
        sleep(Duration::from_millis(400));
    }
    let driven = site.truth();
    assert!(driven[1] < start[1] - 0.2 && (driven[0] - start[0]).abs() < 0.1, "{start:?} {driven:?}");
    // The right wheel faster than the left one: a left turn.
    for _ in 0..5 {
        client.order(&ints(MOVE_VEL_WHEEL, &[100, -100]));
        sleep(Duration::from_millis(400));
    }
    let turned = site.truth()[3] - driven[3];
    assert!(turned.sin().atan2(turned.cos()) > 0.2, "{turned}");
    // Velocities expire after a second, of which 0.4 s are over; then it brakes.
    let silent = now();
    client.until("it stands", |status| status.velocity == [0, 0]);
    let stood = dragoman_time::since(silent).as_secs_f64();
    assert!((0.6..0.9).contains(&stood), "{stood}");
    assert!(site.stands());
    assert_eq!(client.status().operation, RUNNING);
}
