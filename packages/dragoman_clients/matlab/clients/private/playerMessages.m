function found = playerMessages()
% The messages of Player's interfaces: found.position2d has its number, code, its data, and its commands and requests.
%
% data has a row for each message: number, name, form. A command or request has kind (2, 3), number, form of its
% arguments, and form of its answer; see xdrRead for forms.
  persistent all;
  if isempty(all), all = table(); end
  found = all;
end

function all = table()
  pose2d = {'row', 'f64', 3};
  point3d = {'row', 'f64', 3};
  pose3d = {'row', 'f64', 6};
  covariance = {'row', 'f64', 6};
  vector = {'row', 'f32', 3};
  geometry = form('pose', pose3d, 'size', {'row', 'f64', 3});
  poses = form('poses', {'list', pose3d});
  segment = {'row', 'f64', 4};
  floats = {'list', 'f32'};
  on = form('on', 'flag');
  nothing = form();

  all.power = interface(2, {1, 'state', form('valid', 'u32', 'volts', 'f32', 'percent', 'f32', 'joules', 'f32', ...
    'watts', 'f32', 'charging', {'code', 'i32', {0, 'idle'; 1, 'receiving'; -1, 'providing'}})});
  all.power.setChargingPolicy = request(1, form('input', 'flag', 'output', 'flag'));

  fingers = {'code', 'u8', {0, 'unknown'; 1, 'open'; 2, 'closed'; 3, 'moving'; 4, 'error'}};
  all.gripper = interface(3, {1, 'state', form('fingers', fingers, 'beams', 'u32', 'stored', 'u8')});
  names = {'open', 'close', 'stop', 'store', 'retrieve'};
  for i = 1:5, all.gripper.(names{i}) = command(i, nothing); end
  size3d = {'row', 'f64', 3};
  all.gripper.getGeometry = request(1, nothing, form('pose', pose3d, 'outerSize', size3d, 'innerSize', size3d, ...
                                                     'beams', 'u8', 'capacity', 'u8'));

  state = form('pose', pose2d, 'velocity', pose2d, 'isStalled', 'flag');
  base = interface(4, {1, 'state', state; 2, 'geometryChanged', geometry});
  base.setVelocity = command(1, form('velocity', pose2d, 'motorsOn', 'flag'));
  base.setPosition = command(2, form('pose', pose2d, 'velocity', pose2d, 'motorsOn', 'flag'));
  base.setCar = command(3, form('speed', 'f64', 'angle', 'f64'));
  base.setVelocityHeading = command(4, form('speed', 'f64', 'heading', 'f64'));
  base.getGeometry = request(1, nothing, geometry);
  base.setMotorPower = request(2, on);
  base.setVelocityMode = request(3, form('mode', 'u32'));
  base.setPositionMode = request(4, form('mode', 'u32'));
  base.setOdometry = request(5, form('pose', pose2d));
  base.resetOdometry = request(6, nothing);
  gains = form('gains', vector);
  base.setSpeedPid = request(7, gains);
  base.setPositionPid = request(8, gains);
  base.setSpeedProfile = request(9, form('speed', 'f32', 'acceleration', 'f32'));
  all.position2d = base;

  all.sonar = interface(5, {1, 'ranges', form('ranges', floats); 2, 'geometryChanged', poses});
  all.sonar.getGeometry = request(1, nothing, poses);
  all.sonar.setPower = request(2, on);

  scan = form('minAngle', 'f32', 'maxAngle', 'f32', 'resolution', 'f32', 'maxRange', 'f32', 'ranges', floats, ...
              'intensities', 'bytes', 'id', 'u32');
  angled = form('maxRange', 'f32', 'ranges', floats, 'angles', floats, 'intensities', 'bytes', 'id', 'u32');
  config = form('minAngle', 'f32', 'maxAngle', 'f32', 'resolution', 'f32', 'maxRange', 'f32', ...
                'rangeResolution', 'f32', 'intensity', 'flag', 'frequency', 'f32');
  laser = interface(6, {1, 'scan', scan; 2, 'posedScan', form('scan', scan, 'pose', pose2d); 3, 'angledScan', angled});
  laser.getGeometry = request(1, nothing, geometry);
  laser.setConfig = request(2, config, config);
  laser.getConfig = request(3, nothing, config);
  laser.setPower = request(4, on);
  laser.getId = request(5, nothing, form('id', 'u32'));
  filters = {'code', 'u8', {1, 'median'; 2, 'edge'; 3, 'range'; 4, 'mean'}};
  laser.setFilter = request(6, form('kind', filters, 'parameters', {'list', 'f32', 8}));
  all.laser = laser;

  places = form('bumpers', {'list', form('pose', pose3d, 'length', 'f32', 'radius', 'f32')});
  all.bumper = interface(14, {1, 'state', form('bumpers', 'bytes'); 2, 'geometryChanged', places});
  all.bumper.getGeometry = request(1, nothing, places);

  all.ir = interface(22, {1, 'ranges', form('voltages', floats, 'ranges', floats)});
  all.ir.getGeometry = request(1, nothing, poses);
  all.ir.setPower = request(2, on);

  hypothesis = form('mean', pose2d, 'covariance', covariance, 'weight', 'f64');
  hypotheses = form('pending', 'u32', 'time', 'f64', 'hypotheses', {'list', hypothesis});
  all.localize = interface(25, {1, 'hypotheses', hypotheses});
  all.localize.setPose = request(1, form('pose', pose2d, 'covariance', covariance));
  % Of a particle [x y yaw weight].
  all.localize.getParticles = request(2, nothing, form('mean', pose2d, 'variance', 'f64', ...
                                                       'particles', {'list', {'row', 'f64', 4}}));

  simulation = interface(31, cell(0, 3));
  simulation.pause = command(1, nothing);
  simulation.reset = command(2, nothing);
  simulation.save = command(3, nothing);
  named2d = form('name', 'text', 'pose', pose2d);
  named3d = form('name', 'text', 'pose', pose3d, 'time', 'f64');
  property = form('name', 'text', 'property', 'text', 'index', 'u32', 'value', 'bytes');
  simulation.getPose2d = request(1, named2d, named2d);
  simulation.setPose2d = request(2, named2d);
  simulation.getPose3d = request(3, named3d, named3d);
  simulation.setPose3d = request(4, named3d);
  simulation.getProperty = request(5, property, property);
  simulation.setProperty = request(6, property);
  all.simulation = simulation;

  formats = {'code', 'u32', {1, 'mono8'; 2, 'mono16'; 4, 'rgb565'; 5, 'rgb888'}};
  image = form('width', 'u32', 'height', 'u32', 'bits', 'u32', 'format', formats, 'divisor', 'u32', ...
               'compression', {'code', 'u32', {0, 'raw'; 1, 'jpeg'}}, 'data', 'bytes');
  source = form('norm', 'text', 'source', 'i32');
  all.camera = interface(40, {1, 'image', image});
  all.camera.getSource = request(1, nothing, source);
  all.camera.setSource = request(2, source);
  all.camera.getImage = request(3, nothing, image);

  info = form('scale', 'f32', 'width', 'u32', 'height', 'u32', 'origin', pose2d);
  all.map = interface(42, {1, 'info', info});
  all.map.getInfo = request(1, nothing, info);
  % The cells are the only bytes with a number between their two lengths; a question has none.
  tile = {'column', 'u32', 'row', 'u32', 'width', 'u32', 'height', 'u32', 'length', 'u32', 'valueRange', 'i8'};
  all.map.getTile = request(2, form(tile{:}, 'size', 'u32'), form(tile{:}, 'cells', 'bytes1'));
  all.map.getVector = request(3, nothing, form('minX', 'f32', 'maxX', 'f32', 'minY', 'f32', 'maxY', 'f32', ...
                                               'segments', {'list', segment}));

  all.planner = interface(44, {1, 'state', form('isValid', 'flag', 'isDone', 'flag', 'pose', pose2d, 'goal', pose2d, ...
    'waypoint', pose2d, 'waypointIndex', 'i32', 'waypointCount', 'u32')});
  all.planner.setGoal = command(1, form('pose', pose2d));
  all.planner.setStart = command(2, form('pose', pose2d));
  all.planner.getWaypoints = request(1, nothing, form('length', 'f64', 'waypoints', {'list', pose2d}));
  all.planner.enable = request(2, on);

  all.log = interface(45, cell(0, 3));
  all.log.setWriteState = request(1, on);
  all.log.setReadState = request(2, on);
  all.log.getState = request(3, nothing, form('kind', {'code', 'u8', {1, 'read'; 2, 'write'}}, 'isEnabled', 'flag'));
  all.log.rewind = request(4, nothing);
  all.log.setFileName = request(5, form('name', {'text', 255}));

  bytes = form('data', 'bytes');
  all.opaque = interface(51, {1, 'state', bytes});
  all.opaque.command = command(1, bytes);
  all.opaque.request = request(1, bytes, bytes);

  states = {'code', 'u8', {0, 'unknown'; 1, 'idle'; 2, 'moving'; 4, 'braked'; 8, 'stalled'}};
  joint = form('position', 'f32', 'speed', 'f32', 'acceleration', 'f32', 'current', 'f32', 'state', states);
  joints = interface(53, {1, 'state', form('joints', {'list', joint}, 'motorsOn', 'flag')});
  joints.setPosition = command(1, form('joint', 'i32', 'position', 'f32'));
  joints.setPositions = command(2, form('positions', floats));
  joints.setSpeed = command(3, form('joint', 'i32', 'speed', 'f32'));
  joints.setSpeeds = command(4, form('speeds', floats));
  joints.home = command(5, form('joint', 'i32'));
  joints.setCurrent = command(6, form('joint', 'i32', 'current', 'f32'));
  joints.setCurrents = command(7, form('currents', floats));
  joints.setPower = request(1, on);
  joints.setBrakes = request(2, on);
  kinds = {'code', 'u8', {0, 'unknown'; 1, 'linear'; 2, 'rotary'}};
  links = form('kind', kinds, 'length', 'f32', 'orientation', point3d, 'axis', point3d, 'minimum', 'f32', ...
               'center', 'f32', 'maximum', 'f32', 'home', 'f32', 'speed', 'f32', 'hasBrake', 'flag');
  joints.getGeometry = request(3, nothing, form('joints', {'list', links}, 'basePose', pose3d));
  joints.setJointSpeed = request(4, form('joint', 'i32', 'speed', 'f32'));
  joints.setJointAcceleration = request(5, form('joint', 'i32', 'acceleration', 'f32'));
  all.actarray = joints;

  motions = {'code', 'u8', {1, 'idle'; 2, 'braked'; 3, 'moving'; 4, 'outOfReach'; 5, 'collision'}};
  pose = {'position', point3d, 'approach', point3d, 'orientation', point3d};
  limb = interface(54, {1, 'state', form(pose{:}, 'motion', motions)});
  limb.home = command(1, nothing);
  limb.stop = command(2, nothing);
  limb.setPose = command(3, form(pose{:}));
  limb.setPosition = command(4, form('position', point3d));
  limb.moveAlong = command(5, form('direction', point3d, 'length', 'f32'));
  limb.setPower = request(1, on);
  limb.setBrakes = request(2, on);
  limb.getGeometry = request(3, nothing, form('position', point3d));
  limb.setSpeed = request(4, form('speed', 'f32'));
  all.limb = limb;

  calibrated = {'acceleration', vector, 'angularVelocity', vector, 'magneticField', vector};
  all.imu = interface(60, {
    1, 'state', form('pose', pose3d)
    2, 'calibrated', form(calibrated{:})
    3, 'quaternion', form(calibrated{:}, 'orientation', {'row', 'f32', 4})
    4, 'euler', form(calibrated{:}, 'orientation', point3d)
    5, 'fullState', form('pose', pose3d, 'velocity', pose3d, 'acceleration', pose3d)});
  kinds = {'code', 'u8', {1, 'state'; 2, 'calibrated'; 3, 'quaternion'; 4, 'euler'}};
  all.imu.setDataKind = request(1, form('kind', kinds));
  all.imu.resetOrientation = request(2, form('value', 'u32'));
  all.imu.resetEuler = request(3, form('pose', pose3d));

  elements = form('pose', pose3d, 'size', size3d, 'elementPoses', {'list', pose3d}, 'elementSizes', {'list', size3d});
  config = form('minAngle', 'f64', 'maxAngle', 'f64', 'angularResolution', 'f64', 'minRange', 'f64', ...
                'maxRange', 'f64', 'rangeResolution', 'f64', 'frequency', 'f64');
  how = {'hasGeometry', 'flag', 'geometry', elements, 'hasConfig', 'flag', 'config', config};
  doubles = {'list', 'f64'};
  ranger = interface(62, {
    1, 'ranges', form('ranges', doubles)
    2, 'stampedRanges', form('ranges', doubles, how{:})
    3, 'intensities', form('intensities', doubles)
    4, 'stampedIntensities', form('intensities', doubles, how{:})
    5, 'geometryChanged', elements});
  ranger.getGeometry = request(1, nothing, elements);
  ranger.setPower = request(2, on);
  ranger.sendIntensities = request(3, on);
  ranger.setConfig = request(4, config, config);
  ranger.getConfig = request(5, nothing, config);
  all.ranger = ranger;

  all.vectormap = interface(63, cell(0, 3));
  layer = form('name', 'text', 'features', ...
               {'list', form('name', 'text', 'shape', 'bytes', 'attributes', 'text')});
  layers = form('reference', 'u32', 'layers', {'list', form('name', 'text', 'bounds', segment)}, 'bounds', segment);
  all.vectormap.getInfo = request(1, nothing, layers);
  all.vectormap.getLayer = request(3, layer, layer);
  all.vectormap.writeLayer = request(4, layer);

  % Requests of every interface.
  kinds = {'Bool', 'flag'; 'Text', 'text'; 'Double', 'f64'; 'Int', 'i32'};
  for i = 1:4
    one = form('name', 'text', 'value', kinds{i, 2});
    all.property.(['set' kinds{i, 1}]) = request(245 + 2 * i, one);
    all.property.(['get' kinds{i, 1}]) = request(246 + 2 * i, one, one);
  end
  all.property.hasMessage = request(255, form('kind', 'u32', 'number', 'u32'));

  % Requests to the server itself.
  address = {'host', 'u32', 'robot', 'u32', 'interface', 'u16', 'index', 'u16'};
  driver = form(address{:}, 'driver', 'text');
  access = form(address{:}, 'access', 'u8', 'driver', 'text');
  robot = form('name', 'text', 'port', 'u16');
  all.player = interface(1, cell(0, 3));
  all.player.devices = request(1, nothing, form('devices', {'list', form(address{:})}));
  all.player.driver = request(2, driver, driver);
  all.player.subscribe = request(3, access, access);
  all.player.read = request(4, nothing);
  all.player.mode = request(5, form('mode', 'u8'));
  all.player.authenticate = request(7, form('key', 'bytes'));
  all.player.portOf = request(8, robot, robot);
  all.player.replaceRule = request(10, form('rule', {'row', 'i32', 5}));
end

function one = interface(code, data)
  one = struct('code', code, 'data', {data});
end

function one = command(number, arguments)
  one = struct('kind', 2, 'number', number, 'form', {arguments}, 'answer', {{}});
end

function one = request(number, arguments, answer)
  if nargin < 3, answer = {}; end
  one = struct('kind', 3, 'number', number, 'form', {arguments}, 'answer', {answer});
end

function one = form(varargin)
% A structure: names and forms of its fields.
  one = {'struct', reshape(varargin, 2, [])'};
end
