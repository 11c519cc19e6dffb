//! The ROS services of a platform and their commands: one row per command.
//!
//! Both sides use this table. The server side creates a client of every row and calls it with an old program's
//! commands; the client side offers a service for every row and sends its requests to a real PlatformCtrl.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the table, [`Service`], [`visit`] |
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

use dragoman_ros::WrappedServiceTypeSupport;
use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::std_srvs::srv::Trigger;

use super::call::{OutOfRange, Outcome, Refusal};
use super::wire::{Command, CommandKind, MoveVelocity, Reply};

pub(super) use status::message as status_message;

/// A row: the service of a command, and the conversions between the two.
pub struct Service<S: WrappedServiceTypeSupport> {
    /// The command; it has the name of the service.
    pub kind: CommandKind,
    request: fn(Command) -> Result<S::Request, Refusal>,
    command: fn(S::Request) -> Result<Command, OutOfRange>,
    outcome: fn(S::Response) -> Outcome,
    response: fn(Outcome) -> S::Response,
}

impl<S: WrappedServiceTypeSupport> std::fmt::Debug for Service<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl<S: WrappedServiceTypeSupport> Clone for Service<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: WrappedServiceTypeSupport> Copy for Service<S> {}

impl<S: WrappedServiceTypeSupport> Service<S> {
    /// The service's request for a command.
    ///
    /// # Errors
    /// The service cannot represent a value; the command belongs to another row.
    pub fn request(&self, command: Command) -> Result<S::Request, Refusal> {
        (self.request)(command)
    }

    /// The command for a service's request.
    ///
    /// # Errors
    /// A value that is not finite, or too large for the protocol.
    pub fn command(&self, request: S::Request) -> Result<Command, OutOfRange> {
        (self.command)(request)
    }

    /// The outcome in a response.
    pub fn outcome(&self, response: S::Response) -> Outcome {
        (self.outcome)(response)
    }

    /// The response for an outcome; an answer to another command is a refusal.
    pub fn response(&self, outcome: Outcome) -> S::Response {
        (self.response)(outcome)
    }
}

/// A function over rows of any service type.
pub trait Visitor {
    /// The visitor's error.
    type Error;

    /// Visits a row.
    ///
    /// # Errors
    /// The visitor's own.
    fn visit<S>(&mut self, service: Service<S>) -> Result<(), Self::Error>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send;
}

/// The command for a velocity: ahead and to the left, m/s, and turning, rad/s.
pub(super) fn velocity(translation: f64, lateral: f64, rotation: f64) -> Result<MoveVelocity, OutOfRange> {
    Arguments::from_request(PlatformMoveVelocity::Request { translation, rotation, lateral })
}

/// Conversion between the arguments of a command and a request.
trait Arguments<Request>: Sized {
    fn into_request(self) -> Result<Request, OutOfRange>;

    fn from_request(request: Request) -> Result<Self, OutOfRange>;
}

/// Conversion between a reply and a response, without `success` and `message` of the response.
trait Answer<Response>: Sized {
    fn into_response(self) -> Response;

    fn from_response(response: Response) -> Result<Self, OutOfRange>;
}

/// The fields at the beginning of all responses.
trait Verdict: Default {
    fn verdict(&mut self) -> (&mut bool, &mut String);

    fn refused(refusal: &Refusal) -> Self {
        let mut response = Self::default();
        *response.verdict().1 = refusal.to_string();
        response
    }

    fn succeeded(mut self) -> Self {
        *self.verdict().0 = true;
        self
    }

    /// The response if it is a success.
    fn checked(mut self) -> Result<Self, Outcome> {
        match self.verdict() {
            (true, _) => Ok(self),
            (false, message) => Err(Outcome::Refused(Refusal::Rejected(std::mem::take(message)))),
        }
    }
}

/// Refusal of a command that belongs to another row.
fn another(kind: CommandKind) -> Refusal {
    Refusal::Rejected(format!("{kind} belongs to another service"))
}

/// One row per command: its arguments, its service, `=>` its answer.
macro_rules! services {
    ($( $kind:ident $(($arguments:ident))?: $service:ident $(=> $answered:ident)?; )*) => {
        /// Passes every row to `visitor`, in the order of the numbers.
        ///
        /// # Errors
        /// The visitor's first error.
        pub fn visit<V: Visitor>(visitor: &mut V) -> Result<(), V::Error> {
            $({
                // Not generic over the visitor, so that the conversions are compiled once.
                fn row() -> Service<$service::Service> {
                    Service {
                        kind: CommandKind::$kind,
                        request: |command| services!(@request command, $kind, $service $(, $arguments)?),
                        command: |_request| services!(@command _request, $kind $(, $arguments)?),
                        outcome: |response| services!(@outcome response, $kind $(, $answered)?),
                        response: |outcome| services!(@response outcome, $service, $kind $(, $answered)?),
                    }
                }
                visitor.visit(row())?;
            })*
            Ok(())
        }
    };
    (@request $command:ident, $kind:ident, $service:ident) => {
        match $command {
            Command::$kind => Ok($service::Request::default()),
            other => Err(another(other.kind())),
        }
    };
    (@request $command:ident, $kind:ident, $service:ident, $arguments:ident) => {
        match $command {
            Command::$kind($arguments) => $arguments.into_request().map_err(Refusal::from),
            other => Err(another(other.kind())),
        }
    };
    (@command $request:ident, $kind:ident) => { Ok(Command::$kind) };
    (@command $request:ident, $kind:ident, $arguments:ident) => {
        Arguments::from_request($request).map(Command::$kind)
    };
    (@outcome $response:ident, $kind:ident) => {
        match $response.checked() {
            Ok(_) => Outcome::Done,
            Err(refused) => refused,
        }
    };
    (@outcome $response:ident, $kind:ident, $answered:ident) => {
        match $response.checked().map(Answer::from_response) {
            Ok(Ok($answered)) => Outcome::Answered(Reply::$kind($answered)),
            Ok(Err(wrong)) => Outcome::Refused(wrong.into()),
            Err(refused) => refused,
        }
    };
    (@response $outcome:ident, $service:ident, $kind:ident) => {
        match $outcome {
            Outcome::Refused(refusal) => $service::Response::refused(&refusal),
            Outcome::Done | Outcome::Answered(_) => $service::Response::default().succeeded(),
        }
    };
    (@response $outcome:ident, $service:ident, $kind:ident, $answered:ident) => {
        match $outcome {
            Outcome::Answered(Reply::$kind($answered)) => $answered.into_response().succeeded(),
            Outcome::Refused(refusal) => $service::Response::refused(&refusal),
            Outcome::Done | Outcome::Answered(_) => {
                $service::Response::refused(&another(CommandKind::$kind))
            }
        }
    };
}

services! {
    ConnectToPltf: Trigger;
    ShutdownPltf: Trigger;
    InitPltf: Trigger;
    SetBrake(brake): PlatformSetBrake;
    SetDigout(output): PlatformSetDigitalOutput;
    StartUltrasonic(sensors): PlatformStartUltrasonic;
    StopUltrasonic: Trigger;
    AddCanListeningId(id): PlatformAddCanListeningId;
    RemoveCanListeningId(id): PlatformAddCanListeningId;
    SendCanMessage(message): PlatformSendCanMessage;
    GetCanMessages(which): PlatformGetCanMessages => messages;
    Start: Trigger;
    Break: Trigger;
    Continue: Trigger;
    Stop: Trigger;
    SetMode(mode): PlatformSetMode;
    Exit: Trigger;
    GetStatus: PlatformGetStatus => status;
    MovePath(path): PlatformMovePath;
    MoveToStation(station): PlatformMoveToStation;
    MoveAbs(frame): PlatformMoveToPose;
    MoveRel(frame): PlatformMoveToPose;
    MoveVelWheel(velocity): PlatformMoveWheels;
    MoveVel(velocity): PlatformMoveVelocity;
    SetMap(document): PlatformSetDocument;
    GetMap: PlatformGetDocument => document;
    LoadMap: Trigger;
    SaveMap: Trigger;
    MappingStart: Trigger;
    MappingReset: Trigger;
    MappingStop: Trigger;
    SetRoadmap(document): PlatformSetDocument;
    GetRoadmap: PlatformGetDocument => document;
    LoadRoadmap: Trigger;
    SaveRoadmap: Trigger;
    SetFrmPltf(frame): PlatformSetPose;
    SetPltfParam(parameter): PlatformSetParameter;
    GetPltfParam(key): PlatformGetParameter => parameter;
    GetPltfParamVec: PlatformGetParameters => parameters;
    SetProgram(document): PlatformSetDocument;
    GetProgram: PlatformGetDocument => document;
    LoadProgram: Trigger;
    SaveProgram: Trigger;
    SpeakText(text): PlatformSetText;
    PlaySound(file): PlatformSetFile;
    GrabImage(file): PlatformSetFile;
    SetPosHeadDrive(position): PlatformSetHeadPosition;
    SetVelHeadDrive(velocity): PlatformSetHeadVelocity;
    SetPosPanTiltCamera(position): PlatformSetText;
    GetDebugData: PlatformGetDebugData => data;
    Debug1: Trigger;
    Debug2: Trigger;
    Debug3: Trigger;
    Debug4: Trigger;
    MouseMove(obstacle): PlatformMouseMove;
    SetLogEnabled: Trigger;
    SetPostProcessFilename: Trigger;
    SetEvent(event): PlatformSetEvent;
    GetCamera: PlatformGetCamera => camera;
    GetPosition: PlatformGetPosition => position;
}

macro_rules! verdicts {
    ($($service:ident)*) => {$(
        impl Verdict for $service::Response {
            fn verdict(&mut self) -> (&mut bool, &mut String) {
                (&mut self.success, &mut self.message)
            }
        }
    )*};
}

verdicts! {
    Trigger
    PlatformAddCanListeningId PlatformGetCamera PlatformGetCanMessages PlatformGetDebugData PlatformGetDocument
    PlatformGetParameter PlatformGetParameters PlatformGetPosition PlatformGetStatus PlatformMouseMove PlatformMovePath
    PlatformMoveToPose PlatformMoveToStation PlatformMoveVelocity PlatformMoveWheels PlatformSendCanMessage
    PlatformSetBrake PlatformSetDigitalOutput PlatformSetDocument PlatformSetEvent PlatformSetFile PlatformSetHeadPosition
    PlatformSetHeadVelocity PlatformSetMode PlatformSetParameter PlatformSetPose PlatformSetText PlatformStartUltrasonic
}
