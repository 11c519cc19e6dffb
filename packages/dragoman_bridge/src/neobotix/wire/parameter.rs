//! Parameters (seed 002, sections 6.3 and 6.4). Which there are: [`crate::neobotix::parameters`].

use super::field::layout;
use super::{Coded, Text};
use crate::neobotix::status::codes;

codes! {
    /// Where a parameter belongs.
    pub enum ParameterCategory {
        /// Dimensions of the platform.
        Geometry = 0, "GEOM";
        /// Planning of paths.
        Planning = 1, "PLANNING";
        /// Interpolation of motions.
        Interpolation = 2, "IPO";
        /// Localization.
        Localization = 3, "LOCALIZATION";
        /// What the platform follows and detects.
        TrackingDetection = 4, "TRACKING_DETECTION";
        /// Avoidance of collisions.
        Collision = 5, "COLLISION";
        /// Guarding.
        Surveillance = 6, "SURVEILLANCE";
        /// Control of motions.
        MotionControl = 7, "MOTION_CTRL";
        /// Making of maps.
        Mapping = 8, "MAPPING";
        /// Where the ultrasonic sensors are.
        Ultrasonic = 9, "USONIC";
        /// Infrared sensors.
        Infrared = 10, "INFRARED";
    }

    /// What kind of value a parameter has.
    pub enum ParameterType {
        /// `true` or `false`.
        Boolean = 0, "BOOLEAN";
        /// A whole number.
        Integer = 1, "INTEGER";
        /// A number.
        Double = 2, "DOUBLE";
    }
}

layout! {
    /// CMD_SET_PLTF_PARAM.
    #[derive(Eq, Default)]
    pub struct SetParameter {
        /// Its name.
        pub key: Text,
        /// The value, written out.
        pub value: Text,
    }

    /// CMD_GET_PLTF_PARAM.
    #[derive(Eq, Default)]
    pub struct GetParameter {
        /// Its name.
        pub key: Text,
    }

    /// Reply to CMD_GET_PLTF_PARAM, and one of those to CMD_GET_PLTF_PARAM_VEC.
    #[derive(Eq, Default)]
    pub struct ParameterReply {
        /// Its name.
        pub key: Text,
        /// The value, written out.
        pub value: Text,
        /// INT.
        pub category: Coded<ParameterCategory>,
        /// INT.
        pub kind: Coded<ParameterType>,
        /// The least value.
        pub minimum: i32,
        /// The greatest value.
        pub maximum: i32,
    }

    /// Reply to CMD_GET_PLTF_PARAM_VEC.
    #[derive(Eq, Default)]
    pub struct ParameterReplies {
        /// All parameters.
        pub parameters: Vec<ParameterReply>,
    }
}
