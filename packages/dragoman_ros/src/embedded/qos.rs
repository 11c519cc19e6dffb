//! Quality of service, with r2r's names and values.

use std::time::Duration;

/// Number of samples kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HistoryPolicy {
    KeepAll,
    KeepLast,
    SystemDefault,
    Unknown,
}

/// Whether lost samples are resent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReliabilityPolicy {
    BestEffort,
    Reliable,
    SystemDefault,
    Unknown,
}

/// Whether late subscribers get the last samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DurabilityPolicy {
    TransientLocal,
    Volatile,
    SystemDefault,
    Unknown,
}

/// How a writer proves its liveliness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LivelinessPolicy {
    Automatic,
    ManualByTopic,
    SystemDefault,
    Unknown,
}

/// A set of policies. A duration of zero means "not set", as in rmw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QosProfile {
    /// Number of samples kept.
    pub history: HistoryPolicy,
    /// Number of samples kept with [`HistoryPolicy::KeepLast`]; 0 is the middleware's default, which is 1.
    pub depth: usize,
    /// Whether lost samples are resent.
    pub reliability: ReliabilityPolicy,
    /// Whether late subscribers get the last samples.
    pub durability: DurabilityPolicy,
    /// Period within which a new sample is promised or expected.
    pub deadline: Duration,
    /// Age at which a sample is no longer delivered.
    pub lifespan: Duration,
    /// How a writer proves its liveliness.
    pub liveliness: LivelinessPolicy,
    /// Time within which a writer must prove its liveliness.
    pub liveliness_lease_duration: Duration,
    /// Leave out ROS's `rt/`, `rq/` and `rr/` before the DDS topic name.
    pub avoid_ros_namespace_conventions: bool,
}

impl Default for QosProfile {
    fn default() -> Self {
        Self::default()
    }
}

impl QosProfile {
    const fn common() -> Self {
        Self {
            history: HistoryPolicy::SystemDefault,
            depth: 0,
            reliability: ReliabilityPolicy::SystemDefault,
            durability: DurabilityPolicy::SystemDefault,
            deadline: Duration::ZERO,
            lifespan: Duration::ZERO,
            liveliness: LivelinessPolicy::SystemDefault,
            liveliness_lease_duration: Duration::ZERO,
            avoid_ros_namespace_conventions: false,
        }
    }

    const fn reliable_keeping(depth: usize) -> Self {
        Self::common().keep_last(depth).reliable().volatile()
    }

    /// Keep last 10, reliable, volatile.
    #[allow(clippy::should_implement_trait)]
    pub const fn default() -> Self {
        Self::reliable_keeping(10)
    }

    /// Keep last 5, best effort, volatile.
    pub const fn sensor_data() -> Self {
        Self::common().keep_last(5).best_effort().volatile()
    }

    /// Keep last 1000, reliable, volatile.
    pub const fn parameters() -> Self {
        Self::reliable_keeping(1000)
    }

    /// Keep last 10, reliable, volatile.
    pub const fn services_default() -> Self {
        Self::reliable_keeping(10)
    }

    /// Keep last 1000, reliable, volatile.
    pub const fn parameter_events() -> Self {
        Self::reliable_keeping(1000)
    }

    /// The middleware's default: keep last 1, reliable, volatile.
    pub const fn system_default() -> Self {
        Self::common()
    }

    /// With another history policy.
    pub const fn history(self, history: HistoryPolicy) -> Self {
        Self { history, ..self }
    }

    /// Keeping the last `depth` samples.
    pub const fn keep_last(self, depth: usize) -> Self {
        Self { history: HistoryPolicy::KeepLast, depth, ..self }
    }

    /// Keeping every sample until it is delivered.
    pub const fn keep_all(self) -> Self {
        Self { history: HistoryPolicy::KeepAll, depth: 0, ..self }
    }

    /// With another reliability policy.
    pub const fn reliability(self, reliability: ReliabilityPolicy) -> Self {
        Self { reliability, ..self }
    }

    /// With resending of lost samples.
    pub const fn reliable(self) -> Self {
        self.reliability(ReliabilityPolicy::Reliable)
    }

    /// Without resending of lost samples.
    pub const fn best_effort(self) -> Self {
        self.reliability(ReliabilityPolicy::BestEffort)
    }

    /// With another durability policy.
    pub const fn durability(self, durability: DurabilityPolicy) -> Self {
        Self { durability, ..self }
    }

    /// Late subscribers get no earlier samples.
    pub const fn volatile(self) -> Self {
        self.durability(DurabilityPolicy::Volatile)
    }

    /// Late subscribers get the last samples.
    pub const fn transient_local(self) -> Self {
        self.durability(DurabilityPolicy::TransientLocal)
    }

    /// Maximum time between two samples that was agreed on.
    pub const fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// A sample that is older is not delivered.
    pub const fn lifespan(self, lifespan: Duration) -> Self {
        Self { lifespan, ..self }
    }

    /// With another liveliness policy.
    pub const fn liveliness(self, liveliness: LivelinessPolicy) -> Self {
        Self { liveliness, ..self }
    }

    /// A publisher that is silent for longer is no longer alive.
    pub const fn liveliness_lease_duration(self, liveliness_lease_duration: Duration) -> Self {
        Self { liveliness_lease_duration, ..self }
    }

    /// With or without ROS's prefixes on the DDS topic name.
    pub const fn avoid_ros_namespace_conventions(self, avoid_ros_namespace_conventions: bool) -> Self {
        Self { avoid_ros_namespace_conventions, ..self }
    }
}
