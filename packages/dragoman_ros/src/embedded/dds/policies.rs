//! Converts quality of service to the library's types, and back.

use std::time::Duration;

use rustdds::discovery::PublicationBuiltinTopicData;
use rustdds::policy::{
    Deadline, Durability, History, Lifespan, Liveliness, Reliability, ResourceLimits, UserData,
};
use rustdds::{QosPolicies, QosPolicyBuilder};

use super::super::qos::{DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QosProfile, ReliabilityPolicy};
use super::Endpoint;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Writer,
    Reader,
}

/// The announced maximum blocking time of a write: rmw's default.
pub(super) const MAX_BLOCKING_TIME: Duration = Duration::from_millis(100);

/// The library's policies for a profile.
pub(super) fn policies(endpoint: Endpoint<'_>, role: Role) -> QosPolicies {
    let profile = endpoint.qos;
    let mut builder = QosPolicyBuilder::new()
        .durability(match profile.durability {
            DurabilityPolicy::TransientLocal => Durability::TransientLocal,
            _ => Durability::Volatile,
        })
        .reliability(match profile.reliability {
            ReliabilityPolicy::BestEffort => Reliability::BestEffort,
            _ => Reliability::Reliable { max_blocking_time: MAX_BLOCKING_TIME.into() },
        });
    let depth = i32::try_from(profile.depth.max(1)).unwrap_or(i32::MAX);
    let keep_all = profile.history == HistoryPolicy::KeepAll;
    builder = builder.history(if keep_all { History::KeepAll } else { History::KeepLast { depth } });
    // A writer that keeps all samples has a window of `max_samples` unacknowledged ones, 8192 when unset, and a full one
    // blocks; `Backlog` limits it before that. A reader's cache is 64 samples when unset, and drops silently.
    let max_samples = match role {
        Role::Writer => 200_000,
        Role::Reader if keep_all => 200_000,
        Role::Reader => depth,
    };
    builder = builder.resource_limits(ResourceLimits {
        max_samples,
        max_instances: -1,
        max_samples_per_instance: -1,
    });
    if !profile.deadline.is_zero() {
        builder = builder.deadline(Deadline(profile.deadline.into()));
    }
    if !profile.lifespan.is_zero() {
        builder = builder.lifespan(Lifespan { duration: profile.lifespan.into() });
    }
    if !profile.liveliness_lease_duration.is_zero() {
        let lease_duration = profile.liveliness_lease_duration.into();
        builder = builder.liveliness(match profile.liveliness {
            LivelinessPolicy::ManualByTopic => Liveliness::ManualByTopic { lease_duration },
            _ => Liveliness::Automatic { lease_duration },
        });
    }
    let policies = builder.build();
    match endpoint.type_hash {
        // As ROS's middlewares do since Iron (rmw_dds_common, `encode_type_hash_for_user_data_qos`).
        Some(hash) => policies.with_user_data(UserData { value: format!("typehash={hash};").into_bytes() }),
        None => policies,
    }
}

/// The offer of a discovered writer. History and depth are not announced: unknown, 0.
pub(super) fn profile(writer: &PublicationBuiltinTopicData) -> QosProfile {
    let (liveliness, lease) = match writer.liveliness {
        Some(Liveliness::ManualByTopic { lease_duration }) => {
            (LivelinessPolicy::ManualByTopic, Some(lease_duration))
        }
        // r2r does not have this name in all distributions.
        Some(Liveliness::ManualByParticipant { lease_duration }) => {
            (LivelinessPolicy::Unknown, Some(lease_duration))
        }
        Some(Liveliness::Automatic { lease_duration }) => (LivelinessPolicy::Automatic, Some(lease_duration)),
        None => (LivelinessPolicy::Automatic, None),
    };
    QosProfile {
        history: HistoryPolicy::Unknown,
        depth: 0,
        // Policies omitted in an announcement have their defaults, and a writer's is reliable.
        reliability: match writer.reliability {
            Some(Reliability::BestEffort) => ReliabilityPolicy::BestEffort,
            _ => ReliabilityPolicy::Reliable,
        },
        durability: match writer.durability {
            Some(Durability::Volatile) | None => DurabilityPolicy::Volatile,
            Some(_) => DurabilityPolicy::TransientLocal,
        },
        deadline: finite(writer.deadline.map(|deadline| deadline.0)),
        lifespan: finite(writer.lifespan.map(|lifespan| lifespan.duration)),
        liveliness,
        liveliness_lease_duration: finite(lease),
        avoid_ros_namespace_conventions: false,
    }
}

/// Zero, which means "not set", for no limit.
fn finite(duration: Option<rustdds::Duration>) -> Duration {
    duration.filter(|duration| *duration != rustdds::Duration::INFINITE).map_or(Duration::ZERO, Into::into)
}
