"""The ROS types of the TurtleBot with arm that cyclone_turtlebot.py uses besides those of its base, as in cyclone_types.py."""

from dataclasses import dataclass, field

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float32, float64, int64, sequence, uint8, uint64

from cyclone_types import Header, message


@dataclass
class Float64(IdlStruct, typename=message("std_msgs/msg/Float64")):
    data: float64 = 0.0


@dataclass
class ColorRGBA(IdlStruct, typename=message("std_msgs/msg/ColorRGBA")):
    r: float32 = 0.0
    g: float32 = 0.0
    b: float32 = 0.0
    a: float32 = 0.0


@dataclass
class LaserScan(IdlStruct, typename=message("sensor_msgs/msg/LaserScan")):
    header: Header = field(default_factory=Header)
    angle_min: float32 = 0.0
    angle_max: float32 = 0.0
    angle_increment: float32 = 0.0
    time_increment: float32 = 0.0
    scan_time: float32 = 0.0
    range_min: float32 = 0.0
    range_max: float32 = 0.0
    ranges: sequence[float32] = field(default_factory=list)
    intensities: sequence[float32] = field(default_factory=list)


@dataclass
class RelaxRequest(IdlStruct, typename=message("arbotix_msgs/srv/Relax_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class RelaxResponse(IdlStruct, typename=message("arbotix_msgs/srv/Relax_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class EnableRequest(IdlStruct, typename=message("arbotix_msgs/srv/Enable_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    enable: bool = False


@dataclass
class EnableResponse(IdlStruct, typename=message("arbotix_msgs/srv/Enable_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    state: bool = False


@dataclass
class SetSpeedRequest(IdlStruct, typename=message("arbotix_msgs/srv/SetSpeed_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    speed: float64 = 0.0


@dataclass
class SetSpeedResponse(IdlStruct, typename=message("arbotix_msgs/srv/SetSpeed_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class PressButtonRequest(IdlStruct, typename=message("dragoman_msgs/srv/PressButton_Request")):
    client: uint64 = 0
    sequence_number: int64 = 0
    button: uint8 = 0
    duration: float64 = 0.0


@dataclass
class PressButtonResponse(IdlStruct, typename=message("dragoman_msgs/srv/PressButton_Response")):
    client: uint64 = 0
    sequence_number: int64 = 0
    success: bool = False
    message: str = ""
