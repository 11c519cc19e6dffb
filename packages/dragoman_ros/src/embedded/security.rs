//! ROS's security settings (SROS 2), which this implementation does not support: it refuses to start rather than to
//! start without them.

use super::error::{Error, Result};

/// Refuses unsupported settings. As in rcl, security is on if `ROS_SECURITY_ENABLE` is exactly `true`; and without
/// `Enforce` a participant without keys runs unsecured.
///
/// # Errors
/// Security is on, and either enforced or a keystore is set.
pub(crate) fn check(variable: impl Fn(&str) -> Option<String>) -> Result<()> {
    let read = |name: &str| variable(name).filter(|text| !text.is_empty());
    match read("ROS_SECURITY_ENABLE").as_deref() {
        None | Some("false") => return Ok(()),
        Some("true") => {}
        Some(other) => {
            tracing::warn!("security disabled: ROS_SECURITY_ENABLE is '{other}', not 'true'");
            return Ok(());
        }
    }
    let refused = |reason: &str| {
        Err(Error::InvalidArgument(format!(
            "ROS_SECURITY_ENABLE is true, and {reason}; this build of Dragoman has no DDS security and does not start without it: use a \
             build on rcl (feature r2r), or unset ROS_SECURITY_ENABLE"
        )))
    };
    if read("ROS_SECURITY_STRATEGY").as_deref() == Some("Enforce") {
        return refused("ROS_SECURITY_STRATEGY is Enforce");
    }
    if let Some(keystore) = read("ROS_SECURITY_KEYSTORE") {
        return refused(&format!("ROS_SECURITY_KEYSTORE is {keystore}"));
    }
    tracing::warn!(
        "security disabled: ROS_SECURITY_ENABLE is true, but no keystore is set and security is not enforced"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_with(variables: &[(&str, &str)]) -> Result<()> {
        check(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn security_that_cannot_be_provided_is_refused() {
        for (name, value) in [("ROS_SECURITY_STRATEGY", "Enforce"), ("ROS_SECURITY_KEYSTORE", "/keys")] {
            let error =
                check_with(&[("ROS_SECURITY_ENABLE", "true"), (name, value)]).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
            assert!(check_with(&[(name, value)]).is_ok(), "security is off");
        }
        assert!(check_with(&[("ROS_SECURITY_ENABLE", "true")]).is_ok(), "permissive, without keys");
    }
}
