//! The services of a platform in ROS, and what each of them has to do with its command: one row per command.
//!
//! Both sides work with this table. The server side makes a client of every row and calls it with what an old program sends; the
//! client side offers a service for every row and sends its requests to a real PlatformCtrl.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the table, [`Service`], [`visit`] |
//! | `arguments` | arguments of commands as requests of services, and back |
//! | `answers` | replies as responses, and back |
//! | `status` | likewise the status |
//! | `debug` | likewise debug data |
//! | `units` | the protocol's units as those of ROS, and back |
//!
//! `CMD_CLOSE_SOCKET` has no row: it is no business of the platform.

mod answers;
mod arguments;
mod debug;
mod status;
mod units;

use dragoman_ros::WrappedServiceTypeSupport;
use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::std_srvs::srv::Trigger;

use super::call::{Inexpressible, Outcome, Refusal};
use super::wire::{Command, CommandKind, MoveVelocity, Reply};

pub(super) use status::message as status_message;

/// A row: the service of a command, and how to get from one to the other.
pub struct Service<S: WrappedServiceTypeSupport> {
    /// The command; it has the name of the service.
    pub kind: CommandKind,
    request: fn(Command) -> Result<S::Request, Refusal>,
    command: fn(S::Request) -> Result<Command, Inexpressible>,
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
    /// What to ask the service.
    ///
    /// # Errors
    /// The service has no way to say this; the command is another row's.
    pub fn request(&self, command: Command) -> Result<S::Request, Refusal> {
        (self.request)(command)
    }

    /// The command that a request asks for.
    ///
    /// # Errors
    /// A value that is not finite, or too large for the protocol.
    pub fn command(&self, request: S::Request) -> Result<Command, Inexpressible> {
        (self.command)(request)
    }

    /// What a response tells.
    pub fn outcome(&self, response: S::Response) -> Outcome {
        (self.outcome)(response)
    }

    /// What tells the outcome; an answer to something else is a refusal.
    pub fn response(&self, outcome: Outcome) -> S::Response {
        (self.response)(outcome)
    }
}

/// Does something with every row.
pub trait Visitor {
    /// Why it cannot.
    type Error;

    /// Does it with this one.
    ///
    /// # Errors
    /// The visitor's own.
    fn visit<S>(&mut self, service: Service<S>) -> Result<(), Self::Error>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send;
}

/// The command for a velocity, m/s and rad/s.
pub(super) fn velocity(translation: f64, rotation: f64) -> Result<MoveVelocity, Inexpressible> {
    Arguments::from_request(PlatformMoveVelocity::Request { translation, rotation })
}

/// Arguments of a command, and the request that asks for the same.
trait Arguments<Request>: Sized {
    fn into_request(self) -> Result<Request, Inexpressible>;

    fn from_request(request: Request) -> Result<Self, Inexpressible>;
}

/// A reply, and the response that tells the same; `success` and `message` of the response are not its business.
trait Answer<Response>: Sized {
    fn into_response(self) -> Response;

    fn from_response(response: Response) -> Result<Self, Inexpressible>;
}

/// What all responses begin with.
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

    /// The response if it says success.
    fn checked(mut self) -> Result<Self, Outcome> {
        match self.verdict() {
            (true, _) => Ok(self),
            (false, message) => Err(Outcome::Refused(Refusal::Rejected(std::mem::take(message)))),
        }
    }
}

/// What belongs to another row.
fn another(kind: CommandKind) -> Refusal {
    Refusal::Rejected(format!("{kind} has another service"))
}

/// One row per command: its arguments, its service, `=>` what it is answered with.
macro_rules! services {
    ($( $kind:ident $(($arguments:ident))?: $service:ident $(=> $answered:ident)?; )*) => {
        /// Shows every row to `visitor`, in the order of the numbers.
        ///
        /// # Errors
        /// The visitor's first.
        pub fn visit<V: Visitor>(visitor: &mut V) -> Result<(), V::Error> {
            $( visitor.visit::<$service::Service>(Service {
                kind: CommandKind::$kind,
                request: |command| services!(@request command, $kind, $service $(, $arguments)?),
                command: |_request| services!(@command _request, $kind $(, $arguments)?),
                outcome: |response| services!(@outcome response, $kind $(, $answered)?),
                response: |outcome| services!(@response outcome, $service, $kind $(, $answered)?),
            })?; )*
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
