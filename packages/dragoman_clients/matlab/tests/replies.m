% All replies of PlatformCtrl, read field by field: each field has a number of its own (python/tests/replies.py). PORT
% of the environment is that of a server that has them.
1;

function same(what, found, expected)
  if ischar(expected)
    isSame = ischar(found) && strcmp(found, expected);
  else
    isSame = isequal(size(found), size(expected)) && all(abs(double(found(:)) - expected(:)) < 1e-12);
  end
  if ~isSame, error('%s is %s, not %s', what, disp(found), disp(expected)); end
end

% Each row: a field, and what it must be.
function check(value, rows)
  for i = 1:size(rows, 1)
    found = value;
    for name = strsplit(rows{i, 1}, '.')
      found = found.(name{1});
    end
    same(rows{i, 1}, found, rows{i, 2});
  end
end

platform = Neobotix('127.0.0.1', str2double(getenv('PORT')), 10);
mm = 1000;
mdeg = 180000 / pi;
check(platform.getStatus(), {
  'commanded', (1:3) ./ [mm mm mdeg]; 'estimated', (4:6) ./ [mm mm mdeg]; 'covariance', (7:10) ./ [mm mm mdeg mdeg]
  'scan', [11 12; 13 14] / mm; 'reflectors', [15 16] / mm; 'lines', (17:20) / mm; 'circles', (21:23) / mm
  'corners', [24 25] / mm; 'path', [26 27] / mm; 'joystickButtons', [1 1]; 'velocity', [30 31] / mm
  'relayBoard.digitalIn', 32; 'relayBoard.status', 33; 'relayBoard.analogIn', 34:41
  'relayBoard.opticalDistance', 42:45; 'ioBoard.batteryVoltage', 46; 'ioBoard.digitalIn', 47
  'ioBoard.digitalOut', 48; 'ioBoard.status', 49; 'ioBoard.analogIn', 50:57; 'motors.rightStatus', 58
  'motors.leftStatus', 59; 'motors.rightTemperature', 60; 'motors.leftTemperature', 61
  'ultrasonic', (62:77) / mm; 'ultrasonicAnalogIn', 78:85; 'ultrasonicStatus', 86; 'radarVelocity', (87:90) / mm
  'radarStatus', 91; 'latitude', 92; 'longitude', 93; 'gyro.acceleration', (94:96) / 10000; 'gyro.angle', 0.0097
  'gyro.temperature', 98; 'gyro.status', 99; 'isInitialized', 1; 'isTargetReached', 1; 'motionMode', '102'
  'operationState', '103'; 'emergencyState', 104; 'applicationMode', 105; 'plannerState', '106'; 'timeStamp', 107
  'applicationError', 108; 'isDocked', 1; 'isLocalizationLost', 1; 'isColliding', 1; 'lookupPercent', 112
  'infrared', [1 1 1 1]; 'siren', 1; 'flashLight', 1; 'headAngle', 119 * 1000 / mdeg});
data = platform.getDebugData();
check(data, {
  'validationGates', (1:8) / mm; 'mapping.segments', (9:12) / mm; 'mapping.exploredSegments', (13:16) / mm
  'mapping.frames', [0.017 0.018 19]; 'mapping.visibleLines', (20:23) / mm
  'mapping.validationGates', (24:31) / mm; 'path', [0.032 0.033 34]
  'graphicalObjects', (35:43) ./ [1, 1, mm, mm, mdeg / 1000, mm, mm, mdeg, 1]
  'variables.id', 44; 'variables.value', 'v'; 'movingClusters', [0.045 0.046 47]
  'personClusters', [0.048 0.049 50]; 'ballClusters', [0.051 0.052 53]; 'tcp', 54:63
  'safeVelocities', (64:68) / mm});
same('protocolQueue', data.protocolQueue{1}, 'ab');
check(platform.getPosition(), {'x', 0.001; 'y', 0.002; 'angle', 3; 'translation', 0.004; 'rotation', 5});
messages = platform.getCanMessages();
check(messages(2), {'timeStamp', 11; 'id', 12; 'data', 13:20});
check(platform.getMap(), {'xml', '<map/>'; 'name', 'hall'});
check(platform.getRoadmap(), {'xml', '<map/>'; 'name', 'hall'});
same('program', platform.getProgram(), '<program/>');
check(platform.getCamera(), {'address', '10.0.0.2'; 'id', 'c'});
expected = {'key', 'k'; 'value', '42'; 'category', 1; 'type', 2; 'minimum', 3; 'maximum', 4};
check(platform.getPltfParam('k'), expected);
all_ = platform.getPltfParamVec();
check(all_(2), expected);
disp('replies');
