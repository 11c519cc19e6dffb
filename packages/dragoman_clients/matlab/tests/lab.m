% Round trips of every command of Apolo's functions, Neobotix, RangerArm and Player against a lab. The environment has
% the ports: APOLO_PORT, NEOBOTIX_PORTS, ARM31_PORT, PLAYER_PORT, and DOCUMENTS, the folder of the platform's documents;
% or OTHERS_PORT alone, of a lab with other devices of Player. What was sent and answered is counted between this
% program and the lab, by tests/run.py.
1;

function waitUntil(what, condition, seconds)
  if nargin < 3, seconds = 60; end
  began = tic;
  while ~condition()
    if toc(began) > seconds, error('not in time: %s', what); end
    pause(0.05);
  end
end

function done = isDone(action)
% Whether a call is carried out; a refusal is not an error here.
  done = true;
  try
    action();
  catch problem
    if ~strncmp(problem.identifier, 'dragoman:', 9), rethrow(problem); end
    done = false;
  end
end

function fails(identifier, action, words)
  if nargin < 3, words = ''; end
  try
    action();
  catch problem
    if ~strcmp(problem.identifier, identifier) || (~isempty(words) && isempty(strfind(problem.message, words)))
      error('%s: %s instead of %s %s', problem.identifier, problem.message, identifier, words);
    end
    return
  end
  error('no error: %s', func2str(action));
end

function testApolo()
  apoloCheckRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1');
  apoloSetRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1');
  apoloPlace('pieza', [1 1 1], [0.5 0 0]);
  assert(norm(apoloGetLocation('pieza') - [1 1 1 0.5 0 0]) < 1e-9);
  apoloPlaceXYZ('pieza', -0.25, 0.2, 0.06);
  assert(apoloPlaceMRobot('Pioneer3AT', [0.7 0.7 0], 0.23) == 1);
  assert(norm(apoloGetLocationMRobot('Pioneer3AT')([1 2 4]) - [0.7 0.7 0.23]) < 1e-9);
  apoloResetOdometry('Pioneer3AT', [1 2 0.5]);
  assert(isequal(apoloGetOdometry('Pioneer3AT'), [1 2 0.5]));
  assert(apoloMoveMRobot('Pioneer3AT', [0.1 0], 0.1) == 1);
  apoloUpdate;
  assert(numel(apoloGetLaserData('LMS100')) == 541);
  assert(~isempty(apoloGetLaserLandMarks('LMS100').id));
  assert(apoloGetUltrasonicSensor('uc0') <= 10);
  assert(~isempty(apoloGetAllultrasonicSensors('Marvin')));
  apoloLinkToRobotTCP('Puma560', 'pieza');
  apoloGetLocation('pieza');
  apoloDisconnect;
end

function testDocuments(n, folder)
  n.setPltfParam('IpoTransVel', 900);
  waitUntil('a parameter', @() str2double(n.getPltfParam('IpoTransVel').value) == 900);
  n.setPltfParam('IpoTransVel', 1000);
  n.setPltfParam('SirenEnabled', false);
  parameters = n.getPltfParamVec();
  assert(numel(parameters) == 94 && any(strcmp({parameters.key}, 'IpoTransVel')));
  n.setMap(fileread(fullfile(folder, 'map.xml')), 'test-map');
  waitUntil('map', @() strcmp(n.getMap().name, 'test-map'));
  n.saveMap();
  n.loadMap();
  n.setRoadmap(fileread(fullfile(folder, 'roadmap.xml')), 'test-roadmap');
  waitUntil('roadmap', @() strcmp(n.getRoadmap().name, 'test-roadmap'));
  assert(~isempty(strfind(n.getRoadmap().xml, 'middle')));
  n.saveRoadmap();
  n.loadRoadmap();
  n.setProgram(fileread(fullfile(folder, 'program.xml')));
  waitUntil('program', @() ~isempty(strfind(n.getProgram(), 'Please let me pass.')));
  n.saveProgram();
  n.loadProgram();
end

function moved = hasMoved(n, before)
% Whether the platform has left its place after a command to drive.
  n.moveVelWheel(0.05, 0.05);
  n.moveVel(0.05, 0);
  now = n.getPosition();
  moved = hypot(now.x - before.x, now.y - before.y) > 0;
end

function testNeobotix(port, withHeader, folder)
  n = Neobotix('127.0.0.1', port, 10, withHeader);
  state = @(wanted) waitUntil(wanted, @() strcmp(n.getStatus().operationState, wanted));
  n.connectToPltf();
  n.initPltf();
  waitUntil('initialized', @() n.getStatus().isInitialized);
  n.stop();
  state('ready');
  n.setMode('automatic');
  assert(strcmp(n.getStatus().motionMode, 'automatic'));
  n.start();
  state('running');
  n.breakMotion();
  state('broken');
  n.continueMotion();
  state('running');
  n.moveToStation('north');
  n.moveAbs(4.5, 3.7, -1.57);
  n.moveRel(0.05, 0, 0);
  n.movePath([4.5 3.7 -1.57; 4.5 3.6 -1.57]);
  waitUntil('a path', @() ~isempty(n.getStatus().path) || n.getStatus().isTargetReached);
  assert(size(n.getStatus().scan, 2) == 2 && size(n.getStatus().scan, 1) > 100);
  n.stop();
  n.prepare('vel');
  before = n.getPosition();
  waitUntil('motion', @() hasMoved(n, before));
  n.stop();
  testDocuments(n, folder);
  n.setBrake(2, false);
  n.setBrake(2, true);
  n.setDigout(1, 1, true);
  n.startUltrasonic(1);
  n.stopUltrasonic();
  n.addCanListeningId(385);
  n.sendCanMessage(1537, zeros(1, 8));
  assert(isempty(n.getCanMessages()));
  n.removeCanListeningId(385);
  n.mappingStart();
  waitUntil('mapping', @() ~isempty(n.getDebugData().mapping));
  n.mappingReset();
  n.mappingStop();
  pose = n.getPosition();
  n.setFrmPltf(pose.x, pose.y, pose.angle);
  n.speakText('Good morning');
  n.playSound('bell.wav');
  n.grabImage('now');
  n.setPosHeadDrive(0.5);
  n.setVelHeadDrive(0.1);
  n.setPosPanTiltCamera('home');
  n.debug1(); n.debug2(); n.debug3(); n.debug4();
  n.setLogEnabled();
  n.setPostProcessFilename();
  n.mouseMove(0, 0, 2);
  n.mouseMove(0, 0, 5);
  n.setEvent(2);
  assert(ischar(n.getCamera().address));
  there = n.goToStation('north');
  assert(hypot(there.x - 4.5, there.y - 3.8) < 0.05);
  there = n.goTo(4.5, 3.6, -1.57);
  assert(hypot(there.x - 4.5, there.y - 3.6) < 0.05);
  fails('dragoman:refused', @() n.goToStation('nowhere'), 'no station ''nowhere''; there are ');
  fails('dragoman:badArgument', @() n.moveAbs(NaN, 0, 0));
  fails('dragoman:badArgument', @() n.moveAbs(3e6, 0, 0));
  fails('dragoman:badArgument', @() n.movePath([0 0]));
  fails('dragoman:badArgument', @() n.moveToStation(''));
  fails('dragoman:badArgument', @() n.setMode('fast'));
  fails('dragoman:badArgument', @() n.setBrake(3, true));
  n.shutdownPltf();
  state('notInitialized');
  n.exit();
  % The original ends here; Dragoman closes the connection.
  waitUntil('it answers again', @() isDone(@() n.getPosition()));
  n.closeSocket();
  waitUntil('it answers again', @() isDone(@() n.getPosition()));
  n.close();
end

function testArm(port)
  a = RangerArm('127.0.0.1', port);
  a.stop();
  a.enable();
  a.setCommandMode('joint');
  a.resetJointMotion();
  home = a.jointPositions()(1:6);
  goal = home + [0.02 0 0 0 0 0];
  first = @() a.jointPositions()(1);
  a.setJointGoal(goal);
  a.beginJointMotion();
  waitUntil('the goal', @() abs(first() - goal(1)) < 0.002);
  a.clearJointViaPoints();
  a.setJointViaPoint(0, goal);
  a.setJointViaPoint(1, home, 0.1);
  waitUntil('the start', @() isDone(@() a.executeJointViaPoints()));
  waitUntil('the last point', @() abs(first() - home(1)) < 0.002);
  a.stop();
  % Joint 5 of Ranger Mark I begins at 0.785 rad.
  a.setJointGoal(home .* [1 1 1 1 0 1]);
  a.beginJointMotion();
  notices = a.waitNotices(30);
  assert(strcmp(notices{1}, 'WN12 Joint limit.'));
  a.stop();
  a.setJointGoal(home);
  waitUntil('the start', @() isDone(@() a.beginJointMotion()));
  waitUntil('the start of all', @() abs(a.jointPositions()(5) - home(5)) < 0.002);
  a.stop();
  a.setCommandMode('cartesian');
  [position, quaternion] = a.pose();
  assert(abs(norm(quaternion) - 1) < 1e-4);
  goal = position - [0 0 0.005];
  a.setGoalPose(goal, quaternion);
  waitUntil('the start', @() isDone(@() a.beginMotion()));
  waitUntil('the pose', @() norm(a.pose() - goal) < 0.001);
  a.setTimedGoalPose(position, [0 0 -pi / 2], 1);
  a.clearViaPoints();
  a.setViaPoint(0, position, [0 0 -pi / 2]);
  waitUntil('the start', @() isDone(@() a.executeViaPoints()));
  a.stop();
  assert(numel(a.temperatures()) == 7);
  a.setCommandMode('off');
  % Refused until the arm is at rest.
  waitUntil('rest', @() isDone(@() a.recalibrate(a.jointPositions()(1:6))));
  fails('dragoman:refused', @() a.beginMotion(), 'ER20 Cmd BG rejected');
  fails('dragoman:badArgument', @() a.setJointGoal(1:5));
  fails('dragoman:badArgument', @() a.setGoalPose([0 0 NaN], [0 0 0 1]));
  fails('dragoman:badArgument', @() a.setGoalPose([0 0 0], [0 0 0 0]));
  fails('dragoman:badArgument', @() a.setJointViaPoint(256, 1:6));
  a.disable();
  a.enable();
end

function waitForData(p, interface, index, name)
  p.data(interface, index, name);
  waitUntil([interface ' ' name], @() numel(p.read(1)) >= 0 && ~isempty(p.data(interface, index, name)));
end

function refused(action)
% What the lab's devices do not have.
  fails('dragoman:refused', action);
end

function testPlayer(port)
  p = Player('127.0.0.1', port, 10);
  found = p.devices();
  assert(strncmp(p.banner, 'Player v', 8));
  assert(any(strcmp({found.interface}, 'position2d') & [found.index] == 0));
  assert(~isempty(p.driver('position2d', 0)));
  assert(p.portOf('TurtleBot 2') > 0);
  p.replaceRule('all', -1, -1, 1);
  fails('dragoman:refused', @() p.subscribe('position2d', 77), 'open position2d:77');
  testBase(p);
  testJoints(p);
  testSensors(p);
  testPlaces(p);
  % Properties
  try, p.hasMessage('position2d', 0, 3, 1); catch, end
  refused(@() p.setBoolProperty('position2d', 0, 'none', true));
  refused(@() p.getBoolProperty('position2d', 0, 'none'));
  refused(@() p.setTextProperty('position2d', 0, 'none', 'a'));
  refused(@() p.getTextProperty('position2d', 0, 'none'));
  refused(@() p.setDoubleProperty('position2d', 0, 'none', 0.5));
  refused(@() p.getDoubleProperty('position2d', 0, 'none'));
  refused(@() p.setIntProperty('position2d', 0, 'none', 1));
  refused(@() p.getIntProperty('position2d', 0, 'none'));
  % A connection that was closed is opened again, with the same devices.
  p.close();
  waitUntil('data of the new connection', @() any(strcmp({p.read(1).interface}, 'laser')));
  p.close();
end

function testBase(p)
  assert(p.position2dGetGeometry(0).size(1) == 0.354);
  p.position2dSetMotorPower(0, true);
  p.position2dSetVelocityMode(0, 0);
  p.position2dSetPositionMode(0, 0);
  p.position2dSetOdometry(0, [1 2 0.5]);
  pose = @() p.data('position2d', 0, 'state').pose;
  moved = @(condition) numel(p.read(1)) >= 0 && ~isempty(p.data('position2d', 0, 'state')) && condition();
  waitUntil('the odometry', @() moved(@() norm(pose() - [1 2 0.5]) < 1e-2));
  p.position2dResetOdometry(0);
  p.position2dSetSpeedPid(0, [1 0 0]);
  p.position2dSetPositionPid(0, [1 0 0]);
  p.position2dSetSpeedProfile(0, 0.3, 0.5);
  p.position2dSetVelocity(0, [0 0 0.3]);
  waitUntil('motion', @() moved(@() abs(pose()(3)) > 0.05 && abs(pose()(1)) < 0.5));
  p.position2dSetPosition(0, [0 0 0]);
  p.position2dSetCar(0, 0, 0);
  p.position2dSetVelocityHeading(0, 0, 0);
  p.position2dSetVelocity(0, [0 0 0]);
  fails('dragoman:badArgument', @() p.position2dSetVelocity(0, [0 0]), 'velocity must have 3 finite numbers');
  fails('dragoman:badArgument', @() p.position2dSetVelocity(0, [0 NaN 0]));
  fails('dragoman:badArgument', @() p.position2dSetVelocity(70000, [0 0 0]));
  fails('dragoman:badArgument', @() p.position2dSetMotorPower(0, 2));
  fails('dragoman:badArgument', @() p.position2dSetPositionMode(0, -1));
  fails('dragoman:badArgument', @() p.data('position2d', 0, 'speed'), 'state, geometryChanged');
  fails('dragoman:badArgument', @() p.subscribe('wheels', 0), 'position2d');
  p.unsubscribe('position2d', 0);
  waitForData(p, 'power', 0, 'state');
  assert(p.data('power', 0, 'state').volts > 10);
  refused(@() p.powerSetChargingPolicy(0, true, false));
end

function testJoints(p)
  p.gripperGetGeometry(0);
  p.gripperClose(0); p.gripperOpen(0); p.gripperStore(0); p.gripperRetrieve(0); p.gripperStop(0);
  waitForData(p, 'gripper', 0, 'state');
  assert(ischar(p.data('gripper', 0, 'state').fingers));
  assert(numel(p.actarrayGetGeometry(0).joints) == 5);
  p.actarraySetPower(0, true);
  p.actarraySetJointSpeed(0, 0, 0.5);
  refused(@() p.actarraySetBrakes(0, false));
  refused(@() p.actarraySetJointAcceleration(0, 0, 0.5));
  p.actarraySetPosition(0, 0, 0.1);
  waitForData(p, 'actarray', 0, 'state');
  first = @() p.data('actarray', 0, 'state').joints(1).position;
  waitUntil('a joint', @() numel(p.read(1)) >= 0 && abs(first() - 0.1) < 0.02);
  p.actarraySetPositions(0, [0.1 0 0 0 0]);
  p.actarraySetSpeed(0, 0, 0);
  p.actarraySetSpeeds(0, zeros(1, 5));
  p.actarraySetCurrent(0, 0, 0);
  p.actarraySetCurrents(0, zeros(1, 5));
  p.actarrayHome(0);
  p.limbGetGeometry(0);
  p.limbSetPower(0, true);
  % The lab's arm has no brakes.
  refused(@() p.limbSetBrakes(0, false));
  p.limbSetSpeed(0, 0.1);
  waitForData(p, 'limb', 0, 'state');
  at = p.data('limb', 0, 'state');
  p.limbMoveAlong(0, [0 0 -1], 0.01);
  p.limbSetPosition(0, at.position);
  p.limbSetPose(0, at.position, at.approach, at.orientation);
  p.limbHome(0);
  p.limbStop(0);
end

function testSensors(p)
  assert(isequal(size(p.sonarGetGeometry(0).poses), [16 6]));
  p.sonarSetPower(0, true);
  waitForData(p, 'sonar', 0, 'ranges');
  assert(numel(p.data('sonar', 0, 'ranges').ranges) == 16);
  p.laserGetGeometry(0);
  p.laserGetId(0);
  config = p.laserGetConfig(0);
  assert(config.maxRange > 3);
  [config.minAngle, config.maxAngle, config.resolution, config.maxRange] = deal(-1, 1, 0.01, 4);
  p.laserSetConfig(0, config);
  p.laserSetPower(0, true);
  refused(@() p.laserSetFilter(0, 'median', 3));
  fails('dragoman:badArgument', @() p.laserSetFilter(0, 'blur'), 'median, edge, range, mean');
  fails('dragoman:badArgument', @() p.laserSetFilter(0, 'median', 1:9), 'at most 8');
  fails('dragoman:badArgument', @() p.laserSetConfig(0, struct()), 'minAngle');
  waitForData(p, 'laser', 0, 'scan');
  assert(min(p.data('laser', 0, 'scan').ranges) >= 0);
  p.rangerGetGeometry(0);
  config = p.rangerGetConfig(0);
  p.rangerSetPower(0, true);
  p.rangerSendIntensities(0, false);
  p.rangerSetConfig(0, config);
  data = @() [p.data('ranger', 0, 'ranges'), p.data('ranger', 0, 'stampedRanges')];
  waitUntil('ranger', @() numel(p.read(1)) >= 0 && ~isempty(data()));
  assert(~isempty(p.bumperGetGeometry(0).bumpers));
  p.cameraGetSource(0);
  refused(@() p.cameraSetSource(0, 'ntsc', 0));
  waitUntil('an image', @() isDone(@() p.cameraGetImage(0)));
  image = p.cameraGetImage(0);
  assert(isequal(size(Player.picture(image)), [image.height, image.width, 3]));
  waitUntil('an image', @() isDone(@() p.cameraGetImage(1)));
  depth = Player.picture(p.cameraGetImage(1));
  % Of 16 bits, mm: a room, not the other order of bytes.
  assert(isa(depth, 'uint16') && median(double(depth(depth > 0))) < 10000);
  p.imuSetDataKind(0, 'euler');
  refused(@() p.imuResetOrientation(0));
  refused(@() p.imuResetEuler(0, zeros(1, 6)));
  waitForData(p, 'imu', 0, 'euler');
end

function testPlaces(p)
  p.simulationSetPose2d(0, 'pieza', [-0.25 0.2 0]);
  p.simulationSetPose3d(0, 'pieza', [-0.25 0.2 0.06 0 0 0]);
  assert(norm(p.simulationGetPose3d(0, 'pieza') - [-0.25 0.2 0.06 0 0 0]) < 1e-9);
  assert(norm(p.simulationGetPose2d(0, 'pieza') - [-0.25 0.2 0]) < 1e-9);
  refused(@() p.simulationGetProperty(0, 'pieza', 'color', 4));
  refused(@() p.simulationSetProperty(0, 'pieza', 'color', [0 0 0 0]));
  p.simulationSave(0);
  p.simulationPause(0);
  % Two at once may be carried out in any order.
  pause(0.5);
  p.simulationPause(0);
  pause(0.5);
  p.simulationReset(0);
  waitForData(p, 'localize', 0, 'hypotheses');
  p.localizeSetPose(0, [4.5 3.8 -1.57]);
  assert(isequal(size(p.localizeGetParticles(0).particles), [1 4]));
  info = p.mapGetInfo(0);
  [width, height] = deal(min(info.width, 200), min(info.height, 150));
  tile = p.mapGetTile(0, 0, 0, width, height);
  assert(isequal(size(tile.cells), [height width]) && all(abs(tile.cells(:)) <= tile.valueRange));
  assert(any(tile.cells(:) == tile.valueRange) && any(tile.cells(:) == -tile.valueRange));
  assert(size(p.mapGetVector(0).segments, 2) == 4);
  assert(strcmp(p.vectormapGetInfo(0).layers(1).name, 'walls'));
  layer = p.vectormapGetLayer(0, 'walls');
  assert(~isempty(layer.features));
  refused(@() p.vectormapWriteLayer(0, layer));
  p.plannerEnable(0, true);
  p.plannerSetStart(0, [4.5 3.8 -1.57]);
  p.plannerSetGoal(0, [4.5 3.4 -1.57]);
  waitForData(p, 'planner', 0, 'state');
  waitUntil('a path', @() ~isempty(p.plannerGetWaypoints(0).waypoints));
  p.plannerEnable(0, false);
  assert(strcmp(p.logGetState(0).kind, 'write'));
  p.logSetFileName(0, 'octave.log');
  % The recorder is found a little after the device is opened.
  waitUntil('the start of a recording', @() isDone(@() p.logSetWriteState(0, true)));
  waitUntil('a recording', @() p.logGetState(0).isEnabled);
  % Some messages, to be played.
  pause(1);
  p.logSetWriteState(0, false);
  % It is short: a busy machine may see it after its end.
  plays = @() strcmp(p.logGetState(0).kind, 'read');
  waitUntil('a playback', @() (isDone(@() p.logSetReadState(0, true)) || true) && plays());
  p.logSetReadState(0, false);
  waitUntil('the end of the playback', @() ~p.logGetState(0).isEnabled);
  p.logRewind(0);
end

function testOthers(port)
% A lab with no other devices than ir:0 and opaque:0, which gives back what it is sent.
  p = Player('127.0.0.1', port);
  assert(p.irGetGeometry(0).poses(1, 1) == 0.45);
  p.irSetPower(0, true);
  refused(@() p.opaqueRequest(0, [1 2 3]));
  waitForData(p, 'ir', 0, 'ranges');
  assert(numel(p.data('ir', 0, 'ranges').ranges) == 1);
  p.opaqueCommand(0, [7 8 9]);
  waitUntil('bytes', @() ~isDone(@() p.opaqueCommand(0, [7 8 9])) || ...
            (numel(p.read(1)) >= 0 && ~isempty(p.data('opaque', 0, 'state'))));
  assert(isequal(p.data('opaque', 0, 'state').data, uint8([7 8 9])));
end

function testDocumentation(neobotix, arm31, player)
% The programs of docs/matlab.md, as printed except for the ports: they do what they say.
  here = fileparts(mfilename('fullpath'));
  page = fileread(fullfile(here, '..', '..', '..', '..', 'docs', 'matlab.md'));
  program = documented(page, 'platform = Neobotix(');
  program = strrep(strrep(program, '10000', num2str(neobotix)), '5031', num2str(arm31));
  arm = RangerArm('127.0.0.1', arm31);
  before = arm.pose();
  printed = evalc(program);
  assert(~isempty(strfind(printed, 'ans')), printed);
  waitUntil('the arm is 3 cm higher', @() arm.pose()(3) > before(3) + 0.029);
  program = strrep(documented(page, 'player = Player('), '6665', num2str(player));
  printed = evalc(program);
  assert(~isempty(regexp(printed, 'nearest = [0-9.]+', 'once')), printed);
end

function program = documented(page, beginning)
% The block of a page with this text, without its paths.
  blocks = regexp(page, '```matlab\n(.*?)```', 'tokens');
  found = find(cellfun(@(block) ~isempty(strfind(block{1}, beginning)), blocks), 1);
  lines = strsplit(blocks{found}{1}, "\n");
  program = strjoin(lines(~strncmp(lines, 'addpath', 7)), "\n");
end

if ~isempty(getenv('OTHERS_PORT'))
  testOthers(str2double(getenv('OTHERS_PORT')));
  disp('others');
  exit(0);
end
testApolo();
disp('apolo');
testArm(str2double(getenv('ARM31_PORT')));
disp('arm31');
ports = sscanf(getenv('NEOBOTIX_PORTS'), '%d');
testNeobotix(ports(1), true, getenv('DOCUMENTS'));
testNeobotix(ports(2), false, getenv('DOCUMENTS'));
disp('neobotix');
testPlayer(str2double(getenv('PLAYER_PORT')));
disp('player');
testDocumentation(ports(1), str2double(getenv('ARM31_PORT')), str2double(getenv('PLAYER_PORT')));
disp('documentation');
