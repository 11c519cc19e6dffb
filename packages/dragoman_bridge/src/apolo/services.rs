//! The ROS services of a world and their commands: one row per command, made of `protocols/apolo.yaml` in
//! `dragoman_protocol`.

use dragoman_ros::dragoman_msgs::srv::PlaceXyz;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::{Response, WrappedServiceTypeSupport, dragoman_msgs};

use super::call::{Outcome, Refusal};
use super::wire::{Command, LandMark, Request};
use crate::services;

/// A row of the table: the service of a command.
pub(super) type WorldServiceRow = Box<dyn services::ServiceRow<Request, Outcome>>;

/// A row per command.
pub(super) fn rows() -> Vec<WorldServiceRow> {
    include!(concat!(env!("OUT_DIR"), "/apolo_services.rs"))
}

/// A service without a command of its own: only the client side has it.
pub(super) fn place_xyz() -> WorldServiceRow {
    row::<PlaceXyz::Service>(
        "place_xyz",
        |_| None,
        |PlaceXyz::Request { world, object, position, .. }| Request::Place {
            world,
            object,
            position: Field::from_ros(position),
            rpy: [0.0; 3],
        },
        |_| Outcome::Done,
        |_| Default::default(),
        |response| &mut response.found,
    )
}

/// Makes a row. `request` converts a call of this row to a request, `call` is its inverse; `outcome` converts a
/// successful response, `response` is its inverse; `found` is the response's field of this name.
fn row<S: WrappedServiceTypeSupport + 'static>(
    name: &'static str,
    request: fn(Request) -> Option<S::Request>,
    call: fn(S::Request) -> Request,
    outcome: fn(S::Response) -> Outcome,
    response: fn(Outcome) -> S::Response,
    found: fn(&mut S::Response) -> &mut bool,
) -> WorldServiceRow
where
    S::Request: Send,
    S::Response: Response + Send,
{
    let rejected = |reason| Outcome::Refused(Refusal::Rejected(reason));
    services::row::<S, _, _>(
        name,
        move |call| request(call).ok_or_else(|| rejected("of another command".into())),
        move |request| Ok(call(request)),
        move |mut response| match (*found(&mut response), response.checked()) {
            (_, Ok(response)) => outcome(response),
            (true, Err(reason)) => rejected(reason),
            (false, Err(reason)) => Outcome::Refused(Refusal::UnknownName(reason)),
        },
        move |result| match result.unwrap_or_else(rejected) {
            Outcome::Refused(refusal) => {
                let mut response = S::Response::refused(refusal.to_string());
                *found(&mut response) = refusal.is_of_known_name();
                response
            }
            outcome => {
                let mut response = response(outcome).succeeded();
                *found(&mut response) = true;
                response
            }
        },
    )
}

/// A field of the protocol as a field of a service, and back.
trait Field<Ros> {
    fn into_ros(self) -> Ros;

    fn from_ros(ros: Ros) -> Self;
}

impl Field<Point> for [f64; 3] {
    fn into_ros(self) -> Point {
        let [x, y, z] = self;
        Point { x, y, z }
    }

    fn from_ros(Point { x, y, z }: Point) -> Self {
        [x, y, z]
    }
}

impl Field<Vector3> for [f64; 3] {
    fn into_ros(self) -> Vector3 {
        let [x, y, z] = self;
        Vector3 { x, y, z }
    }

    fn from_ros(Vector3 { x, y, z }: Vector3) -> Self {
        [x, y, z]
    }
}

impl Field<Vec<dragoman_msgs::msg::LandMark>> for Vec<LandMark> {
    fn into_ros(self) -> Vec<dragoman_msgs::msg::LandMark> {
        let mark = |LandMark { id, angle, distance }| dragoman_msgs::msg::LandMark { id, angle, distance };
        self.into_iter().map(mark).collect()
    }

    fn from_ros(marks: Vec<dragoman_msgs::msg::LandMark>) -> Self {
        let mark = |dragoman_msgs::msg::LandMark { id, angle, distance }| LandMark { id, angle, distance };
        marks.into_iter().map(mark).collect()
    }
}

fn verdict(outcome: &Outcome) -> bool {
    *outcome == Outcome::Verdict(true)
}

fn values(outcome: Outcome) -> Vec<f64> {
    if let Outcome::Values(values) = outcome { values } else { Vec::new() }
}

fn land_marks(outcome: Outcome) -> Vec<LandMark> {
    if let Outcome::LandMarks(marks) = outcome { marks } else { Vec::new() }
}

/// The value with this index in the order of the protocol; 0 if it is missing.
fn number(outcome: &Outcome, place: usize) -> f64 {
    let Outcome::Values(values) = outcome else { return 0.0 };
    values.get(place).copied().unwrap_or_default()
}
