//! States, modes and kinds of parameters with the numbers of the PlatformCtrl guide (4.2, 4.3 and 6.4).
//!
//! They are made of `protocols/neobotix.yaml` in `dragoman_protocol`. [`Code`] is their common trait; the wire format uses it
//! to read and write them.

use std::fmt;

/// Distance in the status of an ultrasonic sensor that does not measure, m: beyond the range of every sensor. The
/// PlatformCtrl guide has no such value; 0 would be a contact.
pub const ULTRASONIC_IDLE: f64 = 10.0;

/// A code with a number and a name in the PlatformCtrl guide.
pub trait Code: Copy + Eq + fmt::Debug + 'static {
    /// All codes, in the order of the numbers.
    const ALL: &'static [Self];

    /// Its number on the wire.
    fn code(self) -> u8;

    /// Its name in the guide.
    fn name(self) -> &'static str;

    /// The code of a number. `None`: not in the guide.
    fn from_code(code: i64) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| i64::from(one.code()) == code)
    }
}

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

#[allow(clippy::derivable_impls, reason = "the enumeration is made of a description")]
impl Default for PlannerState {
    fn default() -> Self {
        Self::Standby
    }
}

impl Code for bool {
    const ALL: &'static [Self] = &[false, true];

    fn code(self) -> u8 {
        self.into()
    }

    fn name(self) -> &'static str {
        if self { "true" } else { "false" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<T: Code>() -> Vec<(u8, &'static str)> {
        for one in T::ALL {
            assert_eq!(T::from_code(one.code().into()), Some(*one));
        }
        assert_eq!((T::from_code(-1), T::from_code(256)), (None, None));
        T::ALL.iter().map(|one| (one.code(), one.name())).collect()
    }

    /// PlatformCtrl guide, CMD_SET_MODE and the table of the reply to CMD_GET_STATUS.
    #[test]
    fn numbers_are_the_guide_s() {
        assert_eq!(numbers::<MotionMode>().last(), Some(&(6, "MODE_MOTION_POST_PROCESS_REPLAY")));
        assert_eq!(numbers::<MotionMode>().len(), 7);
        assert_eq!(numbers::<Operation>()[3], (3, "ST_OP_NOT_INITIALIZED"));
        assert_eq!(numbers::<Operation>()[1], (1, "ST_OP_RUNNING"));
        assert_eq!(numbers::<Emergency>()[2], (2, "ST_EM_RESET"));
        assert_eq!(numbers::<PlannerState>()[5], (5, "PLANNER_COLLISION_TARGET"));
        assert_eq!(numbers::<ApplicationError>(), [(0, "APP_ERR_NONE"), (1, "APP_ERR_DOCKING")]);
        assert_eq!(numbers::<bool>(), [(0, "false"), (1, "true")]);
    }
}
