// A peer on Fast DDS that uses a running lab like a ROS 2 machine with rmw_fastrtps.
//
//     fastdds_peer session       everything once
//     fastdds_peer watch SECONDS rates of the arm's topics
//     fastdds_peer hold          read joint_states until killed
//     fastdds_peer joins COUNT   join the domain, receive one sample, leave; COUNT times
//     fastdds_peer images COUNT  receive images; with the system's socket buffers
//
// Reads ROS_DOMAIN_ID, stays on the loopback interface, and prints lines `name: value`, which interop.rs checks.

#include <algorithm>
#include <limits>
#include <map>

#include "peer.hpp"

static const std::string TRIGGER = "std_srvs::srv::dds_::Trigger";

static double norm(const Pose& pose) {
    double sum = 0;
    for (double component : pose.orientation) {
        sum += component * component;
    }
    return std::sqrt(sum);
}

// Receives joint_states and pose for a while; the last pose.
static Pose watch(Peer& peer, double seconds) {
    auto* states = peer.reader("rt/ranger/joint_states", JointState::type, {100});
    auto* poses = peer.reader("rt/ranger/pose", PoseStamped::type, {100});
    bool joints_arrive = false, poses_arrive = false;
    const bool arrive = until(15, [&] {
        joints_arrive |= take<JointState>(states).has_value();
        poses_arrive |= take<PoseStamped>(poses).has_value();
        return joints_arrive && poses_arrive;
    });
    if (!arrive) {
        throw std::runtime_error("nothing arrives on joint_states and pose");
    }
    std::set<size_t> joints;
    Pose last;
    double state_count = 0, pose_count = 0, quaternion_error = 0, longest_gap = 0;
    auto received = Clock::now();
    for (const auto began = received; seconds_since(began) < seconds; pause(0.001)) {
        while (auto state = take<JointState>(states)) {
            joints.insert(state->position.size());
            longest_gap = std::max(longest_gap, seconds_since(received));
            received = Clock::now();
            ++state_count;
        }
        while (auto sample = take<PoseStamped>(poses)) {
            last = sample->pose;
            quaternion_error = std::max(quaternion_error, std::abs(norm(last) - 1));
            ++pose_count;
        }
    }
    report("joint_states_hz", state_count / seconds);
    report("joint_states_longest_gap_ms", std::max(longest_gap, seconds_since(received)) * 1e3);
    report("pose_hz", pose_count / seconds);
    std::string counts;
    for (size_t number : joints) {
        counts += (counts.empty() ? "" : " ") + std::to_string(number);
    }
    report("joints", counts);
    report("quaternion_error", pose_count > 0 ? quaternion_error : std::numeric_limits<double>::infinity());
    return last;
}

static std::string python(bool value) { return value ? "True" : "False"; }

static void latched(Peer& peer) {
    auto* late = peer.reader("rt/ranger/drive_status", DriveStatus::type, {100, true});
    int samples = 0;
    until(15, [&] { return (samples += take<DriveStatus>(late).has_value()) > 0; });
    // One is published every second, so there may be one more.
    for (pause(0.5); take<DriveStatus>(late); ++samples) {
    }
    report("latched_samples", samples);
    const auto drives = first<DriveStatus>(peer, "rt/ranger/drive_status", {1, true});
    report("drive_status", std::to_string(drives.name.size()) + " joints, enabled " + python(drives.enabled));
    const auto description = first<Text>(peer, "rt/ranger/robot_description", {1, true}).data;
    const bool robot = description.find("<robot") != std::string::npos;
    report("robot_description", std::to_string(description.size()) + " bytes, robot " + python(robot));
    const auto motion = first<MotionStatus>(peer, "rt/ranger/motion_status", {1, true});
    report("motion_status", "mode " + std::to_string(motion.mode) + ", moving " + python(motion.moving));
}

// Compares what ros_discovery_info lists with what DDS discovery has found.
static void graph(Peer& peer) {
    auto* reader = peer.reader("ros_discovery_info", ParticipantInfo::type, {100, true});
    ParticipantInfo info;
    const auto newer = [&] {
        auto sample = take<ParticipantInfo>(reader);
        info = sample.value_or(info);
        return sample.has_value();
    };
    until(15, newer);
    // Every sample replaces the one before.
    for (pause(1); newer();) {
    }
    size_t listed = 0, unknown = 0, own = 0;
    std::set<std::string> names;
    const auto look = [&](const Gid& gid) {
        ++listed;
        unknown += peer.discovered.endpoints.count(gid) == 0;
        own += std::equal(gid.begin(), gid.begin() + 12, info.gid.begin());
    };
    for (const auto& node : info.nodes) {
        names.insert((node.node_namespace == "/" ? "" : node.node_namespace) + "/" + node.name);
        std::for_each(node.readers.begin(), node.readers.end(), look);
        std::for_each(node.writers.begin(), node.writers.end(), look);
    }
    std::string nodes;
    for (const auto& name : names) {
        nodes += (nodes.empty() ? "" : " ") + name;
    }
    report("nodes", nodes);
    report("gids_listed", listed);
    report("gids_unknown_to_dds", unknown);
    report("gids_of_participant", own);
}

static void move(Peer& peer, const Pose& pose) {
    Service begin(peer, "begin_motion", TRIGGER);
    Service mode(peer, "set_command_mode", "dragoman_msgs::srv::dds_::SetCommandMode");
    Service goal(peer, "set_goal_pose", "dragoman_msgs::srv::dds_::SetGoalPose");
    report("mode_7", mode.call<Outcome>(Mode{7}).text());
    report("mode_2", mode.call<Outcome>(Mode{2}).text());
    report("begin_without_goal", begin.call<Outcome>(Empty{}).text());
    Pose target = pose;
    target.position[2] = std::numeric_limits<double>::quiet_NaN();
    report("goal_nan", goal.call<Outcome>(Goal{target}).text());
    target = pose;
    target.orientation = {0, 0, 0, 0};
    report("goal_zero_quaternion", goal.call<Outcome>(Goal{target}).text());
    report("begin_after_refusals", begin.call<Outcome>(Empty{}).text());

    target = pose;
    target.position[2] += 0.03;
    auto* poses = peer.reader("rt/ranger/pose", PoseStamped::type, {1});
    report("set_goal_pose", goal.call<Outcome>(Goal{target}).text());
    const auto started = Clock::now();
    report("begin_motion", begin.call<Outcome>(Empty{}).text());
    double error = std::numeric_limits<double>::infinity();
    until(15, [&] {
        while (auto sample = take<PoseStamped>(poses)) {
            const auto& p = sample->pose.position;
            error = std::hypot(p[0] - target.position[0], p[1] - target.position[1], p[2] - target.position[2]);
        }
        return error < 1e-4;
    });
    report("arrival_error_m", error);
    report("arrival_seconds", seconds_since(started));
}

static void parameters(Peer& peer) {
    const std::string types = "rcl_interfaces::srv::dds_::";
    Service list(peer, "kinematics/list_parameters", types + "ListParameters");
    Service get(peer, "kinematics/get_parameters", types + "GetParameters");
    Service describe(peer, "kinematics/describe_parameters", types + "DescribeParameters");
    Service set(peer, "kinematics/set_parameters", types + "SetParameters");
    std::string names;
    for (const auto& name : list.call<Names>(ListRequest{}).names) {
        names += (names.empty() ? "" : " ") + name;
    }
    report("parameters", names);
    const std::string name = "via_points.cartesian", nobody = "nobody.declared.this";
    const auto value = get.call<Values>(Names{{name}}).values.at(0);
    report("parameter_get", "type " + std::to_string(value.type) + " value " + std::to_string(value.real));
    const auto undeclared = get.call<Values>(Names{{nobody}}).values.size();
    report("parameter_get_undeclared", std::to_string(undeclared) + " values");
    const auto often = get.call<Values>(Names{std::vector<std::string>(3000, name)}).values.size();
    report("parameter_get_often", std::to_string(often) + " values");
    const auto descriptor = describe.call<Descriptor>(Names{{name}});
    report("parameter_describe", std::to_string(descriptor.from) + " .. " + std::to_string(descriptor.to) + " " +
                                   descriptor.description);
    ParameterValue integer, negative, text;
    integer.type = 2;
    negative.type = 3;
    negative.real = -1;
    text.type = 4;
    text.text = "far";
    report("parameter_set_undeclared", set.call<SetResult>(Assignment{nobody, integer}).text());
    report("parameter_set_out_of_range", set.call<SetResult>(Assignment{name, negative}).text());
    report("parameter_set_type", set.call<SetResult>(Assignment{name, text}).text());
    report("parameter_unchanged", python(get.call<Values>(Names{{name}}).values.at(0).real == value.real));
}

// Sends packets that no ROS client sends; the arm must not react.
static void nonsense(Peer& peer) {
    pause(1);  // The last of the motion before.
    const auto before = first<JointState>(peer, "rt/ranger/joint_states", {1}).position;
    Service stop(peer, "stop", TRIGGER);
    Service set(peer, "kinematics/set_parameters", "rcl_interfaces::srv::dds_::SetParameters");
    auto* command = peer.writer("rt/ranger/joint_command", JointState::type);
    until(15, [&] { return matched_readers(command) > 0; });
    // Nothing but a header; cut in a length; a list of four thousand million elements; an unknown encapsulation.
    const std::vector<Bytes> payloads = {
        {0, 1, 0, 0}, {0, 1, 0, 0, 1, 0}, {0, 1, 0, 0, -1, -1, -1, -1}, {0, 99, 0, 0, 1, 2, 3, 4}, Bytes(5000, -1)};
    for (auto payload : payloads) {
        stop.send_raw(payload);
        set.send_raw(payload);
        command->write(&payload);
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::vector<double>> commands = {
        std::vector<double>(6, nan), {1.0}, std::vector<double>(6, INFINITY), std::vector<double>(1000, 0.0)};
    for (const auto& positions : commands) {
        Bytes bytes = encode(JointState{{}, {}, positions, {}, {}});
        command->write(&bytes);
    }
    Bytes bytes = encode(JointState{{}, {"no such joint"}, {1.0}, {}, {}});
    command->write(&bytes);
    pause(0.5);
    const auto after = first<JointState>(peer, "rt/ranger/joint_states", {1}).position;
    double moved = before.size() == after.size() ? 0 : std::numeric_limits<double>::infinity();
    for (size_t joint = 0; joint < std::min(before.size(), after.size()); ++joint) {
        moved = std::max(moved, std::abs(before[joint] - after[joint]));
    }
    report("nonsense_moved_rad", moved);
}

static void round_trips(Peer& peer) {
    Service stop(peer, "stop", TRIGGER);
    std::vector<double> times;
    for (int call = 0; call < 201; ++call) {
        const auto asked = Clock::now();
        stop.call<Outcome>(Empty{});
        times.push_back(seconds_since(asked) * 1e3);
    }
    report("first_call_ms", times.front());
    times.erase(times.begin());
    std::sort(times.begin(), times.end());
    report("calls", times.size());
    report("call_median_ms", times[times.size() / 2]);
    report("call_longest_ms", times.back());
}

static void session() {
    Peer peer;
    const Pose pose = watch(peer, 3);
    latched(peer);
    graph(peer);
    move(peer, pose);
    parameters(peer);
    nonsense(peer);
    round_trips(peer);
    report("done", "session");
}

static void hold() {
    Peer peer;
    auto* states = peer.reader("rt/ranger/joint_states", JointState::type);
    until(15, [&] { return take<JointState>(states).has_value(); });
    report("receiving", "joint_states");
    for (;; pause(0.01)) {
        while (take<JointState>(states)) {
        }
    }
}

static void joins(int count) {
    std::vector<double> times;
    for (int join = 0; join < count; ++join) {
        const auto began = Clock::now();
        Peer peer;
        first<JointState>(peer, "rt/ranger/joint_states", {});
        times.push_back(seconds_since(began));
    }
    std::sort(times.begin(), times.end());
    report("joins", times.size());
    report("join_median_s", times[times.size() / 2]);
    report("join_longest_s", times.back());
}

// Receives images, which another program publishes at 30 Hz, until some seconds after the last of them.
static void images(int count) {
    Peer peer;
    auto* reader = peer.reader("rt/picture", "sensor_msgs::msg::dds_::Image_");
    fast::SampleInfo info;
    int images = 0;
    double longest_way = 0;
    const auto arrives = [&] {
        while (auto image = take(reader, info)) {
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            const double sent = info.source_timestamp.to_ns() * 1e-9;
            longest_way = std::max(longest_way, std::chrono::duration<double>(now).count() - sent);
            ++images;
            return true;
        }
        return false;
    };
    until(15, [&] { return matched_writers(reader) > 0; });
    report("matched", "picture");
    while (images < count && until(images == 0 ? 15 : 3, arrives)) {
    }
    report("images", images);
    report("longest_way_ms", longest_way * 1e3);
}

int main(int count, char** arguments) {
    const std::string command = count > 1 ? arguments[1] : "", number = count > 2 ? arguments[2] : "1";
    try {
        if (command == "session") {
            session();
        } else if (command == "watch") {
            Peer peer;
            watch(peer, std::stod(number));
        } else if (command == "hold") {
            hold();
        } else if (command == "joins") {
            joins(std::stoi(number));
        } else if (command == "images") {
            images(std::stoi(number));
        } else {
            throw std::runtime_error("usage: fastdds_peer session | watch SECONDS | hold | joins COUNT | images COUNT");
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
