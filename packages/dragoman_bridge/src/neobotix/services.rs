//! The ROS services of a platform and their commands: one row per command.
//!
//! Both sides use this table. The server side creates a client of every row and calls it with an old program's
//! commands; the client side offers a service for every row and sends its requests to a real PlatformCtrl.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the table, [`rows`], made of `protocols/neobotix.yaml` in `dragoman_protocol` |
//! | `arguments` | arguments of commands as requests of services, and back |
//! | `answers` | replies as responses, and back |
//! | `status` | the status as a message, and back |
//! | `debug` | debug data as a message, and back |
//! | `units` | the protocol's units as those of ROS, and back |
//!
//! `CMD_CLOSE_SOCKET` has no row: it concerns the connection, not the platform.

mod answers;
mod arguments;
mod debug;
mod status;
mod units;

use dragoman_ros::dragoman_msgs::srv::PlatformMoveVelocity;
use dragoman_ros::{Response, WrappedServiceTypeSupport};

use super::call::{OutOfRange, Outcome, Refusal};
use super::wire::{Command, CommandKind, MoveVelocity, Reply};
use crate::services;

pub(super) use status::message as status_message;

/// A row of the table: the service of a command.
pub type PlatformServiceRow = Box<dyn services::ServiceRow<Command, Outcome>>;

/// The command for a velocity: forward and to the left, m/s, and rotation, rad/s.
pub(super) fn velocity(translation: f64, lateral: f64, rotation: f64) -> Result<MoveVelocity, OutOfRange> {
    Arguments::from_request(PlatformMoveVelocity::Request { translation, rotation, lateral })
}

/// Conversion between the arguments of a command and a request.
trait Arguments<Request>: Sized {
    fn into_request(self) -> Result<Request, OutOfRange>;

    fn from_request(request: Request) -> Result<Self, OutOfRange>;
}

/// Conversion between a reply and a response, without `success` and `message` of the response.
trait ReplyBody<Response>: Sized {
    fn into_response(self) -> Response;

    fn from_response(response: Response) -> Result<Self, OutOfRange>;
}

/// A command without arguments.
impl<Request: Default> Arguments<Request> for () {
    fn into_request(self) -> Result<Request, OutOfRange> {
        Ok(Request::default())
    }

    fn from_request(_request: Request) -> Result<Self, OutOfRange> {
        Ok(())
    }
}

/// A command without a reply.
impl<Response: Default> ReplyBody<Response> for () {
    fn into_response(self) -> Response {
        Response::default()
    }

    fn from_response(_response: Response) -> Result<Self, OutOfRange> {
        Ok(())
    }
}

/// A row per command, in the order of the numbers.
pub fn rows() -> Vec<PlatformServiceRow> {
    include!(concat!(env!("OUT_DIR"), "/neobotix_services.rs"))
}

/// Makes the row of a command. `command` makes the command from its arguments, `arguments` is its inverse; `outcome`
/// makes the outcome from a reply's body, `answer` is its inverse.
fn row<S: WrappedServiceTypeSupport + 'static, A, B>(
    kind: CommandKind,
    command: fn(A) -> Command,
    arguments: fn(Command) -> Result<A, Command>,
    outcome: fn(B) -> Outcome,
    answer: fn(Outcome) -> Option<B>,
) -> PlatformServiceRow
where
    S::Request: Send,
    S::Response: Response + Send,
    A: Arguments<S::Request> + 'static,
    B: ReplyBody<S::Response> + 'static,
{
    let another = |kind: CommandKind| format!("{kind} belongs to another service");
    let rejected = |reason| Outcome::Refused(Refusal::Rejected(reason));
    services::row::<S, _, _>(
        kind.service(),
        move |command| {
            let arguments = arguments(command).map_err(|command| rejected(another(command.kind())))?;
            arguments.into_request().map_err(Outcome::from)
        },
        move |request| A::from_request(request).map(command).map_err(|error| error.to_string()),
        move |response| match response.checked().map(B::from_response) {
            Ok(Ok(answer)) => outcome(answer),
            Ok(Err(out_of_range)) => out_of_range.into(),
            Err(reason) => rejected(reason),
        },
        move |outcome| match outcome.unwrap_or_else(rejected) {
            Outcome::Refused(refusal) => S::Response::refused(refusal.to_string()),
            outcome => match answer(outcome) {
                Some(answer) => answer.into_response().succeeded(),
                None => S::Response::refused(another(kind)),
            },
        },
    )
}
