#!/usr/bin/env bash
# kilted.sh FOLDER: rclpy of ROS 2 Kilted in FOLDER/kilted, a peer for the tests: wheels, and control_msgs, of which there is no
# wheel, from the definitions of this repository. What is there already is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$1"
ros=$(realpath "$1")/kilted
build=$(realpath "$1")/kilted_build

.ci/packages.sh g++ make cmake python3.11-dev
.ci/venv.sh "$ros" empy==3.3.4 'ros-rclpy[fastrtps]==9.1.2' ros-rcl-action==10.1.3 ros-rcl-interfaces==2.3.0 ros-rmw-fastrtps-cpp==9.3.3 \
    ros-geometry-msgs==5.5.1 ros-sensor-msgs==5.5.1 ros-std-msgs==5.5.1 ros-std-srvs==5.5.1 ros-trajectory-msgs==5.5.1 \
    ros-ament-cmake==2.7.3 ros-ament-package==0.17.2 catkin-pkg==1.1.0 ros-ament-cmake-export-interfaces==2.7.3 \
    ros-ament-cmake-export-targets==2.7.3 ros-ament-cmake-include-directories==2.7.3 ros-ament-cmake-ros==0.14.5 \
    ros-ament-cmake-ros-core==0.14.5 ros-ament-cmake-gmock==2.7.3 ros-ament-cmake-gtest==2.7.3 ros-ament-cmake-pytest==2.7.3 \
    ros-fastrtps-cmake-module==3.6.2 ros-python-cmake-module==0.11.1

interfaces=packages/dragoman_ros
sources=$(cat "${BASH_SOURCE[0]}" $(find $interfaces/interfaces{,_kilted}/control_msgs -type f | sort) | sha256sum)
[ "$(cat "$ros/sources" 2>/dev/null)" = "$sources" ] && exit

rm -rf "$build"
mkdir -p "$build/src/action" "$build/src/msg"
cp $interfaces/interfaces_kilted/control_msgs/action/FollowJointTrajectory.action "$build/src/action"
# What it contains.
cp $interfaces/interfaces/control_msgs/msg/Joint{Component,}Tolerance.msg "$build/src/msg"
cat >"$build/src/package.xml" <<'XML_END'
<package format="3">
  <name>control_msgs</name><version>0.0.0</version><description>For tests</description>
  <maintainer email="maintainers@dragoman.invalid">The Dragoman developers</maintainer><license>BSD</license>
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
XML_END
# What rclpy needs of an interface package: its C side and its Python side.
cat >"$build/src/CMakeLists.txt" <<'XML_END'
cmake_minimum_required(VERSION 3.8)
project(control_msgs)
find_package(ament_cmake REQUIRED)
set(dependencies action_msgs builtin_interfaces service_msgs std_msgs trajectory_msgs unique_identifier_msgs)
foreach(package rosidl_cmake rosidl_generator_type_description rosidl_generator_c rosidl_typesupport_introspection_c
    rosidl_typesupport_fastrtps_c rosidl_typesupport_c rosidl_generator_py ${dependencies})
  find_package(${package} REQUIRED)
endforeach()
# The standard packages bring those for C++ along.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
file(GLOB files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" msg/*.msg action/*.action)
rosidl_generate_interfaces(${PROJECT_NAME} ${files} DEPENDENCIES ${dependencies})
ament_package()
XML_END
# The wheels name the headers of the Python that they were built with, which is not here.
sed -i 's|"/opt/python/[^"]*"|""|' "$ros"/share/*/cmake/export_*__rosidl_generator_pyExport.cmake
echo "kilted: control_msgs"
export PATH=$ros/bin:$PATH LD_LIBRARY_PATH=$ros/lib AMENT_PREFIX_PATH=$ros PYTHONDONTWRITEBYTECODE=1
{
    cmake -S "$build/src" -B "$build/build" -DCMAKE_INSTALL_PREFIX="$ros" -DCMAKE_PREFIX_PATH="$ros" -DCMAKE_INSTALL_RPATH="$ros/lib" \
        -DPython3_EXECUTABLE="$ros/bin/python" -DBUILD_TESTING=OFF -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1 &&
        make -C "$build/build" -j"$(nproc)" install
} >"$build/log" 2>&1 || { tail -n 60 "$build/log"; exit 1; }
echo "$sources" >"$ros/sources"
