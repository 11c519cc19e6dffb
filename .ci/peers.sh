#!/usr/bin/env bash
# Installs the peers of the interoperability tests, DDS and ROS into the folder $1, and GNU Octave. What is there already is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$1
mkdir -p "$tools"
# The virtual environments hold packages that are none of a workspace's.
touch "$tools/COLCON_IGNORE"

packages=(g++ make libfastrtps-dev libfastcdr-dev iproute2 octave octave-instrument-control)
python3.11 -c 'import ensurepip' 2>/dev/null || packages+=(python3.11-venv)
.ci/packages.sh "${packages[@]}"

# venv NAME PACKAGE...: a virtual environment with exactly these packages; made anew when the list changes.
venv() {
    local folder=$tools/$1 wanted="${*:2}"
    if [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "$folder"
        python3.11 -m venv "$folder"
        "$folder/bin/pip" install -q --disable-pip-version-check "${@:2}"
        echo "$wanted" >"$folder/wanted"
    fi
}
venv cyclone cyclonedds==11.0.1
venv ros 'ros-rclpy[fastrtps]==7.1.6' ros-std-msgs==5.3.6 ros-geometry-msgs==5.3.6 ros-sensor-msgs==5.3.6 \
    ros-std-srvs==5.3.6 ros-test-msgs==2.0.3

make -C packages/dragoman_bringup/tests/peers/fastdds BUILD="$tools"
