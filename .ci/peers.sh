#!/usr/bin/env bash
# Installs the peers of the interoperability tests, DDS and ROS into the folder $1, and GNU Octave. What is there already is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$1
mkdir -p "$tools"
# The virtual environments hold packages that are none of a workspace's.
touch "$tools/COLCON_IGNORE"

packages=(g++ make libfastrtps-dev libfastcdr-dev iproute2 nftables octave octave-instrument-control gpsd)
.ci/packages.sh "${packages[@]}"

.ci/venv.sh "$tools/cyclone" cyclonedds==11.0.1
.ci/ros.sh "$tools"
.ci/kilted.sh "$tools"
# What urdfdom makes of descriptions, and poses.
.ci/venv.sh "$tools/pin" pin==4.1.0

# Machines with Modbus TCP and RTU.
.ci/venv.sh "$tools/pymodbus" pymodbus==3.16.1 pyserial==3.5
# A program that drives a Create 2.
.ci/venv.sh "$tools/pycreate2" pycreate2==0.8.0
# What DBC files say.
.ci/venv.sh "$tools/cantools" cantools==45.1.0

# Receivers of satellite navigation, and a program that reads them.
.ci/venv.sh "$tools/nmea" nmeasim==1.1.1.0 pynmea2==1.19.0
# Clients of arms of Universal Robots.
.ci/venv.sh "$tools/ur" ur-rtde==1.6.5 urx==0.11.0

# Clients of rosbridge and of Foxglove's protocol.
.ci/venv.sh "$tools/roslibpy" roslibpy==2.1.0
command -v npm >/dev/null || .ci/packages.sh nodejs npm
mkdir -p "$tools/roslib" "$tools/foxglove"
[ -e "$tools/roslib/node_modules/roslib" ] || npm install --silent --no-audit --no-fund --prefix "$tools/roslib" roslib@2.1.0 ws@8
[ -e "$tools/foxglove/node_modules/@foxglove/rosmsg" ] ||
    npm install --silent --no-audit --no-fund --prefix "$tools/foxglove" \
        @foxglove/ws-protocol@0.8.0 @foxglove/rosmsg2-serialization@3.1.0 @foxglove/rosmsg@5.0.5 ws@8

make -C packages/dragoman_bringup/tests/peers/fastdds BUILD="$tools"
