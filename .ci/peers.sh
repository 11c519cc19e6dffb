#!/usr/bin/env bash
# Installs the peers of the interoperability tests, DDS and ROS into the folder $1, and GNU Octave. What is there already is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$1
mkdir -p "$tools"
# The virtual environments hold packages that are none of a workspace's.
touch "$tools/COLCON_IGNORE"

packages=(g++ make libfastrtps-dev libfastcdr-dev iproute2 octave octave-instrument-control)
.ci/packages.sh "${packages[@]}"

.ci/venv.sh "$tools/cyclone" cyclonedds==11.0.1
.ci/ros.sh "$tools"

make -C packages/dragoman_bringup/tests/peers/fastdds BUILD="$tools"
