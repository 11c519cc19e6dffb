//! The life cycle's states and transitions, without I/O: ROS 2's design article "Managed nodes", with the ids of
//! `lifecycle_msgs` and the labels of `rcl_lifecycle`.

/// A state of a managed node. The number is its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LifecycleState {
    Unknown = 0,
    /// As created; holds no hardware.
    Unconfigured = 1,
    /// Holds its hardware, which is idle.
    Inactive = 2,
    /// In operation.
    Active = 3,
    /// Ended; waits for its destruction.
    Finalized = 4,
    Configuring = 10,
    CleaningUp = 11,
    ShuttingDown = 12,
    Activating = 13,
    Deactivating = 14,
    ErrorProcessing = 15,
}

impl LifecycleState {
    /// All states.
    pub const ALL: [Self; 11] = [
        Self::Unknown,
        Self::Unconfigured,
        Self::Inactive,
        Self::Active,
        Self::Finalized,
        Self::Configuring,
        Self::CleaningUp,
        Self::ShuttingDown,
        Self::Activating,
        Self::Deactivating,
        Self::ErrorProcessing,
    ];

    /// Its id in `lifecycle_msgs/msg/State`.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// Its name in ROS.
    pub fn label(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unconfigured => "unconfigured",
            Self::Inactive => "inactive",
            Self::Active => "active",
            Self::Finalized => "finalized",
            Self::Configuring => "configuring",
            Self::CleaningUp => "cleaningup",
            Self::ShuttingDown => "shuttingdown",
            Self::Activating => "activating",
            Self::Deactivating => "deactivating",
            Self::ErrorProcessing => "errorprocessing",
        }
    }
}

/// A request to a managed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Unconfigured to inactive.
    Configure,
    /// Inactive to unconfigured.
    CleanUp,
    /// Inactive to active.
    Activate,
    /// Active to inactive.
    Deactivate,
    /// Unconfigured, inactive or active to finalized.
    ShutDown,
}

impl Change {
    /// Its name in ROS.
    pub fn label(self) -> &'static str {
        match self {
            Self::Configure => "configure",
            Self::CleanUp => "cleanup",
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::ShutDown => "shutdown",
        }
    }
}

/// Result of a callback of a managed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackReturn {
    /// The node enters the requested state.
    Success,
    /// The node returns to its previous state.
    Failure,
    /// The node has failed: error processing follows.
    Error,
}

impl CallbackReturn {
    fn label(self) -> &'static str {
        match self {
            Self::Success => "transition_success",
            Self::Failure => "transition_failure",
            Self::Error => "transition_error",
        }
    }
}

/// A transition of the state chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Its id in `lifecycle_msgs/msg/Transition`.
    pub id: u8,
    /// Its name in ROS.
    pub label: &'static str,
    /// Its start state.
    pub start: LifecycleState,
    /// Its goal state.
    pub goal: LifecycleState,
}

const fn arrow(id: u8, label: &'static str, start: LifecycleState, goal: LifecycleState) -> Transition {
    Transition { id, label, start, goal }
}

/// The whole state chart.
pub const TRANSITIONS: [Transition; 25] = {
    use LifecycleState::*;
    const SUCCESS: &str = "transition_success";
    const FAILURE: &str = "transition_failure";
    const ERROR: &str = "transition_error";
    [
        arrow(1, "configure", Unconfigured, Configuring),
        arrow(10, SUCCESS, Configuring, Inactive),
        arrow(11, FAILURE, Configuring, Unconfigured),
        arrow(12, ERROR, Configuring, ErrorProcessing),
        arrow(2, "cleanup", Inactive, CleaningUp),
        arrow(20, SUCCESS, CleaningUp, Unconfigured),
        arrow(21, FAILURE, CleaningUp, Inactive),
        arrow(22, ERROR, CleaningUp, ErrorProcessing),
        arrow(3, "activate", Inactive, Activating),
        arrow(30, SUCCESS, Activating, Active),
        arrow(31, FAILURE, Activating, Inactive),
        arrow(32, ERROR, Activating, ErrorProcessing),
        arrow(4, "deactivate", Active, Deactivating),
        arrow(40, SUCCESS, Deactivating, Inactive),
        arrow(41, FAILURE, Deactivating, Active),
        arrow(42, ERROR, Deactivating, ErrorProcessing),
        arrow(5, "shutdown", Unconfigured, ShuttingDown),
        arrow(6, "shutdown", Inactive, ShuttingDown),
        arrow(7, "shutdown", Active, ShuttingDown),
        arrow(50, SUCCESS, ShuttingDown, Finalized),
        arrow(51, FAILURE, ShuttingDown, Finalized),
        arrow(52, ERROR, ShuttingDown, ErrorProcessing),
        arrow(60, SUCCESS, ErrorProcessing, Unconfigured),
        arrow(61, FAILURE, ErrorProcessing, Finalized),
        arrow(62, ERROR, ErrorProcessing, Finalized),
    ]
};

/// The id published for an error that a node reports by itself: `TRANSITION_CALLBACK_ERROR`, since the state chart has
/// no transition for it.
const REPORTED_ERROR: u8 = 99;

/// Why a node refuses a transition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The state chart has no such transition.
    #[error("'{asked}' is not possible in state {}", state.label())]
    NotPossible {
        /// The requested transition.
        asked: String,
        /// The present state.
        state: LifecycleState,
    },
    /// Too many changes are waiting.
    #[error("too many changes are waiting")]
    Busy,
    /// The node is no longer managed.
    #[error("the node has ended")]
    Ended,
}

/// The present state in the state chart.
#[derive(Clone, Debug)]
pub struct Machine {
    state: LifecycleState,
}

impl Default for Machine {
    fn default() -> Self {
        Self { state: LifecycleState::Unconfigured }
    }
}

impl Machine {
    /// The present state.
    pub fn state(&self) -> LifecycleState {
        self.state
    }

    /// The possible requests.
    pub fn available(&self) -> impl Iterator<Item = Transition> + use<> {
        let state = self.state;
        TRANSITIONS.into_iter().filter(move |transition| transition.start == state)
    }

    /// Starts a transition. Run its callback, and pass the result to [`finish`](Self::finish).
    ///
    /// # Errors
    /// It is not possible now.
    pub fn begin(&mut self, change: Change) -> Result<Transition, Refused> {
        self.begin_named(change.label())
    }

    /// As [`begin`](Self::begin), by name. Names of callback results are refused: they are not requests.
    ///
    /// # Errors
    /// It is not possible now, or the name is unknown.
    pub fn begin_named(&mut self, label: &str) -> Result<Transition, Refused> {
        self.follow(label, |transition| transition.label == label)
    }

    /// As [`begin`](Self::begin), by id.
    ///
    /// # Errors
    /// It is not possible now, or the id is unknown.
    pub fn begin_numbered(&mut self, id: u8) -> Result<Transition, Refused> {
        self.follow(&id.to_string(), |transition| transition.id == id)
    }

    fn follow(&mut self, asked: &str, is_asked: impl Fn(&Transition) -> bool) -> Result<Transition, Refused> {
        let transition = self.available().find(|t| is_asked(t) && !t.label.starts_with("transition_"));
        let transition =
            transition.ok_or_else(|| Refused::NotPossible { asked: asked.to_owned(), state: self.state })?;
        self.state = transition.goal;
        Ok(transition)
    }

    /// Takes the result of the running callback. `None` if there is no such callback. If the new state is
    /// [`LifecycleState::ErrorProcessing`], run its callback and finish it next.
    pub fn finish(&mut self, outcome: CallbackReturn) -> Option<Transition> {
        let transition = self.available().find(|transition| transition.label == outcome.label())?;
        self.state = transition.goal;
        Some(transition)
    }

    /// Starts processing an error that the node has found while inactive or active.
    ///
    /// # Errors
    /// The node is in another state.
    pub fn fail(&mut self) -> Result<Transition, Refused> {
        if !matches!(self.state, LifecycleState::Inactive | LifecycleState::Active) {
            return Err(Refused::NotPossible { asked: "error".to_owned(), state: self.state });
        }
        let transition =
            arrow(REPORTED_ERROR, CallbackReturn::Error.label(), self.state, LifecycleState::ErrorProcessing);
        self.state = transition.goal;
        Ok(transition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle_msgs::msg::{State as Ids, Transition as TransitionIds};

    #[test]
    fn ids_are_those_of_lifecycle_msgs() {
        let of = |id: u8, state: LifecycleState| assert_eq!(id, state.id(), "{state:?}");
        of(Ids::PRIMARY_STATE_UNCONFIGURED as u8, LifecycleState::Unconfigured);
        of(Ids::PRIMARY_STATE_INACTIVE as u8, LifecycleState::Inactive);
        of(Ids::PRIMARY_STATE_ACTIVE as u8, LifecycleState::Active);
        of(Ids::PRIMARY_STATE_FINALIZED as u8, LifecycleState::Finalized);
        of(Ids::TRANSITION_STATE_CONFIGURING as u8, LifecycleState::Configuring);
        of(Ids::TRANSITION_STATE_CLEANINGUP as u8, LifecycleState::CleaningUp);
        of(Ids::TRANSITION_STATE_SHUTTINGDOWN as u8, LifecycleState::ShuttingDown);
        of(Ids::TRANSITION_STATE_ACTIVATING as u8, LifecycleState::Activating);
        of(Ids::TRANSITION_STATE_DEACTIVATING as u8, LifecycleState::Deactivating);
        of(Ids::TRANSITION_STATE_ERRORPROCESSING as u8, LifecycleState::ErrorProcessing);
        assert_eq!(TransitionIds::TRANSITION_CALLBACK_ERROR as u8, REPORTED_ERROR);
        let known = |id: u8, label: &str, start: LifecycleState| {
            assert!(TRANSITIONS.iter().any(|t| (t.id, t.label, t.start) == (id, label, start)), "{label}");
        };
        known(TransitionIds::TRANSITION_CONFIGURE as u8, "configure", LifecycleState::Unconfigured);
        known(TransitionIds::TRANSITION_CLEANUP as u8, "cleanup", LifecycleState::Inactive);
        known(TransitionIds::TRANSITION_ACTIVATE as u8, "activate", LifecycleState::Inactive);
        known(TransitionIds::TRANSITION_DEACTIVATE as u8, "deactivate", LifecycleState::Active);
        known(TransitionIds::TRANSITION_ACTIVE_SHUTDOWN as u8, "shutdown", LifecycleState::Active);
        known(
            TransitionIds::TRANSITION_ON_DEACTIVATE_FAILURE as u8,
            "transition_failure",
            LifecycleState::Deactivating,
        );
        known(
            TransitionIds::TRANSITION_ON_ERROR_ERROR as u8,
            "transition_error",
            LifecycleState::ErrorProcessing,
        );
    }

    #[test]
    fn every_change_works_where_the_chart_has_it_and_nowhere_else() {
        use Change::*;
        for (state, possible) in [
            (LifecycleState::Unconfigured, vec![Configure, ShutDown]),
            (LifecycleState::Inactive, vec![CleanUp, Activate, ShutDown]),
            (LifecycleState::Active, vec![Deactivate, ShutDown]),
            (LifecycleState::Finalized, vec![]),
            (LifecycleState::Configuring, vec![]),
            (LifecycleState::ErrorProcessing, vec![]),
        ] {
            for change in [Configure, CleanUp, Activate, Deactivate, ShutDown] {
                let mut machine = Machine { state };
                let begun = machine.begin(change);
                assert_eq!(begun.is_ok(), possible.contains(&change), "{state:?} {change:?}");
                assert_eq!(machine.state() != state, begun.is_ok());
            }
        }
    }

    #[test]
    fn success_failure_and_error_lead_where_the_chart_says() {
        use CallbackReturn::*;
        for (start, change, [success, failure]) in [
            (
                LifecycleState::Unconfigured,
                Change::Configure,
                [LifecycleState::Inactive, LifecycleState::Unconfigured],
            ),
            (
                LifecycleState::Inactive,
                Change::CleanUp,
                [LifecycleState::Unconfigured, LifecycleState::Inactive],
            ),
            (LifecycleState::Inactive, Change::Activate, [LifecycleState::Active, LifecycleState::Inactive]),
            (LifecycleState::Active, Change::Deactivate, [LifecycleState::Inactive, LifecycleState::Active]),
            (
                LifecycleState::Active,
                Change::ShutDown,
                [LifecycleState::Finalized, LifecycleState::Finalized],
            ),
        ] {
            for (outcome, goal) in
                [(Success, success), (Failure, failure), (Error, LifecycleState::ErrorProcessing)]
            {
                let mut machine = Machine { state: start };
                machine.begin(change).unwrap();
                assert_eq!(machine.finish(outcome).unwrap().goal, goal, "{start:?} {change:?} {outcome:?}");
                assert_eq!(machine.state(), goal);
            }
        }
    }

    #[test]
    fn a_reported_error_leads_to_unconfigured_or_finalized() {
        for (outcome, goal) in [
            (CallbackReturn::Success, LifecycleState::Unconfigured),
            (CallbackReturn::Failure, LifecycleState::Finalized),
            (CallbackReturn::Error, LifecycleState::Finalized),
        ] {
            let mut machine = Machine { state: LifecycleState::Active };
            assert_eq!(machine.fail().unwrap().goal, LifecycleState::ErrorProcessing);
            assert_eq!(machine.finish(outcome).unwrap().goal, goal);
            assert_eq!(machine.finish(outcome), None);
            assert!(machine.fail().is_err());
        }
    }

    #[test]
    fn outcomes_cannot_be_requested() {
        let mut machine = Machine { state: LifecycleState::Configuring };
        assert!(machine.begin_numbered(10).is_err() && machine.begin_named("transition_success").is_err());
        let mut machine = Machine::default();
        let refused = machine.begin_named("fly").unwrap_err().to_string();
        assert_eq!(refused, "'fly' is not possible in state unconfigured");
        assert!(machine.begin_numbered(200).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_sequence_of_requests_leaves_the_chart(requests in proptest::collection::vec(0_u8..110, 0..60)) {
            let mut machine = Machine::default();
            for request in requests {
                let before = machine.state();
                let moved = match request {
                    100..=102 => machine.finish(
                        [CallbackReturn::Success, CallbackReturn::Failure, CallbackReturn::Error]
                            [usize::from(request - 100)],
                    ),
                    103 => machine.fail().ok(),
                    id => machine.begin_numbered(id).ok(),
                };
                match moved {
                    Some(transition) => {
                        proptest::prop_assert_eq!((transition.start, transition.goal), (before, machine.state()));
                    }
                    None => proptest::prop_assert_eq!(before, machine.state()),
                }
            }
        }
    }
}
