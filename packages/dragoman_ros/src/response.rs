//! Responses of services that say whether a request succeeded: `bool success` and `string message`.

/// Such a response.
pub trait Response: Default {
    /// `success` and `message`.
    fn verdict(&mut self) -> (&mut bool, &mut String);

    /// The response to a request that was refused.
    fn refused(reason: impl Into<String>) -> Self {
        let mut response = Self::default();
        *response.verdict().1 = reason.into();
        response
    }

    /// The response to a request without data in its response.
    fn from_result(result: Result<(), impl Into<String>>) -> Self {
        match result {
            Ok(()) => Self::default().succeeded(),
            Err(reason) => Self::refused(reason),
        }
    }

    /// This response, which has the data of a success.
    fn succeeded(mut self) -> Self {
        *self.verdict().0 = true;
        self
    }

    /// The response if it is a success.
    ///
    /// # Errors
    /// The message of a failure.
    fn checked(mut self) -> Result<Self, String> {
        match self.verdict() {
            (true, _) => Ok(self),
            (false, message) => Err(std::mem::take(message)),
        }
    }
}

macro_rules! responses {
    ($($package:ident: $($service:ident)*;)*) => {
        $($(
            impl Response for crate::$package::srv::$service::Response {
                fn verdict(&mut self) -> (&mut bool, &mut String) {
                    (&mut self.success, &mut self.message)
                }
            }
        )*)*

        #[cfg(test)]
        const RESPONSES: &[(&str, &[&str])] =
            &[$( (stringify!($package), &[$( stringify!($service) ),*]) ),*];
    };
}

responses! {
    std_srvs: SetBool Trigger;
    dragoman_msgs:
        AdvanceWorlds BeginCircle BeginSinusoid CheckRobotJoints GetAllultrasonicSensors GetGeometry GetLaserData
        GetLaserLandMarks GetLocation GetLocationMRobot GetOdometry GetUltrasonicSensor LinkToRobotTcp MoveMRobot Place
        PlaceMRobot PlaceXyz PlanToPose PlatformAddCanListeningId PlatformGetCamera PlatformGetCanMessages
        PlatformGetDebugData PlatformGetDocument PlatformGetParameter PlatformGetParameters PlatformGetPosition
        PlatformGetStatus PlatformMouseMove PlatformMovePath PlatformMoveToPose PlatformMoveToStation
        PlatformMoveVelocity PlatformMoveWheels PlatformRaiseEvent PlatformSendCanMessage PlatformSetBrake
        PlatformSetDigitalOutput PlatformSetDocument PlatformSetEvent PlatformSetFile PlatformSetHeadPosition
        PlatformSetHeadVelocity PlatformSetMode PlatformSetParameter PlatformSetPose PlatformSetText
        PlatformStartUltrasonic PressButton Recalibrate ResetOdometry SetCommandMode SetGoalPose SetJointGoal
        SetJointViaPoint SetOdometry SetRobotJoints SetSimulationSpeed SetTimeStep SetViaPoint StartPlayback
        StartRecording UpdateWorld;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_of_ours_with_these_fields_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../msg/dragoman_msgs/srv");
        let mut expected: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                let response = text.split_once("---").map_or("", |(_, response)| response);
                ["bool success", "string message"].iter().all(|field| response.contains(field))
            })
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        expected.sort();
        let (_, listed) = RESPONSES.iter().find(|(package, _)| *package == "dragoman_msgs").unwrap();
        assert_eq!(*listed, expected);
    }

    #[test]
    fn a_failure_has_a_reason_and_a_success_none() {
        use crate::std_srvs::srv::Trigger;
        let refused = Trigger::Response::refused("disabled");
        assert_eq!((refused.success, refused.message.as_str()), (false, "disabled"));
        assert_eq!(refused.checked().unwrap_err(), "disabled");
        assert!(Trigger::Response::default().succeeded().checked().is_ok());
    }
}
