//! States, modes and kinds of parameters with the numbers of the PlatformCtrl guide (4.2, 4.3 and 6.4).
//!
//! [`Code`] is their common trait; the wire format uses it to read and write them.

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

/// Defines enums from tables of numbers and names.
#[doc(hidden)]
#[macro_export]
macro_rules! codes {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$one:meta])* $variant:ident = $code:literal, $text:literal; )* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$one])* #[doc = concat!("\n\n`", $text, "`")] $variant = $code, )* }

        impl $crate::codes::Code for $name {
            const ALL: &'static [Self] = &[$( Self::$variant, )*];

            fn code(self) -> u8 {
                self as u8
            }

            fn name(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::codes::Code::name(*self))
            }
        }
    )*};
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

codes! {
    /// Operation state of the platform.
    pub enum Operation {
        /// Initialized, and waiting for a start.
        Ready = 0, "ST_OP_READY";
        /// A motion mode runs.
        Moving = 1, "ST_OP_RUNNING";
        /// Paused; continues where it was.
        Broken = 2, "ST_OP_BROKEN";
        /// Before the hardware was connected and initialized.
        NotInitialized = 3, "ST_OP_NOT_INITIALIZED";
    }

    /// State of the emergency stop.
    pub enum Emergency {
        /// No emergency stop.
        Inactive = 0, "ST_EM_NOT_ACTIVE";
        /// The platform is in its secure state.
        Active = 1, "ST_EM_ACTIVE";
        /// The stop was released, and the safety system is being reset.
        Reset = 2, "ST_EM_RESET";
    }

    /// Source of the platform's motion.
    pub enum MotionMode {
        /// Motion commands have no effect.
        None = 0, "MODE_MOTION_NO";
        /// A remote controller.
        JoystickHardware = 1, "MODE_MOTION_JOYHARD";
        /// Velocities of the platform, as from a joystick on a screen.
        JoystickSoftware = 2, "MODE_MOTION_JOYSOFT";
        /// Velocities of the platform or of its wheels.
        Velocity = 3, "MODE_MOTION_VEL";
        /// Targets, paths and stations.
        Automatic = 4, "MODE_MOTION_AUTOMATIC";
        /// The tasks of a program.
        Program = 5, "MODE_MOTION_PROGRAM";
        /// A recording.
        Replay = 6, "MODE_MOTION_POST_PROCESS_REPLAY";
    }

    /// Progress of the path planner, as the status telegram gives it.
    #[derive(Default)]
    pub enum PlannerState {
        /// No plan is needed.
        #[default]
        Standby = 0, "PLANNER_STANDBY";
        /// A plan is requested; it starts when the platform stands.
        Planning = 1, "PLANNER_PLANNING";
        /// No path was found.
        NoPath = 2, "PLANNER_NO_PATH";
        /// A path was found.
        PathFound = 3, "PLANNER_PATH_FOUND";
        /// Collision at the start.
        CollisionStart = 4, "PLANNER_COLLISION_START";
        /// Collision at the target.
        CollisionTarget = 5, "PLANNER_COLLISION_TARGET";
    }

    /// A drive motor, by its node on the platform's CAN bus.
    pub enum Motor {
        /// The right one.
        Right = 1, "CANNODE_MOTORRIGHT";
        /// The left one.
        Left = 2, "CANNODE_MOTORLEFT";
    }

    /// A board with digital outputs.
    pub enum Board {
        /// The general I/O board.
        Io = 0, "TYPE_IOBOARD";
        /// The relay board.
        Relay = 1, "TYPE_RELAYBOARD";
    }

    /// What failed beside driving, as the status telegram gives it.
    pub enum ApplicationError {
        /// No error.
        None = 0, "APP_ERR_NONE";
        /// Docking at the charging station.
        Docking = 1, "APP_ERR_DOCKING";
    }

    /// Group of the user interface that a parameter belongs to.
    pub enum ParameterCategory {
        /// Dimensions of the platform.
        Geometry = 0, "GEOM";
        /// Planning of paths.
        Planning = 1, "PLANNING";
        /// Interpolation of motions.
        Interpolation = 2, "IPO";
        /// Localization.
        Localization = 3, "LOCALIZATION";
        /// Tracking and detection.
        TrackingDetection = 4, "TRACKING_DETECTION";
        /// Avoidance of collisions.
        Collision = 5, "COLLISION";
        /// Guarding.
        Surveillance = 6, "SURVEILLANCE";
        /// Control of motions.
        MotionControl = 7, "MOTION_CTRL";
        /// Making of maps.
        Mapping = 8, "MAPPING";
        /// Poses of the ultrasonic sensors.
        Ultrasonic = 9, "USONIC";
        /// Infrared sensors.
        Infrared = 10, "INFRARED";
    }

    /// Type of a parameter's value.
    pub enum ParameterType {
        /// `true` or `false`.
        Boolean = 0, "BOOLEAN";
        /// A whole number.
        Integer = 1, "INTEGER";
        /// A number.
        Double = 2, "DOUBLE";
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
