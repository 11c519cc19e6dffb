// Orocos KDL on the same robots and targets, for the table of benches/table.rs.
//
// Reads from standard input: joint count; per joint type (0 revolute, 1 prismatic), a, alpha, d, theta, lower, upper,
// home; tool a, alpha, d, theta; number of targets; per target x y z and a quaternion x y z w.
// Writes one line per solver: name, solved, and the time of every call in nanoseconds.

#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>
#include <kdl/chainjnttojacsolver.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRuns = 3;
constexpr double kTolerance = 1.01e-6;

struct Row {
    double a, alpha, d, theta;
    KDL::Frame frame() const { return KDL::Frame::DH_Craig1989(a, alpha, d, theta); }
};

Row readRow() {
    Row row{};
    std::cin >> row.a >> row.alpha >> row.d >> row.theta;
    return row;
}

struct Problem {
    KDL::Chain chain;
    KDL::JntArray lower, upper, home;
    std::vector<KDL::Frame> targets;
};

Problem readProblem() {
    unsigned n = 0;
    std::cin >> n;
    Problem problem;
    problem.lower.resize(n);
    problem.upper.resize(n);
    problem.home.resize(n);
    std::vector<bool> prismatic(n);
    std::vector<Row> rows(n);
    for (unsigned i = 0; i < n; ++i) {
        int type = 0;
        std::cin >> type;
        prismatic[i] = type == 1;
        rows[i] = readRow();
        std::cin >> problem.lower(i) >> problem.upper(i) >> problem.home(i);
    }
    const Row tool = readRow();
    // In KDL a segment carries its joint at the near end, so each table row belongs to the segment before.
    problem.chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None), rows[0].frame()));
    for (unsigned i = 0; i < n; ++i) {
        const KDL::Joint joint(prismatic[i] ? KDL::Joint::TransZ : KDL::Joint::RotZ);
        problem.chain.addSegment(KDL::Segment(joint, i + 1 < n ? rows[i + 1].frame() : tool.frame()));
    }
    std::size_t count = 0;
    std::cin >> count;
    for (std::size_t i = 0; i < count; ++i) {
        double x, y, z, qx, qy, qz, qw;
        std::cin >> x >> y >> z >> qx >> qy >> qz >> qw;
        problem.targets.emplace_back(KDL::Rotation::Quaternion(qx, qy, qz, qw), KDL::Vector(x, y, z));
    }
    return problem;
}

bool solves(const Problem& problem, KDL::ChainFkSolverPos_recursive& fk, const KDL::Frame& target,
            const KDL::JntArray& q) {
    KDL::Frame reached;
    fk.JntToCart(q, reached);
    const KDL::Twist off = KDL::diff(reached, target);
    for (unsigned i = 0; i < q.rows(); ++i) {
        if (!(q(i) >= problem.lower(i) && q(i) <= problem.upper(i))) return false;
    }
    return off.vel.Norm() <= kTolerance && off.rot.Norm() <= kTolerance;
}

void measure(const std::string& name, const Problem& problem,
             const std::function<void(const KDL::Frame&, KDL::JntArray&)>& solve) {
    KDL::ChainFkSolverPos_recursive fk(problem.chain);
    std::size_t solved = 0;
    std::vector<long> times;
    for (const KDL::Frame& target : problem.targets) {
        long best = 1L << 60;
        KDL::JntArray q(problem.home);
        for (int run = 0; run < kRuns; ++run) {
            const auto start = Clock::now();
            solve(target, q);
            const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
            best = std::min(best, static_cast<long>(time));
        }
        times.push_back(best);
        solved += solves(problem, fk, target, q) ? 1 : 0;
    }
    std::cout << name << ' ' << solved;
    for (const long time : times) std::cout << ' ' << time;
    std::cout << '\n';
}

}  // namespace

int main() {
    const Problem problem = readProblem();
    KDL::ChainFkSolverPos_recursive fk(problem.chain);
    KDL::ChainJntToJacSolver jacobian(problem.chain);
    KDL::Jacobian columns(problem.chain.getNrOfJoints());
    KDL::Frame pose;
    measure("fk+jacobian", problem, [&](const KDL::Frame&, KDL::JntArray& q) {
        // A hundred calls per reading: the clock costs as much as one.
        for (int i = 0; i < 100; ++i) {
            fk.JntToCart(q, pose);
            jacobian.JntToJac(q, columns);
        }
    });
    KDL::ChainIkSolverVel_pinv velocity(problem.chain);
    // The controller of the Ranger thesis allowed five iterations; a hundred are KDL's default.
    for (const int iterations : {5, 100}) {
        KDL::ChainIkSolverPos_NR_JL newton(problem.chain, problem.lower, problem.upper, fk, velocity, iterations, 1e-6);
        measure("NR_JL," + std::to_string(iterations), problem,
                [&](const KDL::Frame& target, KDL::JntArray& q) { newton.CartToJnt(problem.home, target, q); });
    }
    KDL::ChainIkSolverPos_LMA lma(problem.chain, 1e-7, 500);
    measure("LMA", problem,
            [&](const KDL::Frame& target, KDL::JntArray& q) { lma.CartToJnt(problem.home, target, q); });
    return 0;
}
