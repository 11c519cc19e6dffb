"""Clients of an arm of Universal Robots: the dashboard client of ur-rtde, and the monitor of urx (both PyPI).

    ur_client.py ADDRESS PORT

PORT is that of the dashboard server; the real-time interface is on port 30003.
"""

import sys

import dashboard_client
from urx.urrtmon import URRTMonitor

address, port = sys.argv[1], int(sys.argv[2])

monitor = URRTMonitor(address)
monitor.start()
joints = monitor.q_actual(wait=True)
print('joints:', *(round(float(joint), 6) for joint in joints))
tool = monitor.tcf_pose(wait=True)
print('tool:', *(round(float(value), 6) for value in tool))

arm = dashboard_client.DashboardClient(address, port)
arm.connect()
print('connected:', arm.isConnected())
print('mode:', arm.robotmode())
arm.powerOn()
print('powered:', arm.robotmode())
arm.brakeRelease()
print('released:', arm.robotmode())
arm.loadURP('pick and place.urp')
print('loaded:', arm.programState())
arm.play()
print('playing:', arm.programState())
arm.stop()
print('stopped:', arm.programState())
print('safety:', arm.safetystatus())
print('remote:', arm.isInRemoteControl())
arm.disconnect()
