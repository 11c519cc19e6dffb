//! The ROS services of a platform and their commands: one row per command.
//!
//! Both sides use this table. The server side creates a client of every row and calls it with an old program's
//! commands; the client side offers a service for every row and sends its requests to a real PlatformCtrl.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the table, [`rows`] |
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

use dragoman_ros::Response;
use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::std_srvs::srv::Trigger;

use super::call::{OutOfRange, Outcome, Refusal};
use super::wire::{Command, CommandKind, MoveVelocity, Reply};
use crate::services::{self, Service};

pub(super) use status::message as status_message;

/// A row: the service of a command, which has its name.
pub type Row = Box<dyn services::Row<Command, Outcome>>;

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

/// Outcome of a command that belongs to another row.
fn another(kind: CommandKind) -> Outcome {
    Outcome::Refused(Refusal::Rejected(format!("{kind} belongs to another service")))
}

/// Outcome of a request that was refused for this reason.
fn rejected(reason: String) -> Outcome {
    Outcome::Refused(Refusal::Rejected(reason))
}

/// One row per command: its arguments, its service, `=>` its answer.
macro_rules! services {
    ($( $kind:ident $(($arguments:ident))?: $service:ident $(=> $answered:ident)?; )*) => {
        /// A row per command, in the order of the numbers.
        pub fn rows() -> Vec<Row> {
            vec![$( Box::new(Service::<$service::Service, Command, Outcome> {
                name: CommandKind::$kind.service(),
                request: |command| services!(@request command, $kind, $service $(, $arguments)?),
                call: |_request| services!(@command _request, $kind $(, $arguments)?),
                outcome: |response| services!(@outcome response, $kind $(, $answered)?),
                response: |outcome| match outcome.unwrap_or_else(rejected) {
                    Outcome::Refused(refusal) => $service::Response::refused(refusal.to_string()),
                    _outcome => services!(@response _outcome, $service, $kind $(, $answered)?),
                },
            }) as Row, )*]
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
            Command::$kind($arguments) => $arguments.into_request().map_err(Outcome::from),
            other => Err(another(other.kind())),
        }
    };
    (@command $request:ident, $kind:ident) => { Ok(Command::$kind) };
    (@command $request:ident, $kind:ident, $arguments:ident) => {
        Arguments::from_request($request).map(Command::$kind).map_err(|error| error.to_string())
    };
    (@outcome $response:ident, $kind:ident) => {
        $response.checked().map_or_else(rejected, |_| Outcome::Done)
    };
    (@outcome $response:ident, $kind:ident, $answered:ident) => {
        match $response.checked().map(Answer::from_response) {
            Ok(Ok($answered)) => Outcome::Answered(Reply::$kind($answered)),
            Ok(Err(wrong)) => wrong.into(),
            Err(reason) => rejected(reason),
        }
    };
    (@response $outcome:ident, $service:ident, $kind:ident) => { $service::Response::default().succeeded() };
    (@response $outcome:ident, $service:ident, $kind:ident, $answered:ident) => {
        match $outcome {
            Outcome::Answered(Reply::$kind($answered)) => $answered.into_response().succeeded(),
            _ => $service::Response::refused(format!("{} belongs to another service", CommandKind::$kind)),
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
