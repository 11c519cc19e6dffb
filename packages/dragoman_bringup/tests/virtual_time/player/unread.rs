//! Clients in push mode that do not read, longer than the time in which a vanished machine is noticed.

use super::*;

const EYE: Device = camera::INTERFACE.device(0);
/// A vanished machine is noticed after three seconds.
const PAUSE: Duration = Duration::from_secs(8);

fn without_reading(lab: &Lab) -> PlayerClient {
    let mut client = PlayerClient::connect(lab.player);
    client.ask(SERVER, MODE.subtype, &player::PUSH);
    client.subscribe(EYE);
    client
}

#[test]
fn a_client_that_does_not_read_loses_data_but_not_its_connection() {
    let lab = Lab::only("turtlebot,player");
    let mut client = without_reading(&lab);
    // Its socket is full after some images.
    sleep(PAUSE);
    let list = client.granted(SERVER, DEVICES.subtype, &());
    assert!(!DEVICES.answer(&list).unwrap().is_empty());
    let images = (0..100).map(|_| client.receive()).filter(|message| message.header.address.device == EYE);
    assert!(images.count() > 0);
}

#[test]
fn a_client_that_does_not_read_cannot_drive_a_robot() {
    let lab = Lab::only("turtlebot,player");
    let mut watcher = PlayerClient::connect(lab.player);
    watcher.subscribe(base(0));
    let mut driver = without_reading(&lab);
    driver.subscribe(base(0));
    driver.set_speed(base(0), 0.0, 0.5);
    watcher.until("the base turns", base(0), |state| state.velocity.yaw > 0.3);
    let begun = now();
    watcher.until("the base stands", base(0), |state| state.velocity.yaw.abs() < 0.01);
    // The limit of three seconds, from when the socket is full, and the braking.
    let stood = since(begun).as_secs_f64();
    assert!((3.0..3.5).contains(&stood), "{stood}");
}
