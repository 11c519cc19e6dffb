//! A group of drives and the bus between them, on virtual time.

use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use canopen_rs::NodeId;
use dragoman_arm::driver::{AxisConfig, Event, Group, GroupConfig, GroupState};
use dragoman_io::can::{BusFault, Frame, Received};
use dragoman_sim::whistle::{Whistle, WhistleSettings};

/// Counts per revolution of the arm (Ranger thesis, `elmoarm.cpf`).
pub(crate) const COUNTS_PER_REVOLUTION: [f64; 6] =
    [817_741.0, 817_741.0, -414_246.0, 414_246.0, -414_246.0, 414_246.0];

/// Six Whistles, nodes 101 to 106, at 250 Hz.
pub(crate) fn six() -> GroupConfig {
    let axes = COUNTS_PER_REVOLUTION.iter().zip(101..).map(|(counts, node)| {
        let home = if node % 2 == 1 { TAU / 4.0 } else { 0.0 };
        AxisConfig { max_velocity: 0.9, ..AxisConfig::whistle(node, *counts, home) }
    });
    GroupConfig { axes: axes.collect(), sample_ratio: 11, ..GroupConfig::default() }
}

pub(crate) struct Lab {
    pub(crate) now: Duration,
    pub(crate) group: Group,
    pub(crate) drives: Vec<Whistle>,
    pub(crate) events: Vec<Event>,
    /// All frames on the bus, if a test records them.
    pub(crate) frames: Option<Vec<(Duration, Frame)>>,
    /// The group cannot send; its frames wait.
    pub(crate) blocked: bool,
    /// No frames pass between the group and the drives.
    pub(crate) cut: bool,
    /// Frames with this identifier do not reach the group.
    pub(crate) muted: Option<u16>,
    /// The drives' frames wait here for [`Lab::deliver`].
    pub(crate) held: Option<Vec<Frame>>,
    /// A second device with the node number of drive 2.
    pub(crate) twin: Option<Whistle>,
    /// Cost of the group so far: time, and allocations counted by `allocations`.
    pub(crate) spent: Duration,
    pub(crate) allocated: usize,
    pub(crate) allocations: fn() -> usize,
}

impl Lab {
    pub(crate) fn new(config: GroupConfig) -> Self {
        let now = Duration::from_secs(1);
        let nodes = config.axes.iter().filter_map(|axis| NodeId::new(axis.node).ok());
        let drives = nodes.map(|node| Whistle::new(node, WhistleSettings::default())).collect();
        let group = Group::new(now, config).unwrap();
        Self {
            now,
            group,
            drives,
            events: Vec::new(),
            frames: None,
            blocked: false,
            cut: false,
            muted: None,
            held: None,
            twin: None,
            spent: Duration::ZERO,
            allocated: 0,
            allocations: || 0,
        }
    }

    /// Configured and switched on.
    pub(crate) fn enabled(config: GroupConfig) -> Self {
        let mut lab = Self::new(config);
        lab.until(GroupState::Disabled, 5.0);
        lab.group.enable().unwrap();
        lab.until(GroupState::Enabled, 5.0);
        lab
    }

    /// Runs for `seconds`.
    pub(crate) fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.exchange();
            let drives = self.drives.iter().chain(&self.twin).filter_map(Whistle::poll_timeout);
            let next = drives.fold(self.group.poll_timeout(), Duration::min);
            // At least a microsecond: a deadline in the past would stop the time.
            self.now = next.max(self.now + Duration::from_micros(1)).min(end);
        }
        self.exchange();
    }

    /// Runs until the group is in `state`.
    #[track_caller]
    pub(crate) fn until(&mut self, state: GroupState, within: f64) {
        let end = self.now + Duration::from_secs_f64(within);
        while self.group.state() != state {
            assert!(self.now < end, "{state:?} not reached: {:?} {:?}", self.group.state(), self.events);
            self.run(0.002);
        }
    }

    pub(crate) fn positions(&self) -> Vec<f64> {
        self.group.positions().collect()
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.drives.iter().any(Whistle::is_moving)
    }

    /// Delivers frames until none are left.
    fn exchange(&mut self) {
        self.meter(Group::handle_timeout);
        for drive in self.drives.iter_mut().chain(&mut self.twin) {
            drive.handle_timeout(self.now);
        }
        let mut wire: VecDeque<(Option<usize>, Frame)> = VecDeque::new();
        loop {
            while let Some(frame) = self.take_frame() {
                if !self.cut {
                    wire.push_back((None, frame));
                }
            }
            for (index, drive) in self.drives.iter_mut().chain(&mut self.twin).enumerate() {
                wire.extend(std::iter::from_fn(|| drive.poll_transmit()).map(|frame| (Some(index), frame)));
            }
            let Some((from, frame)) = wire.pop_front() else { break };
            if let Some(frames) = &mut self.frames {
                frames.push((self.now, frame));
            }
            for (index, drive) in self.drives.iter_mut().chain(&mut self.twin).enumerate() {
                if from != Some(index) {
                    drive.handle_frame(self.now, &frame);
                }
            }
            let passes = !self.cut && frame.standard_id() != self.muted;
            match &mut self.held {
                _ if from.is_none() || !passes => {}
                Some(held) => held.push(frame),
                None => self.inject(frame),
            }
        }
        self.events.extend(std::iter::from_fn(|| self.group.poll_event()));
    }

    /// Delivers all held frames at once, and stops holding.
    pub(crate) fn deliver(&mut self) {
        for frame in self.held.take().unwrap_or_default() {
            self.inject(frame);
        }
    }

    /// A frame from another node.
    pub(crate) fn inject(&mut self, frame: Frame) {
        self.meter(|group, now| {
            group.handle_received(now, &Received::Frame(frame));
            group.handle_timeout(now);
        });
    }

    fn take_frame(&mut self) -> Option<Frame> {
        if self.blocked {
            return None;
        }
        self.meter(|group, _| {
            let frame = group.poll_transmit().copied()?;
            group.handle_sent();
            Some(frame)
        })
    }

    fn meter<R>(&mut self, use_group: impl FnOnce(&mut Group, Duration) -> R) -> R {
        let (allocated, started) = ((self.allocations)(), Instant::now());
        let result = use_group(&mut self.group, self.now);
        self.spent += started.elapsed();
        self.allocated += (self.allocations)() - allocated;
        result
    }

    pub(crate) fn bus_fault(&mut self, fault: BusFault) {
        self.group.handle_received(self.now, &Received::Fault(fault));
    }
}
