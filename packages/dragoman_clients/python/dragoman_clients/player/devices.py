"""Devices of each interface: their data, commands and requests. Written by make_methods.py."""

from __future__ import annotations

from ..asynchronous import asynchronous
from ..blocking import blocking
from . import commands, messages, sensors
from . import messages as m
from . import readings as r
from . import structures as s
from .device import AsyncDevice as AsyncDevice
from .device import AsyncOpener, Latest, Opener
from .device import Device as Device


class Power(Device):
    """A battery or another source of energy."""

    INTERFACE = m.POWER

    state = Latest(m.POWER, 1, s.PowerState)
    set_charging_policy = blocking(commands.power_set_charging_policy)


class AsyncPower(AsyncDevice):
    """A battery or another source of energy."""

    INTERFACE = m.POWER

    state = Latest(m.POWER, 1, s.PowerState)
    set_charging_policy = asynchronous(commands.power_set_charging_policy)


class Gripper(Device):
    """A gripper with two fingers."""

    INTERFACE = m.GRIPPER

    state = Latest(m.GRIPPER, 1, s.GripperState)
    open = blocking(messages.gripper_open)
    close = blocking(messages.gripper_close)
    stop = blocking(messages.gripper_stop)
    store = blocking(messages.gripper_store)
    retrieve = blocking(messages.gripper_retrieve)
    get_geometry = blocking(messages.gripper_get_geometry)


class AsyncGripper(AsyncDevice):
    """A gripper with two fingers."""

    INTERFACE = m.GRIPPER

    state = Latest(m.GRIPPER, 1, s.GripperState)
    open = asynchronous(messages.gripper_open)
    close = asynchronous(messages.gripper_close)
    stop = asynchronous(messages.gripper_stop)
    store = asynchronous(messages.gripper_store)
    retrieve = asynchronous(messages.gripper_retrieve)
    get_geometry = asynchronous(messages.gripper_get_geometry)


class Position2d(Device):
    """A base that moves on a plane."""

    INTERFACE = m.POSITION2D

    state = Latest(m.POSITION2D, 1, s.Position2dState)
    geometry_changed = Latest(m.POSITION2D, 2, s.Geometry)
    get_geometry = blocking(messages.position2d_get_geometry)
    reset_odometry = blocking(messages.position2d_reset_odometry)
    set_velocity = blocking(commands.position2d_set_velocity)
    set_position = blocking(commands.position2d_set_position)
    set_car = blocking(commands.position2d_set_car)
    set_velocity_heading = blocking(commands.position2d_set_velocity_heading)
    set_motor_power = blocking(commands.position2d_set_motor_power)
    set_velocity_mode = blocking(commands.position2d_set_velocity_mode)
    set_position_mode = blocking(commands.position2d_set_position_mode)
    set_odometry = blocking(commands.position2d_set_odometry)
    set_speed_pid = blocking(commands.position2d_set_speed_pid)
    set_position_pid = blocking(commands.position2d_set_position_pid)
    set_speed_profile = blocking(commands.position2d_set_speed_profile)


class AsyncPosition2d(AsyncDevice):
    """A base that moves on a plane."""

    INTERFACE = m.POSITION2D

    state = Latest(m.POSITION2D, 1, s.Position2dState)
    geometry_changed = Latest(m.POSITION2D, 2, s.Geometry)
    get_geometry = asynchronous(messages.position2d_get_geometry)
    reset_odometry = asynchronous(messages.position2d_reset_odometry)
    set_velocity = asynchronous(commands.position2d_set_velocity)
    set_position = asynchronous(commands.position2d_set_position)
    set_car = asynchronous(commands.position2d_set_car)
    set_velocity_heading = asynchronous(commands.position2d_set_velocity_heading)
    set_motor_power = asynchronous(commands.position2d_set_motor_power)
    set_velocity_mode = asynchronous(commands.position2d_set_velocity_mode)
    set_position_mode = asynchronous(commands.position2d_set_position_mode)
    set_odometry = asynchronous(commands.position2d_set_odometry)
    set_speed_pid = asynchronous(commands.position2d_set_speed_pid)
    set_position_pid = asynchronous(commands.position2d_set_position_pid)
    set_speed_profile = asynchronous(commands.position2d_set_speed_profile)


class Sonar(Device):
    """Ultrasonic sensors, each with one range."""

    INTERFACE = m.SONAR

    ranges = Latest(m.SONAR, 1, r.SonarRanges)
    geometry_changed = Latest(m.SONAR, 2, r.SonarGeometry)
    get_geometry = blocking(messages.sonar_get_geometry)
    set_power = blocking(sensors.sonar_set_power)


class AsyncSonar(AsyncDevice):
    """Ultrasonic sensors, each with one range."""

    INTERFACE = m.SONAR

    ranges = Latest(m.SONAR, 1, r.SonarRanges)
    geometry_changed = Latest(m.SONAR, 2, r.SonarGeometry)
    get_geometry = asynchronous(messages.sonar_get_geometry)
    set_power = asynchronous(sensors.sonar_set_power)


class Laser(Device):
    """A laser range finder that scans a plane."""

    INTERFACE = m.LASER

    scan = Latest(m.LASER, 1, r.LaserScan)
    posed_scan = Latest(m.LASER, 2, r.LaserPosedScan)
    angled_scan = Latest(m.LASER, 3, r.LaserAngledScan)
    get_geometry = blocking(messages.laser_get_geometry)
    get_config = blocking(messages.laser_get_config)
    get_id = blocking(messages.laser_get_id)
    set_config = blocking(sensors.laser_set_config)
    set_power = blocking(sensors.laser_set_power)
    set_filter = blocking(sensors.laser_set_filter)


class AsyncLaser(AsyncDevice):
    """A laser range finder that scans a plane."""

    INTERFACE = m.LASER

    scan = Latest(m.LASER, 1, r.LaserScan)
    posed_scan = Latest(m.LASER, 2, r.LaserPosedScan)
    angled_scan = Latest(m.LASER, 3, r.LaserAngledScan)
    get_geometry = asynchronous(messages.laser_get_geometry)
    get_config = asynchronous(messages.laser_get_config)
    get_id = asynchronous(messages.laser_get_id)
    set_config = asynchronous(sensors.laser_set_config)
    set_power = asynchronous(sensors.laser_set_power)
    set_filter = asynchronous(sensors.laser_set_filter)


class Bumper(Device):
    """An array of bumpers."""

    INTERFACE = m.BUMPER

    state = Latest(m.BUMPER, 1, r.BumperState)
    geometry_changed = Latest(m.BUMPER, 2, r.BumperGeometry)
    get_geometry = blocking(messages.bumper_get_geometry)


class AsyncBumper(AsyncDevice):
    """An array of bumpers."""

    INTERFACE = m.BUMPER

    state = Latest(m.BUMPER, 1, r.BumperState)
    geometry_changed = Latest(m.BUMPER, 2, r.BumperGeometry)
    get_geometry = asynchronous(messages.bumper_get_geometry)


class Ir(Device):
    """Infrared range sensors, each with one range."""

    INTERFACE = m.IR

    ranges = Latest(m.IR, 1, r.IrRanges)
    get_geometry = blocking(messages.ir_get_geometry)
    set_power = blocking(sensors.ir_set_power)


class AsyncIr(AsyncDevice):
    """Infrared range sensors, each with one range."""

    INTERFACE = m.IR

    ranges = Latest(m.IR, 1, r.IrRanges)
    get_geometry = asynchronous(messages.ir_get_geometry)
    set_power = asynchronous(sensors.ir_set_power)


class Localize(Device):
    """Where the robot is on a map."""

    INTERFACE = m.LOCALIZE

    hypotheses = Latest(m.LOCALIZE, 1, s.Hypotheses)
    get_particles = blocking(messages.localize_get_particles)
    set_pose = blocking(commands.localize_set_pose)


class AsyncLocalize(AsyncDevice):
    """Where the robot is on a map."""

    INTERFACE = m.LOCALIZE

    hypotheses = Latest(m.LOCALIZE, 1, s.Hypotheses)
    get_particles = asynchronous(messages.localize_get_particles)
    set_pose = asynchronous(commands.localize_set_pose)


class Simulation(Device):
    """A simulated world."""

    INTERFACE = m.SIMULATION

    pause = blocking(messages.simulation_pause)
    reset = blocking(messages.simulation_reset)
    save = blocking(messages.simulation_save)
    get_pose2d = blocking(commands.simulation_get_pose2d)
    set_pose2d = blocking(commands.simulation_set_pose2d)
    get_pose3d = blocking(commands.simulation_get_pose3d)
    set_pose3d = blocking(commands.simulation_set_pose3d)
    get_property = blocking(commands.simulation_get_property)
    set_property = blocking(commands.simulation_set_property)


class AsyncSimulation(AsyncDevice):
    """A simulated world."""

    INTERFACE = m.SIMULATION

    pause = asynchronous(messages.simulation_pause)
    reset = asynchronous(messages.simulation_reset)
    save = asynchronous(messages.simulation_save)
    get_pose2d = asynchronous(commands.simulation_get_pose2d)
    set_pose2d = asynchronous(commands.simulation_set_pose2d)
    get_pose3d = asynchronous(commands.simulation_get_pose3d)
    set_pose3d = asynchronous(commands.simulation_set_pose3d)
    get_property = asynchronous(commands.simulation_get_property)
    set_property = asynchronous(commands.simulation_set_property)


class Camera(Device):
    """A camera."""

    INTERFACE = m.CAMERA

    image = Latest(m.CAMERA, 1, r.Image)
    get_source = blocking(messages.camera_get_source)
    get_image = blocking(messages.camera_get_image)
    set_source = blocking(sensors.camera_set_source)


class AsyncCamera(AsyncDevice):
    """A camera."""

    INTERFACE = m.CAMERA

    image = Latest(m.CAMERA, 1, r.Image)
    get_source = asynchronous(messages.camera_get_source)
    get_image = asynchronous(messages.camera_get_image)
    set_source = asynchronous(sensors.camera_set_source)


class Map(Device):
    """A map of the ground."""

    INTERFACE = m.MAP

    info = Latest(m.MAP, 1, s.MapInfo)
    get_info = blocking(messages.map_get_info)
    get_vector = blocking(messages.map_get_vector)
    get_tile = blocking(commands.map_get_tile)


class AsyncMap(AsyncDevice):
    """A map of the ground."""

    INTERFACE = m.MAP

    info = Latest(m.MAP, 1, s.MapInfo)
    get_info = asynchronous(messages.map_get_info)
    get_vector = asynchronous(messages.map_get_vector)
    get_tile = asynchronous(commands.map_get_tile)


class Planner(Device):
    """Drives to a goal on the plane."""

    INTERFACE = m.PLANNER

    state = Latest(m.PLANNER, 1, s.PlannerState)
    get_waypoints = blocking(messages.planner_get_waypoints)
    set_goal = blocking(commands.planner_set_goal)
    set_start = blocking(commands.planner_set_start)
    enable = blocking(commands.planner_enable)


class AsyncPlanner(AsyncDevice):
    """Drives to a goal on the plane."""

    INTERFACE = m.PLANNER

    state = Latest(m.PLANNER, 1, s.PlannerState)
    get_waypoints = asynchronous(messages.planner_get_waypoints)
    set_goal = asynchronous(commands.planner_set_goal)
    set_start = asynchronous(commands.planner_set_start)
    enable = asynchronous(commands.planner_enable)


class Log(Device):
    """Recording to a file, and playing it back."""

    INTERFACE = m.LOG

    get_state = blocking(messages.log_get_state)
    rewind = blocking(messages.log_rewind)
    set_write_state = blocking(commands.log_set_write_state)
    set_read_state = blocking(commands.log_set_read_state)
    set_file_name = blocking(commands.log_set_file_name)


class AsyncLog(AsyncDevice):
    """Recording to a file, and playing it back."""

    INTERFACE = m.LOG

    get_state = asynchronous(messages.log_get_state)
    rewind = asynchronous(messages.log_rewind)
    set_write_state = asynchronous(commands.log_set_write_state)
    set_read_state = asynchronous(commands.log_set_read_state)
    set_file_name = asynchronous(commands.log_set_file_name)


class Opaque(Device):
    """Bytes whose meaning a driver and its clients agree on."""

    INTERFACE = m.OPAQUE

    state = Latest(m.OPAQUE, 1, s.OpaqueData)
    command = blocking(commands.opaque_command)
    request = blocking(commands.opaque_request)


class AsyncOpaque(AsyncDevice):
    """Bytes whose meaning a driver and its clients agree on."""

    INTERFACE = m.OPAQUE

    state = Latest(m.OPAQUE, 1, s.OpaqueData)
    command = asynchronous(commands.opaque_command)
    request = asynchronous(commands.opaque_request)


class Actarray(Device):
    """A chain of joints, such as an arm."""

    INTERFACE = m.ACTARRAY

    state = Latest(m.ACTARRAY, 1, s.ActarrayState)
    get_geometry = blocking(messages.actarray_get_geometry)
    set_position = blocking(commands.actarray_set_position)
    set_positions = blocking(commands.actarray_set_positions)
    set_speed = blocking(commands.actarray_set_speed)
    set_speeds = blocking(commands.actarray_set_speeds)
    home = blocking(commands.actarray_home)
    set_current = blocking(commands.actarray_set_current)
    set_currents = blocking(commands.actarray_set_currents)
    set_power = blocking(commands.actarray_set_power)
    set_brakes = blocking(commands.actarray_set_brakes)
    set_joint_speed = blocking(commands.actarray_set_joint_speed)
    set_joint_acceleration = blocking(commands.actarray_set_joint_acceleration)


class AsyncActarray(AsyncDevice):
    """A chain of joints, such as an arm."""

    INTERFACE = m.ACTARRAY

    state = Latest(m.ACTARRAY, 1, s.ActarrayState)
    get_geometry = asynchronous(messages.actarray_get_geometry)
    set_position = asynchronous(commands.actarray_set_position)
    set_positions = asynchronous(commands.actarray_set_positions)
    set_speed = asynchronous(commands.actarray_set_speed)
    set_speeds = asynchronous(commands.actarray_set_speeds)
    home = asynchronous(commands.actarray_home)
    set_current = asynchronous(commands.actarray_set_current)
    set_currents = asynchronous(commands.actarray_set_currents)
    set_power = asynchronous(commands.actarray_set_power)
    set_brakes = asynchronous(commands.actarray_set_brakes)
    set_joint_speed = asynchronous(commands.actarray_set_joint_speed)
    set_joint_acceleration = asynchronous(commands.actarray_set_joint_acceleration)


class Limb(Device):
    """An arm, by the pose of its end effector."""

    INTERFACE = m.LIMB

    state = Latest(m.LIMB, 1, s.LimbState)
    home = blocking(messages.limb_home)
    stop = blocking(messages.limb_stop)
    get_geometry = blocking(messages.limb_get_geometry)
    set_pose = blocking(commands.limb_set_pose)
    set_position = blocking(commands.limb_set_position)
    move_along = blocking(commands.limb_move_along)
    set_power = blocking(commands.limb_set_power)
    set_brakes = blocking(commands.limb_set_brakes)
    set_speed = blocking(commands.limb_set_speed)


class AsyncLimb(AsyncDevice):
    """An arm, by the pose of its end effector."""

    INTERFACE = m.LIMB

    state = Latest(m.LIMB, 1, s.LimbState)
    home = asynchronous(messages.limb_home)
    stop = asynchronous(messages.limb_stop)
    get_geometry = asynchronous(messages.limb_get_geometry)
    set_pose = asynchronous(commands.limb_set_pose)
    set_position = asynchronous(commands.limb_set_position)
    move_along = asynchronous(commands.limb_move_along)
    set_power = asynchronous(commands.limb_set_power)
    set_brakes = asynchronous(commands.limb_set_brakes)
    set_speed = asynchronous(commands.limb_set_speed)


class Imu(Device):
    """An inertial measurement unit."""

    INTERFACE = m.IMU

    state = Latest(m.IMU, 1, s.Pose3d)
    calibrated = Latest(m.IMU, 2, r.ImuCalibrated)
    quaternion = Latest(m.IMU, 3, r.ImuQuaternion)
    euler = Latest(m.IMU, 4, r.ImuEuler)
    full_state = Latest(m.IMU, 5, r.ImuFullState)
    set_data_kind = blocking(sensors.imu_set_data_kind)
    reset_orientation = blocking(sensors.imu_reset_orientation)
    reset_euler = blocking(sensors.imu_reset_euler)


class AsyncImu(AsyncDevice):
    """An inertial measurement unit."""

    INTERFACE = m.IMU

    state = Latest(m.IMU, 1, s.Pose3d)
    calibrated = Latest(m.IMU, 2, r.ImuCalibrated)
    quaternion = Latest(m.IMU, 3, r.ImuQuaternion)
    euler = Latest(m.IMU, 4, r.ImuEuler)
    full_state = Latest(m.IMU, 5, r.ImuFullState)
    set_data_kind = asynchronous(sensors.imu_set_data_kind)
    reset_orientation = asynchronous(sensors.imu_reset_orientation)
    reset_euler = asynchronous(sensors.imu_reset_euler)


class Ranger(Device):
    """Range sensors: a laser, sonars, infrared sensors."""

    INTERFACE = m.RANGER

    ranges = Latest(m.RANGER, 1, r.RangerRanges)
    stamped_ranges = Latest(m.RANGER, 2, r.RangerStampedRanges)
    intensities = Latest(m.RANGER, 3, r.RangerIntensities)
    stamped_intensities = Latest(m.RANGER, 4, r.RangerStampedIntensities)
    geometry_changed = Latest(m.RANGER, 5, r.RangerGeometry)
    get_geometry = blocking(messages.ranger_get_geometry)
    get_config = blocking(messages.ranger_get_config)
    set_power = blocking(sensors.ranger_set_power)
    send_intensities = blocking(sensors.ranger_send_intensities)
    set_config = blocking(sensors.ranger_set_config)


class AsyncRanger(AsyncDevice):
    """Range sensors: a laser, sonars, infrared sensors."""

    INTERFACE = m.RANGER

    ranges = Latest(m.RANGER, 1, r.RangerRanges)
    stamped_ranges = Latest(m.RANGER, 2, r.RangerStampedRanges)
    intensities = Latest(m.RANGER, 3, r.RangerIntensities)
    stamped_intensities = Latest(m.RANGER, 4, r.RangerStampedIntensities)
    geometry_changed = Latest(m.RANGER, 5, r.RangerGeometry)
    get_geometry = asynchronous(messages.ranger_get_geometry)
    get_config = asynchronous(messages.ranger_get_config)
    set_power = asynchronous(sensors.ranger_set_power)
    send_intensities = asynchronous(sensors.ranger_send_intensities)
    set_config = asynchronous(sensors.ranger_set_config)


class Vectormap(Device):
    """A map of shapes in layers."""

    INTERFACE = m.VECTORMAP

    get_info = blocking(messages.vectormap_get_info)
    get_layer = blocking(commands.vectormap_get_layer)
    write_layer = blocking(commands.vectormap_write_layer)


class AsyncVectormap(AsyncDevice):
    """A map of shapes in layers."""

    INTERFACE = m.VECTORMAP

    get_info = asynchronous(messages.vectormap_get_info)
    get_layer = asynchronous(commands.vectormap_get_layer)
    write_layer = asynchronous(commands.vectormap_write_layer)


class Opening(Opener):
    """A method for each interface opens a device."""

    def power(self, index: int = 0) -> Power:
        """Opens a device of this interface: a battery or another source of energy."""
        return self._open_device(Power, index)

    def gripper(self, index: int = 0) -> Gripper:
        """Opens a device of this interface: a gripper with two fingers."""
        return self._open_device(Gripper, index)

    def position2d(self, index: int = 0) -> Position2d:
        """Opens a device of this interface: a base that moves on a plane."""
        return self._open_device(Position2d, index)

    def sonar(self, index: int = 0) -> Sonar:
        """Opens a device of this interface: ultrasonic sensors, each with one range."""
        return self._open_device(Sonar, index)

    def laser(self, index: int = 0) -> Laser:
        """Opens a device of this interface: a laser range finder that scans a plane."""
        return self._open_device(Laser, index)

    def bumper(self, index: int = 0) -> Bumper:
        """Opens a device of this interface: an array of bumpers."""
        return self._open_device(Bumper, index)

    def ir(self, index: int = 0) -> Ir:
        """Opens a device of this interface: infrared range sensors, each with one range."""
        return self._open_device(Ir, index)

    def localize(self, index: int = 0) -> Localize:
        """Opens a device of this interface: where the robot is on a map."""
        return self._open_device(Localize, index)

    def simulation(self, index: int = 0) -> Simulation:
        """Opens a device of this interface: a simulated world."""
        return self._open_device(Simulation, index)

    def camera(self, index: int = 0) -> Camera:
        """Opens a device of this interface: a camera."""
        return self._open_device(Camera, index)

    def map(self, index: int = 0) -> Map:
        """Opens a device of this interface: a map of the ground."""
        return self._open_device(Map, index)

    def planner(self, index: int = 0) -> Planner:
        """Opens a device of this interface: drives to a goal on the plane."""
        return self._open_device(Planner, index)

    def log(self, index: int = 0) -> Log:
        """Opens a device of this interface: recording to a file, and playing it back."""
        return self._open_device(Log, index)

    def opaque(self, index: int = 0) -> Opaque:
        """Opens a device of this interface: bytes whose meaning a driver and its clients agree on."""
        return self._open_device(Opaque, index)

    def actarray(self, index: int = 0) -> Actarray:
        """Opens a device of this interface: a chain of joints, such as an arm."""
        return self._open_device(Actarray, index)

    def limb(self, index: int = 0) -> Limb:
        """Opens a device of this interface: an arm, by the pose of its end effector."""
        return self._open_device(Limb, index)

    def imu(self, index: int = 0) -> Imu:
        """Opens a device of this interface: an inertial measurement unit."""
        return self._open_device(Imu, index)

    def ranger(self, index: int = 0) -> Ranger:
        """Opens a device of this interface: range sensors: a laser, sonars, infrared sensors."""
        return self._open_device(Ranger, index)

    def vectormap(self, index: int = 0) -> Vectormap:
        """Opens a device of this interface: a map of shapes in layers."""
        return self._open_device(Vectormap, index)


class AsyncOpening(AsyncOpener):
    """A method for each interface opens a device."""

    async def power(self, index: int = 0) -> AsyncPower:
        """Opens a device of this interface: a battery or another source of energy."""
        return await self._open_device(AsyncPower, index)

    async def gripper(self, index: int = 0) -> AsyncGripper:
        """Opens a device of this interface: a gripper with two fingers."""
        return await self._open_device(AsyncGripper, index)

    async def position2d(self, index: int = 0) -> AsyncPosition2d:
        """Opens a device of this interface: a base that moves on a plane."""
        return await self._open_device(AsyncPosition2d, index)

    async def sonar(self, index: int = 0) -> AsyncSonar:
        """Opens a device of this interface: ultrasonic sensors, each with one range."""
        return await self._open_device(AsyncSonar, index)

    async def laser(self, index: int = 0) -> AsyncLaser:
        """Opens a device of this interface: a laser range finder that scans a plane."""
        return await self._open_device(AsyncLaser, index)

    async def bumper(self, index: int = 0) -> AsyncBumper:
        """Opens a device of this interface: an array of bumpers."""
        return await self._open_device(AsyncBumper, index)

    async def ir(self, index: int = 0) -> AsyncIr:
        """Opens a device of this interface: infrared range sensors, each with one range."""
        return await self._open_device(AsyncIr, index)

    async def localize(self, index: int = 0) -> AsyncLocalize:
        """Opens a device of this interface: where the robot is on a map."""
        return await self._open_device(AsyncLocalize, index)

    async def simulation(self, index: int = 0) -> AsyncSimulation:
        """Opens a device of this interface: a simulated world."""
        return await self._open_device(AsyncSimulation, index)

    async def camera(self, index: int = 0) -> AsyncCamera:
        """Opens a device of this interface: a camera."""
        return await self._open_device(AsyncCamera, index)

    async def map(self, index: int = 0) -> AsyncMap:
        """Opens a device of this interface: a map of the ground."""
        return await self._open_device(AsyncMap, index)

    async def planner(self, index: int = 0) -> AsyncPlanner:
        """Opens a device of this interface: drives to a goal on the plane."""
        return await self._open_device(AsyncPlanner, index)

    async def log(self, index: int = 0) -> AsyncLog:
        """Opens a device of this interface: recording to a file, and playing it back."""
        return await self._open_device(AsyncLog, index)

    async def opaque(self, index: int = 0) -> AsyncOpaque:
        """Opens a device of this interface: bytes whose meaning a driver and its clients agree on."""
        return await self._open_device(AsyncOpaque, index)

    async def actarray(self, index: int = 0) -> AsyncActarray:
        """Opens a device of this interface: a chain of joints, such as an arm."""
        return await self._open_device(AsyncActarray, index)

    async def limb(self, index: int = 0) -> AsyncLimb:
        """Opens a device of this interface: an arm, by the pose of its end effector."""
        return await self._open_device(AsyncLimb, index)

    async def imu(self, index: int = 0) -> AsyncImu:
        """Opens a device of this interface: an inertial measurement unit."""
        return await self._open_device(AsyncImu, index)

    async def ranger(self, index: int = 0) -> AsyncRanger:
        """Opens a device of this interface: range sensors: a laser, sonars, infrared sensors."""
        return await self._open_device(AsyncRanger, index)

    async def vectormap(self, index: int = 0) -> AsyncVectormap:
        """Opens a device of this interface: a map of shapes in layers."""
        return await self._open_device(AsyncVectormap, index)
