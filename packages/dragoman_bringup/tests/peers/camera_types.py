"""The ROS types of cameras that cyclone_camera.py uses, as in cyclone_types.py."""

from dataclasses import dataclass, field

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, sequence, uint8, uint32

from cyclone_types import Header, message


def sensor(name):
    """A message of sensor_msgs under its DDS name."""
    return message(f"sensor_msgs/msg/{name}")


@dataclass
class Image(IdlStruct, typename=sensor("Image")):
    header: Header = field(default_factory=Header)
    height: uint32 = 0
    width: uint32 = 0
    encoding: str = ""
    is_bigendian: uint8 = 0
    step: uint32 = 0
    data: sequence[uint8] = field(default_factory=list)


@dataclass
class CompressedImage(IdlStruct, typename=sensor("CompressedImage")):
    header: Header = field(default_factory=Header)
    format: str = ""
    data: sequence[uint8] = field(default_factory=list)


@dataclass
class RegionOfInterest(IdlStruct, typename=sensor("RegionOfInterest")):
    x_offset: uint32 = 0
    y_offset: uint32 = 0
    height: uint32 = 0
    width: uint32 = 0
    do_rectify: bool = False


@dataclass
class CameraInfo(IdlStruct, typename=sensor("CameraInfo")):
    header: Header = field(default_factory=Header)
    height: uint32 = 0
    width: uint32 = 0
    distortion_model: str = ""
    d: sequence[float64] = field(default_factory=list)
    k: array[float64, 9] = field(default_factory=lambda: [0.0] * 9)
    r: array[float64, 9] = field(default_factory=lambda: [0.0] * 9)
    p: array[float64, 12] = field(default_factory=lambda: [0.0] * 12)
    binning_x: uint32 = 0
    binning_y: uint32 = 0
    roi: RegionOfInterest = field(default_factory=RegionOfInterest)
