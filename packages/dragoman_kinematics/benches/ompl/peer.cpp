// OMPL's RRT-Connect behind C, with the collision check of the caller.

#include <algorithm>
#include <ctime>
#include <memory>

#include <ompl/base/MotionValidator.h>
#include <ompl/base/PlannerTerminationCondition.h>
#include <ompl/base/ProblemDefinition.h>
#include <ompl/base/SpaceInformation.h>
#include <ompl/base/spaces/RealVectorStateSpace.h>
#include <ompl/geometric/PathGeometric.h>
#include <ompl/geometric/PathSimplifier.h>
#include <ompl/geometric/planners/rrt/RRTConnect.h>
#include <ompl/util/Console.h>
#include <ompl/util/RandomNumbers.h>

namespace ob = ompl::base;
namespace og = ompl::geometric;

namespace {

using IsFree = bool (*)(void *user, const double *q);
using IsMotionFree = bool (*)(void *user, const double *from, const double *to);

const double *values(const ob::State *state) {
    return state->as<ob::RealVectorStateSpace::StateType>()->values;
}

class Motions final : public ob::MotionValidator {
public:
    Motions(const ob::SpaceInformationPtr &space, void *user, IsMotionFree is_free)
        : MotionValidator(space), user_(user), is_free_(is_free) {}

    bool checkMotion(const ob::State *from, const ob::State *to) const override {
        return is_free_(user_, values(from), values(to));
    }

    // Only planners that keep what is free before an obstacle ask for it. RRT-Connect does not.
    bool checkMotion(const ob::State *, const ob::State *, std::pair<ob::State *, double> &) const override {
        return false;
    }

private:
    void *user_;
    IsMotionFree is_free_;
};

}  // namespace

extern "C" {

// CPU time of this thread, s.
double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Before the first search.
void ompl_seed(unsigned seed) {
    ompl::msg::setLogLevel(ompl::msg::LOG_NONE);
    ompl::RNG::setSeed(seed);
}

// Searches a path, and makes it shorter by `shortcuts` attempts. Writes at most `capacity` values into `path`. Returns the number
// of its configurations, 0 if there is none. `times`: of the search, and of the shortcuts, s. `range` 0: OMPL's default.
size_t ompl_plan(void *user, IsFree is_free, IsMotionFree is_motion_free, unsigned width, const double *lower,
                 const double *upper, const double *start, const double *goal, double range, double longest,
                 unsigned shortcuts, double *times, double *path, size_t capacity) {
    auto space = std::make_shared<ob::RealVectorStateSpace>(width);
    ob::RealVectorBounds bounds(width);
    for (unsigned joint = 0; joint < width; ++joint) {
        bounds.setLow(joint, lower[joint]);
        bounds.setHigh(joint, upper[joint]);
    }
    space->setBounds(bounds);
    auto information = std::make_shared<ob::SpaceInformation>(space);
    information->setStateValidityChecker(
        [user, is_free](const ob::State *state) { return is_free(user, values(state)); });
    information->setMotionValidator(std::make_shared<Motions>(information, user, is_motion_free));
    information->setup();
    auto problem = std::make_shared<ob::ProblemDefinition>(information);
    ob::ScopedState<ob::RealVectorStateSpace> from(space), to(space);
    for (unsigned joint = 0; joint < width; ++joint) {
        from[joint] = start[joint];
        to[joint] = goal[joint];
    }
    problem->setStartAndGoalStates(from, to);
    og::RRTConnect planner(information);
    if (range > 0.0) {
        planner.setRange(range);
    }
    planner.setProblemDefinition(problem);
    planner.setup();

    const double begin = thread_seconds();
    const bool is_solved = planner.solve(ob::timedPlannerTerminationCondition(longest)) == ob::PlannerStatus::EXACT_SOLUTION;
    times[0] = thread_seconds() - begin;
    times[1] = 0.0;
    if (!is_solved) {
        return 0;
    }
    og::PathGeometric found(*problem->getSolutionPath()->as<og::PathGeometric>());
    if (shortcuts > 0) {
        og::PathSimplifier simplifier(information);
        const double found_at = thread_seconds();
        // Of any length, as ours.
        simplifier.shortcutPath(found, shortcuts, shortcuts, 1.0);
        times[1] = thread_seconds() - found_at;
    }
    const size_t count = found.getStateCount();
    for (size_t index = 0; index < count && (index + 1) * width <= capacity; ++index) {
        const double *state = values(found.getState(index));
        std::copy(state, state + width, path + index * width);
    }
    return count;
}

}  // extern "C"
