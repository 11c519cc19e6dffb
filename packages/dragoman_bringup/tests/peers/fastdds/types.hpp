// The ROS types that the peer uses, in wire format. ">>" reads a message, "<<" writes one.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fastcdr/Cdr.h>

using Cdr = eprosima::fastcdr::Cdr;

struct Header {
    int32_t sec = 0;
    uint32_t nanosec = 0;
    std::string frame_id;
};
inline Cdr& operator>>(Cdr& cdr, Header& h) { return cdr >> h.sec >> h.nanosec >> h.frame_id; }
inline Cdr& operator<<(Cdr& cdr, const Header& h) { return cdr << h.sec << h.nanosec << h.frame_id; }

struct JointState {
    static constexpr const char* type = "sensor_msgs::msg::dds_::JointState_";
    Header header;
    std::vector<std::string> name;
    std::vector<double> position, velocity, effort;
};
inline Cdr& operator>>(Cdr& cdr, JointState& s) {
    return cdr >> s.header >> s.name >> s.position >> s.velocity >> s.effort;
}
inline Cdr& operator<<(Cdr& cdr, const JointState& s) {
    return cdr << s.header << s.name << s.position << s.velocity << s.effort;
}

struct Pose {
    std::array<double, 3> position{};
    std::array<double, 4> orientation{0, 0, 0, 1};
};
inline Cdr& operator>>(Cdr& cdr, Pose& p) { return cdr >> p.position >> p.orientation; }
inline Cdr& operator<<(Cdr& cdr, const Pose& p) { return cdr << p.position << p.orientation; }

struct PoseStamped {
    static constexpr const char* type = "geometry_msgs::msg::dds_::PoseStamped_";
    Header header;
    Pose pose;
};
inline Cdr& operator>>(Cdr& cdr, PoseStamped& s) { return cdr >> s.header >> s.pose; }

struct Text {
    static constexpr const char* type = "std_msgs::msg::dds_::String_";
    std::string data;
};
inline Cdr& operator>>(Cdr& cdr, Text& s) { return cdr >> s.data; }

struct DriveStatus {
    static constexpr const char* type = "dragoman_msgs::msg::dds_::DriveStatus_";
    Header header;
    bool enabled = false;
    std::vector<std::string> name;
    std::vector<double> temperature, command;
};
inline Cdr& operator>>(Cdr& cdr, DriveStatus& s) {
    return cdr >> s.header >> s.enabled >> s.name >> s.temperature >> s.command;
}

struct MotionStatus {
    static constexpr const char* type = "dragoman_msgs::msg::dds_::MotionStatus_";
    Header header;
    uint8_t mode = 0;
    bool moving = false;
};
// The rest of the message is not used.
inline Cdr& operator>>(Cdr& cdr, MotionStatus& s) { return cdr >> s.header >> s.mode >> s.moving; }

using Gid = std::array<uint8_t, 16>;

// Humble has eight bytes more than a DDS identifier.
inline void read_gid(Cdr& cdr, Gid& gid) {
    static const char* distribution = std::getenv("ROS_DISTRO");
    cdr >> gid;
    if (distribution && distribution == std::string("humble")) {
        std::array<uint8_t, 8> rest{};
        cdr >> rest;
    }
}

struct NodeInfo {
    std::string node_namespace, name;
    std::vector<Gid> readers, writers;
};
inline void read_gids(Cdr& cdr, std::vector<Gid>& gids) {
    uint32_t count = 0;
    cdr >> count;
    for (gids.clear(); count > 0; --count) {
        gids.emplace_back();
        read_gid(cdr, gids.back());
    }
}
struct ParticipantInfo {
    static constexpr const char* type = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
    Gid gid{};
    std::vector<NodeInfo> nodes;
};
inline Cdr& operator>>(Cdr& cdr, ParticipantInfo& info) {
    uint32_t count = 0;
    read_gid(cdr, info.gid);
    cdr >> count;
    for (info.nodes.clear(); count > 0; --count) {
        NodeInfo& node = info.nodes.emplace_back();
        cdr >> node.node_namespace >> node.name;
        read_gids(cdr, node.readers);
        read_gids(cdr, node.writers);
    }
    return cdr;
}

// Values of a parameter, in the order of rcl_interfaces/msg/ParameterValue.
struct ParameterValue {
    uint8_t type = 0;
    bool boolean = false;
    int64_t integer = 0;
    double real = 0;
    std::string text;
    std::vector<uint8_t> bytes;
    std::vector<bool> booleans;
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> texts;
};
inline Cdr& operator>>(Cdr& cdr, ParameterValue& v) {
    return cdr >> v.type >> v.boolean >> v.integer >> v.real >> v.text >> v.bytes >> v.booleans >> v.integers >>
           v.reals >> v.texts;
}
inline Cdr& operator<<(Cdr& cdr, const ParameterValue& v) {
    return cdr << v.type << v.boolean << v.integer << v.real << v.text << v.bytes << v.booleans << v.integers <<
           v.reals << v.texts;
}

// Requests and responses of services; in Fast DDS's mapping nothing precedes them.

struct Empty {};
inline Cdr& operator<<(Cdr& cdr, const Empty&) { return cdr << uint8_t{0}; }

struct Outcome {
    bool success = false;
    std::string message;
    std::string text() const { return (success ? "True " : "False ") + message; }
};
inline Cdr& operator>>(Cdr& cdr, Outcome& o) { return cdr >> o.success >> o.message; }

struct Mode {
    uint8_t mode = 0;
};
inline Cdr& operator<<(Cdr& cdr, const Mode& m) { return cdr << m.mode; }

struct Goal {
    Pose pose;
    double min_duration = 0;
};
inline Cdr& operator<<(Cdr& cdr, const Goal& g) { return cdr << g.pose << g.min_duration; }

struct ListRequest {
    std::vector<std::string> prefixes;
    uint64_t depth = 0;
};
inline Cdr& operator<<(Cdr& cdr, const ListRequest& r) { return cdr << r.prefixes << r.depth; }

struct Names {
    std::vector<std::string> names;
};
inline Cdr& operator>>(Cdr& cdr, Names& n) { return cdr >> n.names; }
inline Cdr& operator<<(Cdr& cdr, const Names& n) { return cdr << n.names; }

struct Values {
    std::vector<ParameterValue> values;
};
inline Cdr& operator>>(Cdr& cdr, Values& v) {
    uint32_t count = 0;
    cdr >> count;
    for (v.values.clear(); count > 0; --count) {
        cdr >> v.values.emplace_back();
    }
    return cdr;
}

// The first descriptor, as far as its range of real numbers.
struct Descriptor {
    uint32_t count = 0;
    std::string name, description, constraints;
    uint8_t type = 0;
    bool read_only = false, dynamic_typing = false;
    double from = 0, to = 0;
};
inline Cdr& operator>>(Cdr& cdr, Descriptor& d) {
    uint32_t ranges = 0;
    cdr >> d.count >> d.name >> d.type >> d.description >> d.constraints >> d.read_only >> d.dynamic_typing >> ranges;
    return ranges > 0 ? cdr >> d.from >> d.to : cdr;
}

struct Assignment {
    std::string name;
    ParameterValue value;
};
inline Cdr& operator<<(Cdr& cdr, const Assignment& a) { return cdr << uint32_t{1} << a.name << a.value; }

// The first result of set_parameters.
struct SetResult : Outcome {};
inline Cdr& operator>>(Cdr& cdr, SetResult& r) {
    uint32_t count = 0;
    return cdr >> count >> r.success >> r.message;
}
