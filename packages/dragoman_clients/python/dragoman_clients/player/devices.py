"""Devices of a client: their data, commands and requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, overload

from ..asynchronous import asynchronous
from ..blocking import blocking
from ..core import Request
from . import commands, sensors
from . import readings as r
from . import structures as s
from .wire import Interface, Key, PlayerCore

if TYPE_CHECKING:
    from .client import AsyncPlayer, Player

T = TypeVar("T")


class Latest(Generic[T]):
    """The last data of a device, or None."""

    def __init__(self, interface: Interface, number: int, kind: type[T]) -> None:
        self._name, expected = interface.data[number]
        assert expected is kind
        self._code = interface.code

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> Latest[T]: ...

        @overload
        def __get__(self, instance: object, owner: type) -> Optional[T]: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """The data of this device."""
        if instance is None:
            return self
        return instance._core.latest.get((self._code, instance.index, self._name))


class _AnyDevice:
    """A device that is open."""

    INTERFACE: Interface

    def __init__(self, core: PlayerCore, index: int) -> None:
        self._core = core
        self.index = index

    def __repr__(self) -> str:
        return f"{self.INTERFACE.interface}:{self.index}"

    def _bound(self, request: Request[T]) -> Request[T]:
        key: Key = dataclasses.replace(request.key, interface=self.INTERFACE.code, index=self.index)
        return dataclasses.replace(request, key=key)


class Device(_AnyDevice):
    """A device that is open, of a blocking client."""

    def __init__(self, player: Player, core: PlayerCore, index: int) -> None:
        super().__init__(core, index)
        self._player = player

    def _run(self, request: Request[T]) -> T:
        return self._player._run(self._bound(request))

    def close_device(self) -> None:
        """Closes the device: what its last command began ends."""
        self._player._close(self.INTERFACE, self.index)

    set_bool_property = blocking(commands.property_set_bool_property)
    get_bool_property = blocking(commands.property_get_bool_property)
    set_text_property = blocking(commands.property_set_text_property)
    get_text_property = blocking(commands.property_get_text_property)
    set_double_property = blocking(commands.property_set_double_property)
    get_double_property = blocking(commands.property_get_double_property)
    set_int_property = blocking(commands.property_set_int_property)
    get_int_property = blocking(commands.property_get_int_property)
    has_message = blocking(commands.property_has_message)


class AsyncDevice(_AnyDevice):
    """A device that is open, of a client for asyncio."""

    def __init__(self, player: AsyncPlayer, core: PlayerCore, index: int) -> None:
        super().__init__(core, index)
        self._player = player

    def _run(self, request: Request[T]) -> Coroutine[Any, Any, T]:
        return self._player._run(self._bound(request))

    async def close_device(self) -> None:
        """Closes the device: what its last command began ends."""
        await self._player._close(self.INTERFACE, self.index)

    set_bool_property = asynchronous(commands.property_set_bool_property)
    get_bool_property = asynchronous(commands.property_get_bool_property)
    set_text_property = asynchronous(commands.property_set_text_property)
    get_text_property = asynchronous(commands.property_get_text_property)
    set_double_property = asynchronous(commands.property_set_double_property)
    get_double_property = asynchronous(commands.property_get_double_property)
    set_int_property = asynchronous(commands.property_set_int_property)
    get_int_property = asynchronous(commands.property_get_int_property)
    has_message = asynchronous(commands.property_has_message)


class Power(Device):
    """A battery."""

    INTERFACE = commands.POWER

    state = Latest(commands.POWER, 1, s.PowerState)

    set_charging_policy = blocking(commands.power_set_charging_policy)


class Gripper(Device):
    """A gripper."""

    INTERFACE = commands.GRIPPER

    state = Latest(commands.GRIPPER, 1, s.GripperState)

    open = blocking(commands.gripper_open)
    close = blocking(commands.gripper_close)
    stop = blocking(commands.gripper_stop)
    store = blocking(commands.gripper_store)
    retrieve = blocking(commands.gripper_retrieve)
    get_geometry = blocking(commands.gripper_get_geometry)


class Position2d(Device):
    """A base that moves on the plane."""

    INTERFACE = commands.POSITION2D

    state = Latest(commands.POSITION2D, 1, s.Position2dState)
    geometry_changed = Latest(commands.POSITION2D, 2, s.Geometry)

    set_velocity = blocking(commands.position2d_set_velocity)
    set_position = blocking(commands.position2d_set_position)
    set_car = blocking(commands.position2d_set_car)
    set_velocity_heading = blocking(commands.position2d_set_velocity_heading)
    get_geometry = blocking(commands.position2d_get_geometry)
    set_motor_power = blocking(commands.position2d_set_motor_power)
    set_velocity_mode = blocking(commands.position2d_set_velocity_mode)
    set_position_mode = blocking(commands.position2d_set_position_mode)
    set_odometry = blocking(commands.position2d_set_odometry)
    reset_odometry = blocking(commands.position2d_reset_odometry)
    set_speed_pid = blocking(commands.position2d_set_speed_pid)
    set_position_pid = blocking(commands.position2d_set_position_pid)
    set_speed_profile = blocking(commands.position2d_set_speed_profile)


class Sonar(Device):
    """Ultrasonic sensors."""

    INTERFACE = sensors.SONAR

    ranges = Latest(sensors.SONAR, 1, r.SonarRanges)
    geometry_changed = Latest(sensors.SONAR, 2, r.SonarGeometry)

    get_geometry = blocking(sensors.sonar_get_geometry)
    set_power = blocking(sensors.sonar_set_power)


class Laser(Device):
    """A scanner, by the interface before ranger."""

    INTERFACE = sensors.LASER

    scan = Latest(sensors.LASER, 1, r.LaserScan)
    posed_scan = Latest(sensors.LASER, 2, r.LaserPosedScan)
    angled_scan = Latest(sensors.LASER, 3, r.LaserAngledScan)

    get_geometry = blocking(sensors.laser_get_geometry)
    set_config = blocking(sensors.laser_set_config)
    get_config = blocking(sensors.laser_get_config)
    set_power = blocking(sensors.laser_set_power)
    get_id = blocking(sensors.laser_get_id)
    set_filter = blocking(sensors.laser_set_filter)


class Bumper(Device):
    """Bumpers."""

    INTERFACE = sensors.BUMPER

    state = Latest(sensors.BUMPER, 1, r.BumperState)
    geometry_changed = Latest(sensors.BUMPER, 2, r.BumperGeometry)

    get_geometry = blocking(sensors.bumper_get_geometry)


class Ir(Device):
    """Infrared sensors."""

    INTERFACE = sensors.IR

    ranges = Latest(sensors.IR, 1, r.IrRanges)

    get_geometry = blocking(sensors.ir_get_geometry)
    set_power = blocking(sensors.ir_set_power)


class Localize(Device):
    """Where the robot is on a map."""

    INTERFACE = commands.LOCALIZE

    hypotheses = Latest(commands.LOCALIZE, 1, s.Hypotheses)

    set_pose = blocking(commands.localize_set_pose)
    get_particles = blocking(commands.localize_get_particles)


class Simulation(Device):
    """A simulated world."""

    INTERFACE = commands.SIMULATION

    pause = blocking(commands.simulation_pause)
    reset = blocking(commands.simulation_reset)
    save = blocking(commands.simulation_save)
    get_pose2d = blocking(commands.simulation_get_pose2d)
    set_pose2d = blocking(commands.simulation_set_pose2d)
    get_pose3d = blocking(commands.simulation_get_pose3d)
    set_pose3d = blocking(commands.simulation_set_pose3d)
    get_property = blocking(commands.simulation_get_property)
    set_property = blocking(commands.simulation_set_property)


class Camera(Device):
    """A camera."""

    INTERFACE = sensors.CAMERA

    image = Latest(sensors.CAMERA, 1, r.Image)

    get_source = blocking(sensors.camera_get_source)
    set_source = blocking(sensors.camera_set_source)
    get_image = blocking(sensors.camera_get_image)


class Map(Device):
    """A map."""

    INTERFACE = commands.MAP

    info = Latest(commands.MAP, 1, s.MapInfo)

    get_info = blocking(commands.map_get_info)
    get_tile = blocking(commands.map_get_tile)
    get_vector = blocking(commands.map_get_vector)


class Actarray(Device):
    """A chain of joints."""

    INTERFACE = commands.ACTARRAY

    state = Latest(commands.ACTARRAY, 1, s.ActarrayState)

    set_position = blocking(commands.actarray_set_position)
    set_positions = blocking(commands.actarray_set_positions)
    set_speed = blocking(commands.actarray_set_speed)
    set_speeds = blocking(commands.actarray_set_speeds)
    home = blocking(commands.actarray_home)
    set_current = blocking(commands.actarray_set_current)
    set_currents = blocking(commands.actarray_set_currents)
    set_power = blocking(commands.actarray_set_power)
    set_brakes = blocking(commands.actarray_set_brakes)
    get_geometry = blocking(commands.actarray_get_geometry)
    set_joint_speed = blocking(commands.actarray_set_joint_speed)
    set_joint_acceleration = blocking(commands.actarray_set_joint_acceleration)


class Planner(Device):
    """A planner that drives to a goal on the plane."""

    INTERFACE = commands.PLANNER

    state = Latest(commands.PLANNER, 1, s.PlannerState)

    set_goal = blocking(commands.planner_set_goal)
    set_start = blocking(commands.planner_set_start)
    get_waypoints = blocking(commands.planner_get_waypoints)
    enable = blocking(commands.planner_enable)


class Log(Device):
    """A recorder."""

    INTERFACE = commands.LOG

    set_write_state = blocking(commands.log_set_write_state)
    set_read_state = blocking(commands.log_set_read_state)
    get_state = blocking(commands.log_get_state)
    rewind = blocking(commands.log_rewind)
    set_file_name = blocking(commands.log_set_file_name)


class Opaque(Device):
    """A device whose bytes only its programs understand."""

    INTERFACE = commands.OPAQUE

    state = Latest(commands.OPAQUE, 1, s.OpaqueData)

    command = blocking(commands.opaque_command)
    request = blocking(commands.opaque_request)


class Limb(Device):
    """An arm, by the pose of its end effector."""

    INTERFACE = commands.LIMB

    state = Latest(commands.LIMB, 1, s.LimbState)

    home = blocking(commands.limb_home)
    stop = blocking(commands.limb_stop)
    set_pose = blocking(commands.limb_set_pose)
    set_position = blocking(commands.limb_set_position)
    move_along = blocking(commands.limb_move_along)
    set_power = blocking(commands.limb_set_power)
    set_brakes = blocking(commands.limb_set_brakes)
    get_geometry = blocking(commands.limb_get_geometry)
    set_speed = blocking(commands.limb_set_speed)


class Vectormap(Device):
    """A map of shapes in layers."""

    INTERFACE = commands.VECTORMAP

    get_info = blocking(commands.vectormap_get_info)
    get_layer = blocking(commands.vectormap_get_layer)
    write_layer = blocking(commands.vectormap_write_layer)


class Imu(Device):
    """An inertial measurement unit."""

    INTERFACE = sensors.IMU

    state = Latest(sensors.IMU, 1, s.Pose3d)
    calibrated = Latest(sensors.IMU, 2, r.ImuCalibrated)
    quaternion = Latest(sensors.IMU, 3, r.ImuQuaternion)
    euler = Latest(sensors.IMU, 4, r.ImuEuler)
    full_state = Latest(sensors.IMU, 5, r.ImuFullState)

    set_data_kind = blocking(sensors.imu_set_data_kind)
    reset_orientation = blocking(sensors.imu_reset_orientation)
    reset_euler = blocking(sensors.imu_reset_euler)


class Ranger(Device):
    """Range sensors."""

    INTERFACE = sensors.RANGER

    ranges = Latest(sensors.RANGER, 1, r.RangerRanges)
    stamped_ranges = Latest(sensors.RANGER, 2, r.RangerStampedRanges)
    intensities = Latest(sensors.RANGER, 3, r.RangerIntensities)
    stamped_intensities = Latest(sensors.RANGER, 4, r.RangerStampedIntensities)
    geometry_changed = Latest(sensors.RANGER, 5, r.RangerGeometry)

    get_geometry = blocking(sensors.ranger_get_geometry)
    set_power = blocking(sensors.ranger_set_power)
    send_intensities = blocking(sensors.ranger_send_intensities)
    set_config = blocking(sensors.ranger_set_config)
    get_config = blocking(sensors.ranger_get_config)


class AsyncPower(AsyncDevice):
    """A battery."""

    INTERFACE = commands.POWER

    state = Latest(commands.POWER, 1, s.PowerState)

    set_charging_policy = asynchronous(commands.power_set_charging_policy)


class AsyncGripper(AsyncDevice):
    """A gripper."""

    INTERFACE = commands.GRIPPER

    state = Latest(commands.GRIPPER, 1, s.GripperState)

    open = asynchronous(commands.gripper_open)
    close = asynchronous(commands.gripper_close)
    stop = asynchronous(commands.gripper_stop)
    store = asynchronous(commands.gripper_store)
    retrieve = asynchronous(commands.gripper_retrieve)
    get_geometry = asynchronous(commands.gripper_get_geometry)


class AsyncPosition2d(AsyncDevice):
    """A base that moves on the plane."""

    INTERFACE = commands.POSITION2D

    state = Latest(commands.POSITION2D, 1, s.Position2dState)
    geometry_changed = Latest(commands.POSITION2D, 2, s.Geometry)

    set_velocity = asynchronous(commands.position2d_set_velocity)
    set_position = asynchronous(commands.position2d_set_position)
    set_car = asynchronous(commands.position2d_set_car)
    set_velocity_heading = asynchronous(commands.position2d_set_velocity_heading)
    get_geometry = asynchronous(commands.position2d_get_geometry)
    set_motor_power = asynchronous(commands.position2d_set_motor_power)
    set_velocity_mode = asynchronous(commands.position2d_set_velocity_mode)
    set_position_mode = asynchronous(commands.position2d_set_position_mode)
    set_odometry = asynchronous(commands.position2d_set_odometry)
    reset_odometry = asynchronous(commands.position2d_reset_odometry)
    set_speed_pid = asynchronous(commands.position2d_set_speed_pid)
    set_position_pid = asynchronous(commands.position2d_set_position_pid)
    set_speed_profile = asynchronous(commands.position2d_set_speed_profile)


class AsyncSonar(AsyncDevice):
    """Ultrasonic sensors."""

    INTERFACE = sensors.SONAR

    ranges = Latest(sensors.SONAR, 1, r.SonarRanges)
    geometry_changed = Latest(sensors.SONAR, 2, r.SonarGeometry)

    get_geometry = asynchronous(sensors.sonar_get_geometry)
    set_power = asynchronous(sensors.sonar_set_power)


class AsyncLaser(AsyncDevice):
    """A scanner, by the interface before ranger."""

    INTERFACE = sensors.LASER

    scan = Latest(sensors.LASER, 1, r.LaserScan)
    posed_scan = Latest(sensors.LASER, 2, r.LaserPosedScan)
    angled_scan = Latest(sensors.LASER, 3, r.LaserAngledScan)

    get_geometry = asynchronous(sensors.laser_get_geometry)
    set_config = asynchronous(sensors.laser_set_config)
    get_config = asynchronous(sensors.laser_get_config)
    set_power = asynchronous(sensors.laser_set_power)
    get_id = asynchronous(sensors.laser_get_id)
    set_filter = asynchronous(sensors.laser_set_filter)


class AsyncBumper(AsyncDevice):
    """Bumpers."""

    INTERFACE = sensors.BUMPER

    state = Latest(sensors.BUMPER, 1, r.BumperState)
    geometry_changed = Latest(sensors.BUMPER, 2, r.BumperGeometry)

    get_geometry = asynchronous(sensors.bumper_get_geometry)


class AsyncIr(AsyncDevice):
    """Infrared sensors."""

    INTERFACE = sensors.IR

    ranges = Latest(sensors.IR, 1, r.IrRanges)

    get_geometry = asynchronous(sensors.ir_get_geometry)
    set_power = asynchronous(sensors.ir_set_power)


class AsyncLocalize(AsyncDevice):
    """Where the robot is on a map."""

    INTERFACE = commands.LOCALIZE

    hypotheses = Latest(commands.LOCALIZE, 1, s.Hypotheses)

    set_pose = asynchronous(commands.localize_set_pose)
    get_particles = asynchronous(commands.localize_get_particles)


class AsyncSimulation(AsyncDevice):
    """A simulated world."""

    INTERFACE = commands.SIMULATION

    pause = asynchronous(commands.simulation_pause)
    reset = asynchronous(commands.simulation_reset)
    save = asynchronous(commands.simulation_save)
    get_pose2d = asynchronous(commands.simulation_get_pose2d)
    set_pose2d = asynchronous(commands.simulation_set_pose2d)
    get_pose3d = asynchronous(commands.simulation_get_pose3d)
    set_pose3d = asynchronous(commands.simulation_set_pose3d)
    get_property = asynchronous(commands.simulation_get_property)
    set_property = asynchronous(commands.simulation_set_property)


class AsyncCamera(AsyncDevice):
    """A camera."""

    INTERFACE = sensors.CAMERA

    image = Latest(sensors.CAMERA, 1, r.Image)

    get_source = asynchronous(sensors.camera_get_source)
    set_source = asynchronous(sensors.camera_set_source)
    get_image = asynchronous(sensors.camera_get_image)


class AsyncMap(AsyncDevice):
    """A map."""

    INTERFACE = commands.MAP

    info = Latest(commands.MAP, 1, s.MapInfo)

    get_info = asynchronous(commands.map_get_info)
    get_tile = asynchronous(commands.map_get_tile)
    get_vector = asynchronous(commands.map_get_vector)


class AsyncActarray(AsyncDevice):
    """A chain of joints."""

    INTERFACE = commands.ACTARRAY

    state = Latest(commands.ACTARRAY, 1, s.ActarrayState)

    set_position = asynchronous(commands.actarray_set_position)
    set_positions = asynchronous(commands.actarray_set_positions)
    set_speed = asynchronous(commands.actarray_set_speed)
    set_speeds = asynchronous(commands.actarray_set_speeds)
    home = asynchronous(commands.actarray_home)
    set_current = asynchronous(commands.actarray_set_current)
    set_currents = asynchronous(commands.actarray_set_currents)
    set_power = asynchronous(commands.actarray_set_power)
    set_brakes = asynchronous(commands.actarray_set_brakes)
    get_geometry = asynchronous(commands.actarray_get_geometry)
    set_joint_speed = asynchronous(commands.actarray_set_joint_speed)
    set_joint_acceleration = asynchronous(commands.actarray_set_joint_acceleration)


class AsyncPlanner(AsyncDevice):
    """A planner that drives to a goal on the plane."""

    INTERFACE = commands.PLANNER

    state = Latest(commands.PLANNER, 1, s.PlannerState)

    set_goal = asynchronous(commands.planner_set_goal)
    set_start = asynchronous(commands.planner_set_start)
    get_waypoints = asynchronous(commands.planner_get_waypoints)
    enable = asynchronous(commands.planner_enable)


class AsyncLog(AsyncDevice):
    """A recorder."""

    INTERFACE = commands.LOG

    set_write_state = asynchronous(commands.log_set_write_state)
    set_read_state = asynchronous(commands.log_set_read_state)
    get_state = asynchronous(commands.log_get_state)
    rewind = asynchronous(commands.log_rewind)
    set_file_name = asynchronous(commands.log_set_file_name)


class AsyncOpaque(AsyncDevice):
    """A device whose bytes only its programs understand."""

    INTERFACE = commands.OPAQUE

    state = Latest(commands.OPAQUE, 1, s.OpaqueData)

    command = asynchronous(commands.opaque_command)
    request = asynchronous(commands.opaque_request)


class AsyncLimb(AsyncDevice):
    """An arm, by the pose of its end effector."""

    INTERFACE = commands.LIMB

    state = Latest(commands.LIMB, 1, s.LimbState)

    home = asynchronous(commands.limb_home)
    stop = asynchronous(commands.limb_stop)
    set_pose = asynchronous(commands.limb_set_pose)
    set_position = asynchronous(commands.limb_set_position)
    move_along = asynchronous(commands.limb_move_along)
    set_power = asynchronous(commands.limb_set_power)
    set_brakes = asynchronous(commands.limb_set_brakes)
    get_geometry = asynchronous(commands.limb_get_geometry)
    set_speed = asynchronous(commands.limb_set_speed)


class AsyncVectormap(AsyncDevice):
    """A map of shapes in layers."""

    INTERFACE = commands.VECTORMAP

    get_info = asynchronous(commands.vectormap_get_info)
    get_layer = asynchronous(commands.vectormap_get_layer)
    write_layer = asynchronous(commands.vectormap_write_layer)


class AsyncImu(AsyncDevice):
    """An inertial measurement unit."""

    INTERFACE = sensors.IMU

    state = Latest(sensors.IMU, 1, s.Pose3d)
    calibrated = Latest(sensors.IMU, 2, r.ImuCalibrated)
    quaternion = Latest(sensors.IMU, 3, r.ImuQuaternion)
    euler = Latest(sensors.IMU, 4, r.ImuEuler)
    full_state = Latest(sensors.IMU, 5, r.ImuFullState)

    set_data_kind = asynchronous(sensors.imu_set_data_kind)
    reset_orientation = asynchronous(sensors.imu_reset_orientation)
    reset_euler = asynchronous(sensors.imu_reset_euler)


class AsyncRanger(AsyncDevice):
    """Range sensors."""

    INTERFACE = sensors.RANGER

    ranges = Latest(sensors.RANGER, 1, r.RangerRanges)
    stamped_ranges = Latest(sensors.RANGER, 2, r.RangerStampedRanges)
    intensities = Latest(sensors.RANGER, 3, r.RangerIntensities)
    stamped_intensities = Latest(sensors.RANGER, 4, r.RangerStampedIntensities)
    geometry_changed = Latest(sensors.RANGER, 5, r.RangerGeometry)

    get_geometry = asynchronous(sensors.ranger_get_geometry)
    set_power = asynchronous(sensors.ranger_set_power)
    send_intensities = asynchronous(sensors.ranger_send_intensities)
    set_config = asynchronous(sensors.ranger_set_config)
    get_config = asynchronous(sensors.ranger_get_config)
