// Fast DDS under a small surface: participant on the loopback interface, readers, writers, services in ROS's mapping.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fastcdr/FastBuffer.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/reader/ReaderDiscoveryInfo.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/writer/WriterDiscoveryInfo.h>

#include "types.hpp"

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<char>;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

inline void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Waits until `condition` holds, `time_limit` seconds at most.
template <class Condition>
bool until(double time_limit, Condition condition) {
    for (auto start = Clock::now(); !condition(); pause(0.001)) {
        if (seconds_since(start) > time_limit) {
            return false;
        }
    }
    return true;
}

inline void report(const std::string& name, const std::string& value) {
    std::printf("%s: %s\n", name.c_str(), value.c_str());
    std::fflush(stdout);
}
inline void report(const std::string& name, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    report(name, std::string(text));
}

// Passes payloads unchanged, including the encapsulation header.
class RawType : public fast::TopicDataType {
public:
    explicit RawType(const std::string& name) {
        setName(name.c_str());
        m_typeSize = 2 << 20;
        m_isGetKeyDefined = false;
    }
    bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
        auto& bytes = *static_cast<Bytes*>(data);
        payload->length = static_cast<uint32_t>(bytes.size());
        payload->encapsulation = CDR_LE;
        std::memcpy(payload->data, bytes.data(), bytes.size());
        return true;
    }
    bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
        auto* begin = reinterpret_cast<char*>(payload->data);
        static_cast<Bytes*>(data)->assign(begin, begin + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }
    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
};

template <class T>
Bytes encode(const T& message) {
    eprosima::fastcdr::FastBuffer buffer;
    Cdr cdr(buffer, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
    cdr.serialize_encapsulation();
    cdr << message;
    return Bytes(cdr.getBufferPointer(), cdr.getBufferPointer() + cdr.getSerializedDataLength());
}

template <class T>
T decode(Bytes& bytes) {
    eprosima::fastcdr::FastBuffer buffer(bytes.data(), bytes.size());
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    cdr.read_encapsulation();
    T message;
    cdr >> message;
    return message;
}

struct Quality {
    int depth = 10;
    bool latched = false;
};

template <class Policies>
Policies policies(const Quality& quality) {
    Policies qos;
    qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
    qos.durability().kind = quality.latched ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
    qos.history().kind = fast::KEEP_LAST_HISTORY_QOS;
    qos.history().depth = quality.depth;
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    return qos;
}

inline Gid gid(const rtps::GUID_t& guid) {
    Gid gid;
    std::memcpy(gid.data(), guid.guidPrefix.value, 12);
    std::memcpy(gid.data() + 12, guid.entityId.value, 4);
    return gid;
}

// Stores every discovered endpoint.
struct Discovered : fast::DomainParticipantListener {
    std::set<Gid> endpoints;
    void on_publisher_discovery(fast::DomainParticipant*, rtps::WriterDiscoveryInfo&& found) override {
        endpoints.insert(gid(found.info.guid()));
    }
    void on_subscriber_discovery(fast::DomainParticipant*, rtps::ReaderDiscoveryInfo&& found) override {
        endpoints.insert(gid(found.info.guid()));
    }
};

class Peer {
public:
    Peer() {
        const char* variable = std::getenv("ROS_DOMAIN_ID");
        const uint32_t domain = variable ? std::strtoul(variable, nullptr, 10) : 0;
        fast::DomainParticipantQos qos;
        auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
        udp->interfaceWhiteList.push_back("127.0.0.1");
        qos.transport().use_builtin_transports = false;
        qos.transport().user_transports.push_back(udp);
        // No multicast: a unicast address in this list, and the probing of this machine's participants.
        rtps::Locator_t here;
        rtps::IPLocator::setIPv4(here, 127, 0, 0, 1);
        qos.wire_protocol().builtin.metatrafficUnicastLocatorList.push_back(here);
        for (uint32_t id = 0; id < 12; ++id) {
            here.port = 7400 + 250 * domain + 10 + 2 * id;
            qos.wire_protocol().builtin.initialPeersList.push_back(here);
        }
        auto* factory = fast::DomainParticipantFactory::get_instance();
        participant = factory->create_participant(domain, qos, &discovered, fast::StatusMask::none());
        if (!participant) {
            throw std::runtime_error("no participant");
        }
        publisher = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
        subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    }
    ~Peer() {
        participant->delete_contained_entities();
        fast::DomainParticipantFactory::get_instance()->delete_participant(participant);
    }
    Peer(const Peer&) = delete;

    fast::Topic* topic(const std::string& name, const std::string& type) {
        fast::TypeSupport(new RawType(type)).register_type(participant);
        if (auto* known = participant->lookup_topicdescription(name)) {
            return static_cast<fast::Topic*>(known);
        }
        return participant->create_topic(name, type, fast::TOPIC_QOS_DEFAULT);
    }
    fast::DataReader* reader(const std::string& name, const std::string& type, Quality quality = {}) {
        return subscriber->create_datareader(topic(name, type), policies<fast::DataReaderQos>(quality));
    }
    fast::DataWriter* writer(const std::string& name, const std::string& type) {
        return publisher->create_datawriter(topic(name, type), policies<fast::DataWriterQos>({}));
    }

    Discovered discovered;
    fast::DomainParticipant* participant;
    fast::Publisher* publisher;
    fast::Subscriber* subscriber;
};

// The next sample of a reader, if there is one.
inline std::optional<Bytes> take(fast::DataReader* reader, fast::SampleInfo& info) {
    Bytes bytes;
    while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
        if (info.valid_data) {
            return bytes;
        }
    }
    return std::nullopt;
}

template <class T>
std::optional<T> take(fast::DataReader* reader) {
    fast::SampleInfo info;
    auto bytes = take(reader, info);
    return bytes ? std::optional(decode<T>(*bytes)) : std::nullopt;
}

// The first sample that arrives on a topic of the arm within 15 s.
template <class T>
T first(Peer& peer, const std::string& topic, Quality quality) {
    auto* reader = peer.reader(topic, T::type, quality);
    std::optional<T> sample;
    until(15, [&] { return (sample = take<T>(reader)).has_value(); });
    peer.subscriber->delete_datareader(reader);
    if (!sample) {
        throw std::runtime_error("nothing arrives on " + topic);
    }
    return *sample;
}

inline int matched_readers(fast::DataWriter* writer) {
    fast::PublicationMatchedStatus status;
    writer->get_publication_matched_status(status);
    return status.current_count;
}
inline int matched_writers(fast::DataReader* reader) {
    fast::SubscriptionMatchedStatus status;
    reader->get_subscription_matched_status(status);
    return status.current_count;
}

// A client of one of the arm's services, as rmw_fastrtps makes it: a request names the reader of the reply.
class Service {
public:
    Service(Peer& peer, const std::string& name, const std::string& type)
        : name(name),
          reader(peer.reader("rr/ranger/" + name + "Reply", type + "_Response_")),
          writer(peer.writer("rq/ranger/" + name + "Request", type + "_Request_")) {
        if (!until(15, [&] { return matched_readers(writer) > 0 && matched_writers(reader) > 0; })) {
            throw std::runtime_error("service " + name + " is not there");
        }
    }

    template <class Reply, class Request>
    Reply call(const Request& request) {
        Bytes bytes = encode(request);
        rtps::WriteParams params;
        params.related_sample_identity().writer_guid(reader->guid());
        writer->write(&bytes, params);
        const auto number = params.sample_identity().sequence_number();
        std::optional<Bytes> reply;
        const bool answered = until(5, [&] {
            fast::SampleInfo info;
            reply = take(reader, info);
            const auto& related = info.related_sample_identity;
            return reply && related.writer_guid() == reader->guid() && related.sequence_number() == number;
        });
        if (!answered) {
            throw std::runtime_error("no reply from " + name);
        }
        return decode<Reply>(*reply);
    }

    void send_raw(Bytes bytes) { writer->write(&bytes); }

private:
    std::string name;
    fast::DataReader* reader;
    fast::DataWriter* writer;
};
