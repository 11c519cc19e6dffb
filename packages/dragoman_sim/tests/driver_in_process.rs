//! The driver of `dragoman_arm` and racks of drives of both kinds, on virtual time, over a bus within the process.

use std::time::Duration;

use canopen_rs::NodeId;
use dragoman_arm::driver::{AxisConfig, DriveKind, Event, Group, GroupConfig, GroupState};
use dragoman_io::can::{Bus, InProcessBus};
use dragoman_sim::device::Application;
use dragoman_sim::{Cia402Drive, Cia402Settings, Device, Fault, Rack, Whistle, WhistleSettings};

const NODES: std::ops::RangeInclusive<u8> = 101..=106;
/// Length of a step: the round trip of a frame takes as long.
const STEP: Duration = Duration::from_micros(100);

/// A group, its drives, the bus between them, and the time.
struct Lab<A> {
    group: Group,
    rack: Rack<A>,
    ours: InProcessBus,
    theirs: InProcessBus,
    now: Duration,
    events: Vec<Event>,
}

impl<A: Application> Lab<A> {
    fn new(kind: DriveKind, drives: Vec<Device<A>>) -> Self {
        let axes = NODES.map(|node| AxisConfig { kind, ..AxisConfig::whistle(node, 100_000.0, 0.0) });
        let config = GroupConfig { axes: axes.collect(), ..GroupConfig::default() };
        let ours = InProcessBus::new();
        let theirs = ours.another();
        let group = Group::new(Duration::ZERO, config).unwrap();
        Self { group, rack: Rack::new(drives), ours, theirs, now: Duration::ZERO, events: Vec::new() }
    }

    fn step(&mut self) {
        self.now += STEP;
        self.rack.step(self.now, &mut self.theirs);
        while let Some(received) = self.ours.receive() {
            self.group.handle_received(self.now, &received);
        }
        self.group.handle_timeout(self.now);
        while let Some(frame) = self.group.poll_transmit() {
            self.ours.send(frame).unwrap();
            self.group.handle_sent();
        }
        while let Some(event) = self.group.poll_event() {
            self.events.push(event);
        }
    }

    fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    fn run_until(&mut self, state: GroupState, within: Duration) {
        let end = self.now + within;
        while self.group.state() != state {
            self.step();
            assert!(
                self.now < end,
                "{state:?} not reached: {:?} {:?} {:?}",
                self.group.state(),
                self.group.fault(),
                self.events
            );
        }
    }

    fn enable(&mut self) {
        self.run_until(GroupState::Disabled, Duration::from_secs(5));
        self.group.enable().unwrap();
        self.run_until(GroupState::Enabled, Duration::from_secs(2));
    }

    fn shafts(&self) -> Vec<f64> {
        self.rack.drives().iter().map(Device::shaft_counts).collect()
    }
}

fn whistles() -> Lab<dragoman_sim::whistle::Simpliq> {
    let drives = NODES.map(|node| Whistle::new(NodeId::new(node).unwrap(), WhistleSettings::default()));
    Lab::new(DriveKind::Whistle, drives.collect())
}

fn profile_drives() -> Lab<dragoman_sim::cia402::Cia402> {
    let drives = NODES.map(|node| Cia402Drive::new(NodeId::new(node).unwrap(), Cia402Settings::default()));
    Lab::new(DriveKind::Cia402, drives.collect())
}

fn follows_its_commands<A: Application>(mut lab: Lab<A>) {
    lab.enable();
    lab.run_for(Duration::from_millis(500));
    assert_eq!(lab.shafts(), [0.0; 6], "switching on moves nothing");
    let goal = [0.5, -0.4, 0.3, 0.2, -0.1, 0.05];
    lab.group.command(lab.now, None, &goal).unwrap();
    lab.run_for(Duration::from_secs(3));
    let expected = goal.map(|angle| (angle * 100_000.0 / std::f64::consts::TAU).round());
    assert_eq!(lab.shafts(), expected);
    assert_eq!((lab.group.state(), lab.group.fault()), (GroupState::Enabled, None));
}

#[test]
fn six_whistles_follow_their_commands() {
    follows_its_commands(whistles());
}

#[test]
fn six_drives_of_the_profile_follow_their_commands() {
    follows_its_commands(profile_drives());
}

fn stops_without_the_driver<A: Application>(mut lab: Lab<A>) {
    lab.enable();
    lab.group.command(lab.now, None, &[1.0; 6]).unwrap();
    lab.run_for(Duration::from_millis(400));
    assert!(lab.rack.drives().iter().all(Device::is_moving));
    // The driver is gone; the drives continue alone.
    let end = lab.now + Duration::from_millis(100);
    while lab.now < end {
        lab.now += STEP;
        lab.rack.step(lab.now, &mut lab.theirs);
    }
    assert!(!lab.rack.drives().iter().any(Device::is_moving));
}

#[test]
fn whistles_stop_within_100_ms_when_the_driver_is_gone() {
    stops_without_the_driver(whistles());
}

#[test]
fn drives_of_the_profile_stop_within_100_ms_when_the_driver_is_gone() {
    stops_without_the_driver(profile_drives());
}

/// Reaction of the drives of the profile to faults; for Whistles see `driver/faults.rs`.
#[test]
fn a_fault_of_one_drive_of_the_profile_stops_all_and_nothing_jumps_when_they_go_on() {
    let faults = [
        Fault::PowerCycle,
        Fault::Silent,
        Fault::ExitEnabled,
        Fault::AnswerLate(Duration::from_millis(150)),
        Fault::EmergencyStorm { per_second: 10_000 },
    ];
    for fault in faults {
        let mut lab = profile_drives();
        lab.enable();
        lab.group.command(lab.now, None, &[1.0; 6]).unwrap();
        lab.run_for(Duration::from_millis(400));
        lab.rack.drives()[2].inject(lab.now, fault);
        lab.run_for(Duration::from_millis(700));
        assert!(!lab.rack.drives().iter().any(Device::is_moving), "{fault:?}");
        assert!(lab.group.fault().is_some(), "{fault:?}");
        lab.rack.drives()[2].repair();
        let stopped = lab.shafts();
        lab.run_for(Duration::from_secs(3));
        lab.group.recover().unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        lab.group.enable().unwrap();
        lab.run_until(GroupState::Enabled, Duration::from_secs(2));
        lab.run_for(Duration::from_millis(500));
        let moved =
            lab.shafts().iter().zip(&stopped).map(|(now, then)| (now - then).abs()).fold(0.0, f64::max);
        assert!(moved <= 1.0, "{fault:?}: {moved} counts");
    }
}
