//! The ROS services of a world and their commands: one row per command.

use dragoman_ros::dragoman_msgs::msg::LandMark;
use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};

use super::call::{Outcome, Refusal};
use super::wire::{self, Command, Request};
use crate::services::{self, Service};

pub(super) type Row = Box<dyn services::Row<Request, Outcome>>;

/// A field of a [`Request`] as a field of a service's request, and back.
trait Field<Ros> {
    fn into_ros(self) -> Ros;

    fn from_ros(ros: Ros) -> Self;
}

impl<T> Field<T> for T {
    fn into_ros(self) -> T {
        self
    }

    fn from_ros(ros: T) -> Self {
        ros
    }
}

/// Numbers of a response in the order of the protocol; missing ones are 0.
trait Values {
    fn from_values(values: &mut impl Iterator<Item = f64>) -> Self;

    fn into_values(self, values: &mut Vec<f64>);
}

impl Values for f64 {
    fn from_values(values: &mut impl Iterator<Item = f64>) -> Self {
        values.next().unwrap_or_default()
    }

    fn into_values(self, values: &mut Vec<f64>) {
        values.push(self);
    }
}

impl Values for Vec<f64> {
    fn from_values(values: &mut impl Iterator<Item = f64>) -> Self {
        values.collect()
    }

    fn into_values(self, values: &mut Vec<f64>) {
        values.extend(self);
    }
}

macro_rules! vectors {
    ($($type:ident)*) => {$(
        impl Field<$type> for [f64; 3] {
            fn into_ros(self) -> $type {
                let [x, y, z] = self;
                $type { x, y, z }
            }

            fn from_ros($type { x, y, z }: $type) -> Self {
                [x, y, z]
            }
        }

        impl Values for $type {
            fn from_values(values: &mut impl Iterator<Item = f64>) -> Self {
                [(); 3].map(|()| f64::from_values(values)).into_ros()
            }

            fn into_values(self, values: &mut Vec<f64>) {
                values.extend(<[f64; 3]>::from_ros(self));
            }
        }
    )*};
}

vectors! { Point Vector3 }

/// A row per command: its fields after `world`, its service, `=>` the outcome with the fields of the response.
macro_rules! services {
    ($( $command:ident { $($field:ident),* }: $service:ident => $outcome:ident $(($($answer:ident),+))?; )*) => {
        /// A row per command.
        pub(super) fn rows() -> Vec<Row> {
            vec![$( Box::new(Service::<$service::Service, Request, Outcome> {
                name: Command::$command.service(),
                request: |request| match request {
                    Request::$command { world, $($field),* } => {
                        Ok($service::Request { world, $($field: $field.into_ros()),* })
                    }
                    _ => Err(Outcome::Refused(Refusal::Rejected("of another command".into()))),
                },
                call: |request| Ok(Request::$command {
                    world: request.world,
                    $($field: Field::from_ros(request.$field)),*
                }),
                outcome: |response| match (response.success, response.found) {
                    (true, _) => services!(@outcome response, $outcome $($($answer)+)?),
                    (false, true) => Outcome::Refused(Refusal::Rejected(response.message)),
                    (false, false) => Outcome::Refused(Refusal::UnknownName(response.message)),
                },
                response: |outcome| {
                    let mut response = $service::Response::default();
                    let _outcome = services!(@head response, outcome);
                    services!(@response response, _outcome, $outcome $($($answer)+)?);
                    response
                },
            }) as Row, )*]
        }
    };
    (@head $response:ident, $outcome:ident) => {{
        let outcome = $outcome.unwrap_or_else(|reason| Outcome::Refused(Refusal::Rejected(reason)));
        ($response.success, $response.found) = (true, true);
        if let Outcome::Refused(refusal) = &outcome {
            ($response.success, $response.found) = (false, refusal.is_of_known_name());
            $response.message = refusal.to_string();
        }
        outcome
    }};
    (@outcome $response:ident, Done) => { Outcome::Done };
    (@outcome $response:ident, Verdict $answer:ident) => { Outcome::Verdict($response.$answer) };
    (@outcome $response:ident, Values $($answer:ident)+) => {{
        let mut values = Vec::new();
        $( $response.$answer.into_values(&mut values); )+
        Outcome::Values(values)
    }};
    (@outcome $response:ident, LandMarks $answer:ident) => {
        Outcome::LandMarks($response.$answer.into_iter().map(from_ros).collect())
    };
    (@response $response:ident, $given:ident, Done) => {};
    (@response $response:ident, $given:ident, Verdict $answer:ident) => {
        $response.$answer = $given == Outcome::Verdict(true)
    };
    (@response $response:ident, $given:ident, Values $($answer:ident)+) => {
        if let Outcome::Values(values) = $given {
            let mut values = values.into_iter();
            $( $response.$answer = Values::from_values(&mut values); )+
        }
    };
    (@response $response:ident, $given:ident, LandMarks $answer:ident) => {
        if let Outcome::LandMarks(marks) = $given {
            $response.$answer = marks.into_iter().map(into_ros).collect();
        }
    };
}

services! {
    CheckRobotJoints { robot, values }: CheckRobotJoints => Verdict(collision);
    GetAllultrasonicSensors { robot }: GetAllultrasonicSensors => Values(ranges);
    GetLaserData { laser }: GetLaserData => Values(ranges);
    GetLaserLandMarks { laser }: GetLaserLandMarks => LandMarks(land_marks);
    GetLocation { object }: GetLocation => Values(position, rpy);
    GetLocationMRobot { robot }: GetLocationMRobot => Values(position, yaw);
    GetOdometry { robot }: GetOdometry => Values(x, y, yaw);
    GetUltrasonicSensor { sensor }: GetUltrasonicSensor => Values(range);
    LinkToRobotTcp { robot, object }: LinkToRobotTcp => Done;
    MoveMRobot { robot, speed, rotation_speed, duration }: MoveMRobot => Verdict(moved);
    Place { object, position, rpy }: Place => Done;
    PlaceMRobot { robot, position, yaw }: PlaceMRobot => Verdict(placed);
    ResetOdometry { robot, x, y, yaw }: ResetOdometry => Done;
    SetRobotJoints { robot, values }: SetRobotJoints => Done;
    Update {}: UpdateWorld => Done;
}

fn from_ros(mark: LandMark) -> wire::LandMark {
    wire::LandMark { id: mark.id, angle: mark.angle, distance: mark.distance }
}

fn into_ros(mark: wire::LandMark) -> LandMark {
    LandMark { id: mark.id, angle: mark.angle, distance: mark.distance }
}

/// A service without a command of its own: only the client side has it.
pub(super) fn place_xyz() -> Row {
    Box::new(Service::<PlaceXyz::Service, Request, Outcome> {
        name: "place_xyz",
        request: |_| Err(Outcome::Refused(Refusal::Rejected("of another command".into()))),
        call: |request| {
            let PlaceXyz::Request { world, object, position, .. } = request;
            Ok(Request::Place { world, object, position: Field::from_ros(position), rpy: [0.0; 3] })
        },
        outcome: |_| Outcome::Done,
        response: |outcome| {
            let mut response = PlaceXyz::Response::default();
            services!(@head response, outcome);
            response
        },
    })
}
