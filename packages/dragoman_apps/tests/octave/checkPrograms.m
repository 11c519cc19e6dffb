% The programs of matlab/, each on a scripted robot. Prints 'all passed' at the end.
global ROBOT

% Grey values.
assert(norm(greyFromDepth([0.4 0.1 4.5 9 NaN 0 Inf]) - [255 255 0 0 0 0 0]) < 1e-9);
assert(abs(greyFromDepth(2.5706) - 120) < 0.1);

% TurtleBot thesis, A.4: a little less than 0.6 m, at rest at the end.
mockRobot(zeros(0, 3));
firstProgram
assert(abs(ROBOT.pose(1) - 0.6) < 0.05 && abs(ROBOT.pose(3)) < 1e-9);
assert(isequal(ROBOT.velocity, [0 0]));
assert(printed('X: 0.') && printed('Stopping'));
assert(isequal(ROBOT.log{1}(2:3), {'/vrep/status_bar_message', 'Program: first_program'}));

% The first application: to 2.915 m, back to -3 m, the arm in the order of the TurtleBot thesis, 5.2.
mockRobot(zeros(0, 3));
carryCube
assert(abs(ROBOT.pose(1) + 3) < 0.03 && abs(ROBOT.pose(2)) < 0.05);
arm = ROBOT.log(cellfun(@(entry) ~isempty(regexp(entry{2}, 'joint', 'once')), ROBOT.log));
names = cellfun(@(entry) regexprep(entry{2}, '^/(arm|gripper)_(\d)_joint/', '$1$2 '), arm, 'UniformOutput', false);
values = cellfun(@(entry) [entry{3} NaN](1), arm);
expected = {'arm3 command', 90; 'arm4 command', -90; 'arm1 command', 0; 'arm2 set_speed', 10; 'arm2 command', 65
            'arm2 set_speed', 100; 'arm5 command', 0; 'gripper1 command', rad2deg(1); 'arm2 command', -15
            'arm4 command', 90; 'arm3 command', -90; 'arm5 command', 0; 'arm2 command', -90; 'arm2 command', 40
            'arm3 command', 50; 'arm4 command', -90; 'gripper1 command', 0; 'arm2 command', 0; 'arm4 command', 0
            'arm3 command', 0; 'arm1 relax', NaN; 'arm2 relax', NaN; 'arm3 relax', NaN; 'arm4 relax', NaN; 'arm5 relax', NaN};
assert(isequal(names(:), expected(:, 1)));
angles = [expected{:, 2}];
assert(isequaln(round(rad2deg(values)), round(angles)));
times = cellfun(@(entry) entry{1}, arm);
% The shoulder has enough time for 65 degrees at 10 degrees/s.
assert(times(6) - times(5) >= 6.5);

% An obstacle: it backs off, passes it, and still arrives.
mockRobot([1.5 0.12 0.1]);
carryCube
assert(ROBOT.contacts > 0 && printed('in the way') && abs(ROBOT.pose(1) + 3) < 0.03);

% A wall: it fails, prints why, and stops.
mockRobot([4 0 3.0]);
failed = '';
try
  carryCube
catch err
  failed = err.identifier;
end
assert(strcmp(failed, 'carryCube:blocked') && isequal(ROBOT.velocity, [0 0]));

% The second application: two targets, a beacon beside the way.
mockRobot([1.5 0.4 0.1]);
navigateTargets([2.5 0; 2.5 1.5]);
assert(norm(ROBOT.pose(1:2) - [2.5 1.5]) < 0.06 && ROBOT.contacts == 0);
assert(isequal(ROBOT.velocity, [0 0]) && printed('Target 2 of 2'));

% A robot without a simulator: the computer's clock is used.
mockRobot(zeros(0, 3));
ROBOT.isReal = true;
clear simulationTime
robot = TurtleBot('real');
first = simulationTime(robot);
assert(simulationTime(robot) >= first && simulationTime(robot) - first < 10);

printf('all passed\n');
