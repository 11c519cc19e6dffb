"""Clients of PlatformCtrl's protocol."""

from __future__ import annotations

from ..asynchronous import AsyncClient, asynchronous
from ..blocking import Client, blocking
from . import commands, procedures
from .procedures import Event, StatusWatcher
from .wire import NeobotixCore

DEFAULT_PORT = 10000
"""The other port is 10002. A platform has one client on each."""
DEFAULT_TIMEOUT = 5.0


class Neobotix(Client):
    """A connection to a PlatformCtrl, or to a server of its protocol.

    Most commands have no answer: they are done when they are sent, and the status shows their effect. ``with_header``
    False is for platforms that have messages as the guide's example, without a header.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        with_header: bool = True,
    ) -> None:
        super().__init__(NeobotixCore(with_header), host, port, timeout)
        self._watcher = StatusWatcher()

    def wait_events(self, seconds: float, period: float = 0.1) -> list[Event]:
        """Waits until the status changes, and returns what has changed; an empty list after ``seconds``."""
        return self._run(self._watcher.wait(seconds, period))

    connect_to_pltf = blocking(commands.connect_to_pltf)
    shutdown_pltf = blocking(commands.shutdown_pltf)
    init_pltf = blocking(commands.init_pltf)
    set_brake = blocking(commands.set_brake)
    set_digout = blocking(commands.set_digout)
    start_ultrasonic = blocking(commands.start_ultrasonic)
    stop_ultrasonic = blocking(commands.stop_ultrasonic)
    add_can_listening_id = blocking(commands.add_can_listening_id)
    remove_can_listening_id = blocking(commands.remove_can_listening_id)
    send_can_message = blocking(commands.send_can_message)
    get_can_messages = blocking(commands.get_can_messages)
    start = blocking(commands.start)
    break_ = blocking(commands.break_)
    continue_ = blocking(commands.continue_)
    stop = blocking(commands.stop)
    set_mode = blocking(commands.set_mode)
    exit = blocking(commands.exit)
    close_socket = blocking(commands.close_socket)
    get_status = blocking(commands.get_status)
    move_path = blocking(commands.move_path)
    move_to_station = blocking(commands.move_to_station)
    move_abs = blocking(commands.move_abs)
    move_rel = blocking(commands.move_rel)
    move_vel_wheel = blocking(commands.move_vel_wheel)
    move_vel = blocking(commands.move_vel)
    set_map = blocking(commands.set_map)
    get_map = blocking(commands.get_map)
    load_map = blocking(commands.load_map)
    save_map = blocking(commands.save_map)
    mapping_start = blocking(commands.mapping_start)
    mapping_reset = blocking(commands.mapping_reset)
    mapping_stop = blocking(commands.mapping_stop)
    set_roadmap = blocking(commands.set_roadmap)
    get_roadmap = blocking(commands.get_roadmap)
    load_roadmap = blocking(commands.load_roadmap)
    save_roadmap = blocking(commands.save_roadmap)
    set_frm_pltf = blocking(commands.set_frm_pltf)
    set_pltf_param = blocking(commands.set_pltf_param)
    get_pltf_param = blocking(commands.get_pltf_param)
    get_pltf_param_vec = blocking(commands.get_pltf_param_vec)
    set_program = blocking(commands.set_program)
    get_program = blocking(commands.get_program)
    load_program = blocking(commands.load_program)
    save_program = blocking(commands.save_program)
    speak_text = blocking(commands.speak_text)
    play_sound = blocking(commands.play_sound)
    grab_image = blocking(commands.grab_image)
    set_pos_head_drive = blocking(commands.set_pos_head_drive)
    set_vel_head_drive = blocking(commands.set_vel_head_drive)
    set_pos_pan_tilt_camera = blocking(commands.set_pos_pan_tilt_camera)
    get_debug_data = blocking(commands.get_debug_data)
    debug1 = blocking(commands.debug1)
    debug2 = blocking(commands.debug2)
    debug3 = blocking(commands.debug3)
    debug4 = blocking(commands.debug4)
    mouse_move = blocking(commands.mouse_move)
    set_log_enabled = blocking(commands.set_log_enabled)
    set_post_process_filename = blocking(commands.set_post_process_filename)
    set_event = blocking(commands.set_event)
    get_camera = blocking(commands.get_camera)
    get_position = blocking(commands.get_position)

    prepare = blocking(procedures.prepare)
    wait_until_reached = blocking(procedures.wait_until_reached)
    go_to_station = blocking(procedures.go_to_station)
    go_to = blocking(procedures.go_to)
    run_program = blocking(procedures.run_program)


class AsyncNeobotix(AsyncClient):
    """As :class:`Neobotix`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        with_header: bool = True,
    ) -> None:
        super().__init__(NeobotixCore(with_header), host, port, timeout)
        self._watcher = StatusWatcher()

    async def wait_events(self, seconds: float, period: float = 0.1) -> list[Event]:
        """Waits until the status changes, and returns what has changed; an empty list after ``seconds``."""
        return await self._run(self._watcher.wait(seconds, period))

    connect_to_pltf = asynchronous(commands.connect_to_pltf)
    shutdown_pltf = asynchronous(commands.shutdown_pltf)
    init_pltf = asynchronous(commands.init_pltf)
    set_brake = asynchronous(commands.set_brake)
    set_digout = asynchronous(commands.set_digout)
    start_ultrasonic = asynchronous(commands.start_ultrasonic)
    stop_ultrasonic = asynchronous(commands.stop_ultrasonic)
    add_can_listening_id = asynchronous(commands.add_can_listening_id)
    remove_can_listening_id = asynchronous(commands.remove_can_listening_id)
    send_can_message = asynchronous(commands.send_can_message)
    get_can_messages = asynchronous(commands.get_can_messages)
    start = asynchronous(commands.start)
    break_ = asynchronous(commands.break_)
    continue_ = asynchronous(commands.continue_)
    stop = asynchronous(commands.stop)
    set_mode = asynchronous(commands.set_mode)
    exit = asynchronous(commands.exit)
    close_socket = asynchronous(commands.close_socket)
    get_status = asynchronous(commands.get_status)
    move_path = asynchronous(commands.move_path)
    move_to_station = asynchronous(commands.move_to_station)
    move_abs = asynchronous(commands.move_abs)
    move_rel = asynchronous(commands.move_rel)
    move_vel_wheel = asynchronous(commands.move_vel_wheel)
    move_vel = asynchronous(commands.move_vel)
    set_map = asynchronous(commands.set_map)
    get_map = asynchronous(commands.get_map)
    load_map = asynchronous(commands.load_map)
    save_map = asynchronous(commands.save_map)
    mapping_start = asynchronous(commands.mapping_start)
    mapping_reset = asynchronous(commands.mapping_reset)
    mapping_stop = asynchronous(commands.mapping_stop)
    set_roadmap = asynchronous(commands.set_roadmap)
    get_roadmap = asynchronous(commands.get_roadmap)
    load_roadmap = asynchronous(commands.load_roadmap)
    save_roadmap = asynchronous(commands.save_roadmap)
    set_frm_pltf = asynchronous(commands.set_frm_pltf)
    set_pltf_param = asynchronous(commands.set_pltf_param)
    get_pltf_param = asynchronous(commands.get_pltf_param)
    get_pltf_param_vec = asynchronous(commands.get_pltf_param_vec)
    set_program = asynchronous(commands.set_program)
    get_program = asynchronous(commands.get_program)
    load_program = asynchronous(commands.load_program)
    save_program = asynchronous(commands.save_program)
    speak_text = asynchronous(commands.speak_text)
    play_sound = asynchronous(commands.play_sound)
    grab_image = asynchronous(commands.grab_image)
    set_pos_head_drive = asynchronous(commands.set_pos_head_drive)
    set_vel_head_drive = asynchronous(commands.set_vel_head_drive)
    set_pos_pan_tilt_camera = asynchronous(commands.set_pos_pan_tilt_camera)
    get_debug_data = asynchronous(commands.get_debug_data)
    debug1 = asynchronous(commands.debug1)
    debug2 = asynchronous(commands.debug2)
    debug3 = asynchronous(commands.debug3)
    debug4 = asynchronous(commands.debug4)
    mouse_move = asynchronous(commands.mouse_move)
    set_log_enabled = asynchronous(commands.set_log_enabled)
    set_post_process_filename = asynchronous(commands.set_post_process_filename)
    set_event = asynchronous(commands.set_event)
    get_camera = asynchronous(commands.get_camera)
    get_position = asynchronous(commands.get_position)

    prepare = asynchronous(procedures.prepare)
    wait_until_reached = asynchronous(procedures.wait_until_reached)
    go_to_station = asynchronous(procedures.go_to_station)
    go_to = asynchronous(procedures.go_to)
    run_program = asynchronous(procedures.run_program)
