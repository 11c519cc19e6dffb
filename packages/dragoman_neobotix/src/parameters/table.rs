//! The table of parameters.

use std::sync::LazyLock;

use super::{Declaration, Value};
use crate::codes::ParameterCategory as Category;

const fn flag(
    category: Category,
    key: &'static str,
    default: bool,
    description: &'static str,
) -> Declaration {
    Declaration {
        key,
        category,
        default: Value::Boolean(default),
        minimum: 0,
        maximum: 1,
        unit: "",
        description,
        without_effect: None,
    }
}

const fn number(
    category: Category,
    key: &'static str,
    default: f64,
    [minimum, maximum]: [i32; 2],
    unit: &'static str,
    description: &'static str,
) -> Declaration {
    let default = Value::Double(default);
    Declaration { key, category, default, minimum, maximum, unit, description, without_effect: None }
}

impl Declaration {
    /// The parameter is kept without effect, for this reason.
    const fn kept(mut self, reason: &'static str) -> Self {
        self.without_effect = Some(reason);
        self
    }
}

/// Range of the lines of scans and maps, mm.
const LINE: [i32; 2] = [10, 10_000];
const PLACE: [i32; 2] = [-10_000, 10_000];

#[rustfmt::skip]
static TABLE: [Declaration; 29] = [
    flag(Category::Surveillance, "FlashlightEnabled",        false, "flash light, on topic `flash_light` and in the status"),
    flag(Category::Surveillance, "PIRSensorsEnabled",        false, "use the passive infrared sensors: status, events of programs"),
    flag(Category::Surveillance, "RadarSensorsEnabled",      false, "use the radar sensors: status, events of programs"),
    flag(Category::Surveillance, "SirenEnabled",             false, "siren, on topic `siren` and in the status"),
    flag(Category::Surveillance, "SurveillanceModeEnabled",  false, "surveillance mode: the infrared sensors are analog inputs 1 to 4 of the ultrasonic board"),
    flag(Category::TrackingDetection, "ChargeStationDetectEnabled", true,  "use detected charging stations, for `chargingstation` of programs"),
    flag(Category::TrackingDetection, "PersonDetectionEnabled",     false, "use detected persons: debug data, programs"),
    flag(Category::TrackingDetection, "TrackingEnabled",            false, "track moving objects with the laser: debug data, programs"),
    number(Category::Mapping, "MinLineLenAux", 250.0, LINE, "mm", "shortest auxiliary line, as extracted from a scan"),
    number(Category::Mapping, "MinLineLenMap", 400.0, LINE, "mm", "shortest line that is mapped"),
    number(Category::MotionControl, "PathFollowParam1", 12.0, [0, 1000], "1/m^2", "path following: gain for lateral errors"),
    number(Category::MotionControl, "PathFollowParam2", 6.0,  [0, 1000], "1/m",   "path following: gain for heading errors"),
    flag(Category::MotionControl, "PositionStabilizationEnabled", true, "correct the pose at the end of a move command"),
    flag(Category::Planning, "PlanningEnabled",          true,  "plan paths in the automatic mode"),
    flag(Category::Planning, "SimuOnlineEnabledPostDis", false, "online simulation")
        .kept("whether the platform is simulated is decided by its base, not by the controller"),
    flag(Category::Planning, "ViewPlanObstEnabled",      true,  "show the planner's obstacles in the debug data"),
    flag(Category::Collision, "CollCheckEnabled", true, "check all sensors for collisions"),
    number(Category::Collision, "CollLaserMinDist", 150.0, [0, 10_000], "mm", "minimum distance to an obstacle"),
    number(Category::Geometry, "DistPltfCenterToWheelAxis", 0.0, PLACE,  "mm", "distance from the platform's center to its wheel axis"),
    number(Category::Geometry, "DistWheels",  500.0, [10, 10_000], "mm", "distance between the wheels"),
    number(Category::Geometry, "PltfLength",  900.0, [10, 10_000], "mm", "length of the platform"),
    number(Category::Geometry, "RadiusWheel", 125.0, [1, 10_000],  "mm", "radius of the wheels: their angles, and the limit of the drives"),
    flag(Category::Interpolation, "EndTurnEnabled", true, "turn at the target on the spot; otherwise arrive in a curve"),
    number(Category::Interpolation, "IpoRotvel",   0.6,    [0, 10],     "rad/s", "rotational velocity of interpolated motions; 0: the platform does not turn"),
    number(Category::Interpolation, "IpoTransVel", 1000.0, [0, 10_000], "mm/s",  "translational velocity of interpolated motions; 0: the platform waits"),
    flag(Category::Interpolation, "StartTurnEnabled", true, "without planning: turn towards the path on the spot first"),
    flag(Category::Localization, "GlobalLocalization", true, "search for the platform on the whole map"),
    number(Category::Localization, "LineExtractMaxCov", 400.0, [1, 1_000_000], "mm^2", "maximum uncertainty of lines extracted from scans"),
    flag(Category::Localization, "LocalLocalization", true, "correct the position with the laser"),
];

/// Not used by the original either.
const MAPPING_MODE: Declaration = Declaration {
    key: "MappingMode",
    category: Category::Localization,
    default: Value::Integer(0),
    minimum: 0,
    maximum: 1,
    unit: "",
    description: "mapping mode",
    without_effect: Some("not used by the original"),
};

/// x, y, z in mm and the angle in degrees of the ultrasonic sensors, on the border of 900 mm by 600 mm.
#[rustfmt::skip]
const ULTRASONIC: [([&str; 4], [f64; 4]); 16] = [
    (["UltraSonic1X",  "UltraSonic1Y",  "UltraSonic1Z",  "UltraSonic1Angle"],  [450.0, 0.0, 200.0, 0.0]),
    (["UltraSonic2X",  "UltraSonic2Y",  "UltraSonic2Z",  "UltraSonic2Angle"],  [450.0, 186.0, 200.0, 22.5]),
    (["UltraSonic3X",  "UltraSonic3Y",  "UltraSonic3Z",  "UltraSonic3Angle"],  [300.0, 300.0, 200.0, 45.0]),
    (["UltraSonic4X",  "UltraSonic4Y",  "UltraSonic4Z",  "UltraSonic4Angle"],  [124.0, 300.0, 200.0, 67.5]),
    (["UltraSonic5X",  "UltraSonic5Y",  "UltraSonic5Z",  "UltraSonic5Angle"],  [0.0, 300.0, 200.0, 90.0]),
    (["UltraSonic6X",  "UltraSonic6Y",  "UltraSonic6Z",  "UltraSonic6Angle"],  [-124.0, 300.0, 200.0, 112.5]),
    (["UltraSonic7X",  "UltraSonic7Y",  "UltraSonic7Z",  "UltraSonic7Angle"],  [-300.0, 300.0, 200.0, 135.0]),
    (["UltraSonic8X",  "UltraSonic8Y",  "UltraSonic8Z",  "UltraSonic8Angle"],  [-450.0, 186.0, 200.0, 157.5]),
    (["UltraSonic9X",  "UltraSonic9Y",  "UltraSonic9Z",  "UltraSonic9Angle"],  [-450.0, 0.0, 200.0, 180.0]),
    (["UltraSonic10X", "UltraSonic10Y", "UltraSonic10Z", "UltraSonic10Angle"], [-450.0, -186.0, 200.0, -157.5]),
    (["UltraSonic11X", "UltraSonic11Y", "UltraSonic11Z", "UltraSonic11Angle"], [-300.0, -300.0, 200.0, -135.0]),
    (["UltraSonic12X", "UltraSonic12Y", "UltraSonic12Z", "UltraSonic12Angle"], [-124.0, -300.0, 200.0, -112.5]),
    (["UltraSonic13X", "UltraSonic13Y", "UltraSonic13Z", "UltraSonic13Angle"], [0.0, -300.0, 200.0, -90.0]),
    (["UltraSonic14X", "UltraSonic14Y", "UltraSonic14Z", "UltraSonic14Angle"], [124.0, -300.0, 200.0, -67.5]),
    (["UltraSonic15X", "UltraSonic15Y", "UltraSonic15Z", "UltraSonic15Angle"], [300.0, -300.0, 200.0, -45.0]),
    (["UltraSonic16X", "UltraSonic16Y", "UltraSonic16Z", "UltraSonic16Angle"], [450.0, -186.0, 200.0, -22.5]),
];

static ALL: LazyLock<Vec<Declaration>> = LazyLock::new(|| {
    let ultrasonic = ULTRASONIC.iter().flat_map(|(keys, values)| {
        let columns = [
            (PLACE, "mm", "x of an ultrasonic sensor on the platform"),
            (PLACE, "mm", "y of an ultrasonic sensor on the platform"),
            (PLACE, "mm", "z of an ultrasonic sensor on the platform, in its transform"),
            ([-360, 360], "deg", "direction of an ultrasonic sensor, from the x axis"),
        ];
        keys.iter().zip(values).zip(columns).map(|((key, default), (range, unit, description))| {
            number(Category::Ultrasonic, key, *default, range, unit, description)
        })
    });
    TABLE.iter().copied().chain([MAPPING_MODE]).chain(ultrasonic).collect()
});

/// All parameters.
pub fn declarations() -> &'static [Declaration] {
    &ALL
}

/// Maximum length of a key, bytes, including blanks, which are ignored; the longest key of the table has 26.
const MAX_KEY_LEN: usize = 64;

/// Whether `key` is the parameter `own`, ignoring blanks.
pub(super) fn is_key(own: &str, key: &str) -> bool {
    key.len() <= MAX_KEY_LEN && own.chars().eq(key.chars().filter(|character| *character != ' '))
}

/// The parameter with this key. Blanks in the key are ignored.
pub fn declaration(key: &str) -> Option<&'static Declaration> {
    declarations().iter().find(|one| is_key(one.key, key))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{ParameterError, Parameters};
    use super::*;

    /// PlatformCtrl guide, 5.9.
    #[test]
    fn the_table_is_the_guide_s() {
        let count = |category| declarations().iter().filter(|one| one.category == category).count();
        let counts = [
            (Category::Surveillance, 5),
            (Category::TrackingDetection, 3),
            (Category::Ultrasonic, 4 * 16),
            (Category::Mapping, 2),
            (Category::MotionControl, 3),
            (Category::Planning, 3),
            (Category::Collision, 2),
            (Category::Geometry, 4),
            (Category::Interpolation, 4),
            (Category::Localization, 4),
            (Category::Infrared, 0),
        ];
        for (category, expected) in counts {
            assert_eq!(count(category), expected, "{category}");
        }
        assert_eq!(declaration("IpoRotvel").expect("a parameter").default, Value::Double(0.6));
        assert_eq!(declaration("IpoTransVel").expect("a parameter").default, Value::Double(1000.0));
        assert_eq!(declaration("Planning Enabled").expect("a parameter").key, "PlanningEnabled");
        assert_eq!(declaration("planningenabled"), None);
    }

    /// PlatformCtrl guide, 5.9: "Not used at the moment", and the online simulation.
    #[test]
    fn parameters_without_effect_have_a_reason() {
        let kept: Vec<_> = declarations().iter().filter(|one| one.without_effect.is_some()).collect();
        let keys: Vec<_> = kept.iter().map(|one| one.key).collect();
        assert_eq!(keys, ["SimuOnlineEnabledPostDis", "MappingMode"]);
    }

    #[test]
    fn keys_are_different_and_defaults_in_range() {
        let keys: BTreeSet<_> = declarations().iter().map(|one| one.key).collect();
        assert_eq!(keys.len(), declarations().len());
        for one in declarations() {
            assert_eq!(one.parse(&one.default.to_string()), Ok(one.default), "{}", one.key);
        }
    }

    #[test]
    fn values_are_checked_and_refused_without_effect() {
        let mut parameters = Parameters::default();
        assert_eq!(parameters.set("IpoTransVel", " 250.5 "), Ok(Value::Double(250.5)));
        assert_eq!(parameters.set("Planning Enabled", "FALSE"), Ok(Value::Boolean(false)));
        let before = parameters.clone();
        for (key, value, expected) in [
            ("IpoTransVel", "nan", "IpoTransVel = 'nan': DOUBLE is needed"),
            ("IpoTransVel", "-1", "IpoTransVel = -1: it has to be from 0 to 10000 mm/s"),
            ("PlanningEnabled", "2", "PlanningEnabled = '2': BOOLEAN is needed"),
            ("MappingMode", "0.5", "MappingMode = '0.5': INTEGER is needed"),
            ("Nothing", "1", "there is no parameter 'Nothing'"),
        ] {
            assert_eq!(parameters.set(key, value).expect_err(key).to_string(), expected);
        }
        let error = parameters.set_value("IpoTransVel", Value::Boolean(true)).expect_err("a number");
        assert!(matches!(error, ParameterError::Kind { key: "IpoTransVel", .. }));
        assert_eq!(parameters, before);
        assert_eq!(parameters.value("IpoTransVel"), Some(Value::Double(250.5)));
    }
}
