//! Environment variables of ROS that this implementation does not support. They are not errors, but programs that
//! follow them may not see this program.

use crate::distribution::Distribution;

/// The middleware implementations that speak RTPS, as this one does.
const RTPS: [&str; 4] = ["fastrtps", "cyclonedds", "connext", "gurumdds"];

/// A warning for each variable that is not supported: the effect, and the remedy.
pub(crate) fn not_followed(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let read = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut warnings = Vec::new();
    if let Some(name) = read("RMW_IMPLEMENTATION").filter(|name| !RTPS.iter().any(|rtps| name.contains(rtps)))
    {
        warnings.push(format!(
            "RMW_IMPLEMENTATION is {name}, and this build of Dragoman speaks RTPS only: nodes with {name} do not see it, nor it \
             them. Use rmw_fastrtps_cpp or rmw_cyclonedds_cpp there, or a build on rcl (feature r2r)"
        ));
    }
    if let Some(server) = read("ROS_DISCOVERY_SERVER") {
        warnings.push(format!(
            "ROS_DISCOVERY_SERVER is {server}, and this build of Dragoman asks no discovery server: nodes that do, do not see it. \
             Name their hosts in ROS_STATIC_PEERS and unset the variable there, or use a build on rcl (feature r2r)"
        ));
    }
    if let Some(name) = read("ROS_DISTRO").filter(|name| !Distribution::NAMES.contains(&name.as_str())) {
        let hint = dragoman_text::hint(&name, Distribution::NAMES);
        warnings.push(format!(
            "ROS_DISTRO is {name}, which Dragoman does not know, and it uses the message formats of Jazzy{hint}"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Vec<String> {
        not_followed(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_that_are_followed_cause_no_warning() {
        for name in
            ["rmw_fastrtps_cpp", "rmw_fastrtps_dynamic_cpp", "rmw_cyclonedds_cpp", "rmw_connextdds", ""]
        {
            assert!(of(&[("RMW_IMPLEMENTATION", name)]).is_empty(), "{name}");
        }
        for name in Distribution::NAMES {
            assert!(of(&[("ROS_DISTRO", name)]).is_empty(), "{name}");
        }
        assert!(of(&[("ROS_DISCOVERY_SERVER", " ")]).is_empty());
    }

    #[test]
    fn each_variable_that_is_not_followed_is_named_with_what_helps() {
        for (name, value, helps) in [
            ("RMW_IMPLEMENTATION", "rmw_zenoh_cpp", "r2r"),
            ("ROS_DISCOVERY_SERVER", "10.0.0.1:11811", "ROS_STATIC_PEERS"),
            ("ROS_DISTRO", "jazy", "did you mean 'jazzy'?"),
            ("ROS_DISTRO", "foxy", "known: humble, iron"),
        ] {
            let warnings = of(&[(name, value)]);
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert!([name, value, helps].iter().all(|part| warnings[0].contains(part)), "{warnings:?}");
        }
    }
}
