"""The ROS types of a mobile base that cyclone_base.py uses, as in cyclone_types.py."""

from dataclasses import dataclass, field

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, sequence, uint8, uint16, uint32, uint64

from cyclone_types import Header, Point, Pose, Quaternion, message


def kobuki(name):
    """A message of kobuki_ros_interfaces under its DDS name."""
    return message(f"kobuki_ros_interfaces/msg/{name}")


@dataclass
class SensorState(IdlStruct, typename=kobuki("SensorState")):
    header: Header = field(default_factory=Header)
    time_stamp: uint16 = 0
    bumper: uint8 = 0
    wheel_drop: uint8 = 0
    cliff: uint8 = 0
    left_encoder: uint16 = 0
    right_encoder: uint16 = 0
    left_pwm: int8 = 0
    right_pwm: int8 = 0
    buttons: uint8 = 0
    charger: uint8 = 0
    battery: uint8 = 0
    bottom: sequence[uint16] = field(default_factory=list)
    current: sequence[uint8] = field(default_factory=list)
    over_current: uint8 = 0
    digital_input: uint16 = 0
    analog_input: sequence[uint16] = field(default_factory=list)


@dataclass
class DockInfraRed(IdlStruct, typename=kobuki("DockInfraRed")):
    header: Header = field(default_factory=Header)
    data: sequence[uint8] = field(default_factory=list)


@dataclass
class VersionInfo(IdlStruct, typename=kobuki("VersionInfo")):
    hardware: str = ""
    firmware: str = ""
    software: str = ""
    udid: sequence[uint32] = field(default_factory=list)
    features: uint64 = 0


@dataclass
class ControllerInfo(IdlStruct, typename=kobuki("ControllerInfo")):
    type: uint8 = 0
    p_gain: float64 = 0.0
    i_gain: float64 = 0.0
    d_gain: float64 = 0.0


@dataclass
class BumperEvent(IdlStruct, typename=kobuki("BumperEvent")):
    bumper: uint8 = 0
    state: uint8 = 0


@dataclass
class ButtonEvent(IdlStruct, typename=kobuki("ButtonEvent")):
    button: uint8 = 0
    state: uint8 = 0


@dataclass
class CliffEvent(IdlStruct, typename=kobuki("CliffEvent")):
    sensor: uint8 = 0
    state: uint8 = 0
    bottom: uint16 = 0


@dataclass
class WheelDropEvent(IdlStruct, typename=kobuki("WheelDropEvent")):
    wheel: uint8 = 0
    state: uint8 = 0


@dataclass
class PowerSystemEvent(IdlStruct, typename=kobuki("PowerSystemEvent")):
    event: uint8 = 0


@dataclass
class DigitalInputEvent(IdlStruct, typename=kobuki("DigitalInputEvent")):
    values: array[bool, 4] = field(default_factory=lambda: [False] * 4)


@dataclass
class RobotStateEvent(IdlStruct, typename=kobuki("RobotStateEvent")):
    state: uint8 = 0


@dataclass
class Led(IdlStruct, typename=kobuki("Led")):
    value: uint8 = 0


@dataclass
class Sound(IdlStruct, typename=kobuki("Sound")):
    value: uint8 = 0


@dataclass
class MotorPower(IdlStruct, typename=kobuki("MotorPower")):
    state: uint8 = 0


@dataclass
class ExternalPower(IdlStruct, typename=kobuki("ExternalPower")):
    source: uint8 = 0
    state: uint8 = 0


@dataclass
class DigitalOutput(IdlStruct, typename=kobuki("DigitalOutput")):
    values: array[bool, 4] = field(default_factory=lambda: [False] * 4)
    mask: array[bool, 4] = field(default_factory=lambda: [False] * 4)


@dataclass
class Empty(IdlStruct, typename=message("std_msgs/msg/Empty")):
    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class Vector3(IdlStruct, typename=message("geometry_msgs/msg/Vector3")):
    x: float64 = 0.0
    y: float64 = 0.0
    z: float64 = 0.0


@dataclass
class Twist(IdlStruct, typename=message("geometry_msgs/msg/Twist")):
    linear: Vector3 = field(default_factory=Vector3)
    angular: Vector3 = field(default_factory=Vector3)


@dataclass
class TwistStamped(IdlStruct, typename=message("geometry_msgs/msg/TwistStamped")):
    header: Header = field(default_factory=Header)
    twist: Twist = field(default_factory=Twist)


@dataclass
class PoseWithCovariance(IdlStruct, typename=message("geometry_msgs/msg/PoseWithCovariance")):
    pose: Pose = field(default_factory=Pose)
    covariance: array[float64, 36] = field(default_factory=lambda: [0.0] * 36)


@dataclass
class TwistWithCovariance(IdlStruct, typename=message("geometry_msgs/msg/TwistWithCovariance")):
    twist: Twist = field(default_factory=Twist)
    covariance: array[float64, 36] = field(default_factory=lambda: [0.0] * 36)


@dataclass
class Odometry(IdlStruct, typename=message("nav_msgs/msg/Odometry")):
    header: Header = field(default_factory=Header)
    child_frame_id: str = ""
    pose: PoseWithCovariance = field(default_factory=PoseWithCovariance)
    twist: TwistWithCovariance = field(default_factory=TwistWithCovariance)


@dataclass
class Transform(IdlStruct, typename=message("geometry_msgs/msg/Transform")):
    translation: Vector3 = field(default_factory=Vector3)
    rotation: Quaternion = field(default_factory=Quaternion)


@dataclass
class TransformStamped(IdlStruct, typename=message("geometry_msgs/msg/TransformStamped")):
    header: Header = field(default_factory=Header)
    child_frame_id: str = ""
    transform: Transform = field(default_factory=Transform)


@dataclass
class TFMessage(IdlStruct, typename=message("tf2_msgs/msg/TFMessage")):
    transforms: sequence[TransformStamped] = field(default_factory=list)


@dataclass
class Imu(IdlStruct, typename=message("sensor_msgs/msg/Imu")):
    header: Header = field(default_factory=Header)
    orientation: Quaternion = field(default_factory=Quaternion)
    orientation_covariance: array[float64, 9] = field(default_factory=lambda: [0.0] * 9)
    angular_velocity: Vector3 = field(default_factory=Vector3)
    angular_velocity_covariance: array[float64, 9] = field(default_factory=lambda: [0.0] * 9)
    linear_acceleration: Vector3 = field(default_factory=Vector3)
    linear_acceleration_covariance: array[float64, 9] = field(default_factory=lambda: [0.0] * 9)


@dataclass
class BatteryState(IdlStruct, typename=message("sensor_msgs/msg/BatteryState")):
    header: Header = field(default_factory=Header)
    voltage: float32 = 0.0
    temperature: float32 = 0.0
    current: float32 = 0.0
    charge: float32 = 0.0
    capacity: float32 = 0.0
    design_capacity: float32 = 0.0
    percentage: float32 = 0.0
    power_supply_status: uint8 = 0
    power_supply_health: uint8 = 0
    power_supply_technology: uint8 = 0
    present: bool = False
    cell_voltage: sequence[float32] = field(default_factory=list)
    cell_temperature: sequence[float32] = field(default_factory=list)
    location: str = ""
    serial_number: str = ""
