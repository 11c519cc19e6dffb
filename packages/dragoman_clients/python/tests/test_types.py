"""The types that programs see. The checks are mypy's."""

from __future__ import annotations

import unittest
from typing import TYPE_CHECKING, Optional

from dragoman_clients.apolo import Apolo, AsyncApolo, LandMark, Location
from dragoman_clients.arm31 import Arm31, AsyncArm31, CommandMode, Pose
from dragoman_clients.neobotix import AsyncNeobotix, Neobotix, Parameter, Position, Status
from dragoman_clients.player import AsyncPlayer, Player, readings, structures

if TYPE_CHECKING:
    from typing_extensions import assert_type

    def blocking(apolo: Apolo, neobotix: Neobotix, arm: Arm31, player: Player) -> None:
        assert_type(apolo.get_location("pieza"), Location)
        assert_type(apolo.get_laser_land_marks("LMS100"), list[LandMark])
        assert_type(apolo.move_m_robot("Neo", (0.1, 0.0), 0.1), bool)
        assert_type(neobotix.get_status(), Status)
        assert_type(neobotix.get_pltf_param_vec(), list[Parameter])
        assert_type(neobotix.go_to_station("middle"), Position)
        assert_type(arm.set_command_mode(CommandMode.OFF), CommandMode)
        assert_type(arm.pose(), Pose)
        base, laser = player.position2d(), player.laser(1)
        assert_type(base.get_geometry(), structures.Geometry)
        assert_type(base.state, Optional[structures.Position2dState])
        assert_type(laser.scan, Optional[readings.LaserScan])
        assert_type(base.get_bool_property("name"), bool)
        apolo.get_location(7)  # type: ignore[arg-type]
        neobotix.move_abs(1.0, 2.0)  # type: ignore[call-arg]
        base.set_velocity("fast", 0.0, 0.0)  # type: ignore[arg-type]

    async def asynchronous(apolo: AsyncApolo, neobotix: AsyncNeobotix, arm: AsyncArm31, player: AsyncPlayer) -> None:
        assert_type(await apolo.get_location("pieza"), Location)
        assert_type(await neobotix.get_status(), Status)
        assert_type(await neobotix.go_to_station("middle"), Position)
        assert_type(await arm.temperatures(), list[Optional[float]])
        laser = await player.laser()
        assert_type(await laser.get_config(), readings.LaserConfig)
        assert_type(laser.scan, Optional[readings.LaserScan])
        await arm.set_joint_goal(1.0)  # type: ignore[arg-type]


class Types(unittest.TestCase):
    def test_the_package_is_typed(self) -> None:
        import importlib.resources

        self.assertTrue(importlib.resources.files("dragoman_clients").joinpath("py.typed").is_file())


if __name__ == "__main__":
    unittest.main()
