"""The ROS types that cyclone_peer.py uses, as IDL by hand: the names that ROS gives them on the wire, Jazzy's forms or,
with ROS_DISTRO=humble, Humble's.

Unused fields are declared too, because CDR has no field names.
"""

import os
from dataclasses import dataclass, field

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, int64, sequence, uint8, uint32, uint64


def message(name):
    """`pkg/msg/T` under its DDS name."""
    package, kind, base = name.split("/")
    return f"{package}::{kind}::dds_::{base}_"


@dataclass
class Time(IdlStruct, typename=message("builtin_interfaces/msg/Time")):
    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Header(IdlStruct, typename=message("std_msgs/msg/Header")):
    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@dataclass
class Text(IdlStruct, typename=message("std_msgs/msg/String")):
    data: str = ""


@dataclass
class JointState(IdlStruct, typename=message("sensor_msgs/msg/JointState")):
    header: Header = field(default_factory=Header)
    name: sequence[str] = field(default_factory=list)
    position: sequence[float64] = field(default_factory=list)
    velocity: sequence[float64] = field(default_factory=list)
    effort: sequence[float64] = field(default_factory=list)


@dataclass
class Point(IdlStruct, typename=message("geometry_msgs/msg/Point")):
    x: float64 = 0.0
    y: float64 = 0.0
    z: float64 = 0.0


@dataclass
class Quaternion(IdlStruct, typename=message("geometry_msgs/msg/Quaternion")):
    x: float64 = 0.0
    y: float64 = 0.0
    z: float64 = 0.0
    w: float64 = 1.0


@dataclass
class Pose(IdlStruct, typename=message("geometry_msgs/msg/Pose")):
    position: Point = field(default_factory=Point)
    orientation: Quaternion = field(default_factory=Quaternion)


@dataclass
class PoseStamped(IdlStruct, typename=message("geometry_msgs/msg/PoseStamped")):
    header: Header = field(default_factory=Header)
    pose: Pose = field(default_factory=Pose)


@dataclass
class DriveStatus(IdlStruct, typename=message("dragoman_msgs/msg/DriveStatus")):
    header: Header = field(default_factory=Header)
    enabled: bool = False
    name: sequence[str] = field(default_factory=list)
    temperature: sequence[float64] = field(default_factory=list)
    command: sequence[float64] = field(default_factory=list)


@dataclass
class MotionStatus(IdlStruct, typename=message("dragoman_msgs/msg/MotionStatus")):
    header: Header = field(default_factory=Header)
    mode: uint8 = 0
    moving: bool = False
    via_point: int32 = -1
    has_goal_pose: bool = False
    has_joint_goal: bool = False


GID_BYTES = 24 if os.environ.get("ROS_DISTRO") == "humble" else 16


@dataclass
class Gid(IdlStruct, typename=message("rmw_dds_common/msg/Gid")):
    data: array[uint8, GID_BYTES] = field(default_factory=lambda: [0] * GID_BYTES)


@dataclass
class NodeEntitiesInfo(IdlStruct, typename=message("rmw_dds_common/msg/NodeEntitiesInfo")):
    node_namespace: str = ""
    node_name: str = ""
    reader_gid_seq: sequence[Gid] = field(default_factory=list)
    writer_gid_seq: sequence[Gid] = field(default_factory=list)


@dataclass
class ParticipantEntitiesInfo(IdlStruct, typename=message("rmw_dds_common/msg/ParticipantEntitiesInfo")):
    gid: Gid = field(default_factory=Gid)
    node_entities_info_seq: sequence[NodeEntitiesInfo] = field(default_factory=list)


@dataclass
class ParameterValue(IdlStruct, typename=message("rcl_interfaces/msg/ParameterValue")):
    type: uint8 = 0
    bool_value: bool = False
    integer_value: int64 = 0
    double_value: float64 = 0.0
    string_value: str = ""
    byte_array_value: sequence[uint8] = field(default_factory=list)
    bool_array_value: sequence[bool] = field(default_factory=list)
    integer_array_value: sequence[int64] = field(default_factory=list)
    double_array_value: sequence[float64] = field(default_factory=list)
    string_array_value: sequence[str] = field(default_factory=list)


@dataclass
class Parameter(IdlStruct, typename=message("rcl_interfaces/msg/Parameter")):
    name: str = ""
    value: ParameterValue = field(default_factory=ParameterValue)


@dataclass
class FloatingPointRange(IdlStruct, typename=message("rcl_interfaces/msg/FloatingPointRange")):
    from_value: float64 = 0.0
    to_value: float64 = 0.0
    step: float64 = 0.0


@dataclass
class IntegerRange(IdlStruct, typename=message("rcl_interfaces/msg/IntegerRange")):
    from_value: int64 = 0
    to_value: int64 = 0
    step: uint64 = 0


@dataclass
class ParameterDescriptor(IdlStruct, typename=message("rcl_interfaces/msg/ParameterDescriptor")):
    name: str = ""
    type: uint8 = 0
    description: str = ""
    additional_constraints: str = ""
    read_only: bool = False
    dynamic_typing: bool = False
    floating_point_range: sequence[FloatingPointRange, 1] = field(default_factory=list)
    integer_range: sequence[IntegerRange, 1] = field(default_factory=list)


@dataclass
class SetParametersResult(IdlStruct, typename=message("rcl_interfaces/msg/SetParametersResult")):
    successful: bool = False
    reason: str = ""


@dataclass
class ListParametersResult(IdlStruct, typename=message("rcl_interfaces/msg/ListParametersResult")):
    names: sequence[str] = field(default_factory=list)
    prefixes: sequence[str] = field(default_factory=list)


# Services: in Cyclone's mapping requests and responses begin with the client id and the sequence number.


@dataclass
class TriggerRequest(IdlStruct, typename=message("std_srvs/srv/Trigger_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class TriggerResponse(IdlStruct, typename=message("std_srvs/srv/Trigger_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    success: bool = False
    message: str = ""


@dataclass
class SetCommandModeRequest(IdlStruct, typename=message("dragoman_msgs/srv/SetCommandMode_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    mode: uint8 = 0


@dataclass
class SetCommandModeResponse(IdlStruct, typename=message("dragoman_msgs/srv/SetCommandMode_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    success: bool = False
    message: str = ""
    mode: uint8 = 0


@dataclass
class SetGoalPoseRequest(IdlStruct, typename=message("dragoman_msgs/srv/SetGoalPose_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    pose: Pose = field(default_factory=Pose)
    min_duration: float64 = 0.0


@dataclass
class SetGoalPoseResponse(IdlStruct, typename=message("dragoman_msgs/srv/SetGoalPose_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    success: bool = False
    message: str = ""


@dataclass
class ListParametersRequest(IdlStruct, typename=message("rcl_interfaces/srv/ListParameters_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    prefixes: sequence[str] = field(default_factory=list)
    depth: uint64 = 0


@dataclass
class ListParametersResponse(IdlStruct, typename=message("rcl_interfaces/srv/ListParameters_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    result: ListParametersResult = field(default_factory=ListParametersResult)


@dataclass
class GetParametersRequest(IdlStruct, typename=message("rcl_interfaces/srv/GetParameters_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    names: sequence[str] = field(default_factory=list)


@dataclass
class GetParametersResponse(IdlStruct, typename=message("rcl_interfaces/srv/GetParameters_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    values: sequence[ParameterValue] = field(default_factory=list)


@dataclass
class DescribeParametersRequest(IdlStruct, typename=message("rcl_interfaces/srv/DescribeParameters_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    names: sequence[str] = field(default_factory=list)


@dataclass
class DescribeParametersResponse(IdlStruct, typename=message("rcl_interfaces/srv/DescribeParameters_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    descriptors: sequence[ParameterDescriptor] = field(default_factory=list)


@dataclass
class SetParametersRequest(IdlStruct, typename=message("rcl_interfaces/srv/SetParameters_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    parameters: sequence[Parameter] = field(default_factory=list)


@dataclass
class SetParametersResponse(IdlStruct, typename=message("rcl_interfaces/srv/SetParameters_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    results: sequence[SetParametersResult] = field(default_factory=list)


@dataclass
class CutRequest(IdlStruct, typename=message("std_srvs/srv/Trigger_Request")):
    """A request that ends in the middle of its header."""

    client: uint32 = 0
