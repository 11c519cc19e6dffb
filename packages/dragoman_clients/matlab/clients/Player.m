classdef Player < handle
% Player  Client of the robot server Player, 2.1 to 3.1, TCP port 6665: all interfaces that Dragoman's servers have.
%
%   player = Player()
%   player = Player(host, port, timeout, key)
%
%   host      name or address, default '127.0.0.1'
%   port      default 6665
%   timeout   time limit of a call, s, default 5
%   key       for servers that ask for one, default ''
%
%   A method has the name of an interface and its message: position2dSetVelocity. Its first argument is the device's
%   number. The first call for a device opens it (subscribe). The server sends data with each read, the newest of each
%   kind only (data mode pull); data returns the last one: data('laser', 0, 'scan').
%
%   Lengths in m, angles in rad, times in s, and what they are made of. Poses are rows [x y yaw] or
%   [x y z roll pitch yaw], points [x y z], sizes [width length height]; several are the rows of a matrix. Names of
%   states are texts; a number that the interface does not list is its digits.
%
%   Errors have the identifiers dragoman:badArgument (nothing was sent), dragoman:connectionLost, dragoman:timeout (the
%   command may have been carried out), dragoman:badReply and dragoman:refused. Commands have no answer. The connection
%   opens with the first call, and again after it was lost, with the same devices. A robot stops when its client goes.
%
%   For MATLAB (R2020b or later) and GNU Octave with its package instrument-control.
%
%   Example:
%     player = Player('127.0.0.1', 6665);
%     player.subscribe('laser', 2);
%     player.position2dSetVelocity(2, [0.2 0 0.1]);
%     player.read(1);
%     scan = player.data('laser', 2, 'scan');
%     if ~isempty(scan), nearest = min(scan.ranges), end
%
%   See also Neobotix, RangerArm
  properties (SetAccess = private)
    host
    port
    timeout
    % The server's banner; '' while there is no connection.
    banner = ''
    % Number of data messages that the server dropped because this client did not read them in time.
    lostData = 0
  end
  properties (Access = private)
    key
    link = []
    received = zeros(1, 0, 'uint8')
    sequence = 0
    % Sequence numbers of requests whose time limit passed.
    abandoned = zeros(1, 0)
    isReading = false
    % The request without an answer.
    pending = []
    % Rows [interface, index] of open devices.
    opened = zeros(0, 2)
    % The last body of each kind of data, by 'code:index:number'.
    latest
    % Headers of data received since the last read.
    events = zeros(0, 4)
  end

  methods
    function this = Player(host, port, timeout, key)
      if nargin < 1, host = '127.0.0.1'; end
      if nargin < 2, port = 6665; end
      if nargin < 3, timeout = 5; end
      if nargin < 4, key = ''; end
      this.host = char(host);
      this.port = whole(port, 'port', 1, 65535);
      this.timeout = inRange(timeout, 'timeout', 1e-3, 86400);
      this.key = unicode2native(char(key), 'UTF-8');
      if numel(this.key) > 255, fail('badArgument', 'the key must have at most 255 bytes'); end
      this.latest = containers.Map();
    end

    function close(this)
    % close  Closes the connection. The next call opens it again.
      this.link = [];
      this.banner = '';
    end

    function found = devices(this)
    % devices  The server's devices: a struct array with interface and index. An unknown interface is its number.
    % Without a result it prints them.
      answer = this.server('devices', {});
      devices = struct('interface', {}, 'index', {});
      for one = answer.devices
        devices(end + 1) = struct('interface', Player.nameOf(one.interface), 'index', one.index); %#ok<AGROW>
      end
      if nargout > 0
        found = devices;
      else
        for one = devices, fprintf('%s %d\n', one.interface, one.index); end
      end
    end
    function name = driver(this, interface, index)
    % driver  Name of a device's driver.
      found = this.server('driver', {0, 0, Player.codeOf(interface), index, ''});
      name = found.driver;
    end
    function port = portOf(this, robot)
    % portOf  The port of the robot with this name.
      found = this.server('portOf', {robot, 0});
      port = found.port;
    end
    function replaceRule(this, interface, index, number, rule)
    % replaceRule  Sets the rule for waiting data.
    %   interface: its name, or 'all'; index: of the device, -1: all; number: of the data, -1: all
    %   rule: 0 it is kept, 1 newer data replaces it, 2 it is not sent
      code = -1;
      if ~strcmp(interface, 'all'), code = Player.codeOf(interface); end
      this.server('replaceRule', {[code, index, 1, number, whole(rule, 'rule', 0, 2)]});
    end
    function subscribe(this, interface, index)
    % subscribe  Opens a device, and returns when its driver runs. Refused: there is none, or it does not work.
      code = Player.codeOf(interface);
      index = whole(index, 'index', 0, 65535);
      if ~ismember([code, index], this.opened, 'rows')
        this.open();
        this.access(code, index, 1);
        this.opened(end + 1, :) = [code, index];
      end
    end
    function unsubscribe(this, interface, index)
    % unsubscribe  Closes a device; this ends the effect of its last command.
      code = Player.codeOf(interface);
      is = ismember(this.opened, [code, index], 'rows');
      if any(is)
        this.opened = this.opened(~is, :);
        this.open();
        this.access(code, index, 2);
      end
    end

    function found = read(this, seconds)
    % read  Waits for data of the open devices: a struct array with interface, index, name and time, the server's, s.
    %   seconds: time limit, default 1; an empty array when there is none until then
      if nargin < 2, seconds = 1; end
      seconds = inRange(seconds, 'seconds', 0, 86400);
      began = tic;
      this.open();
      try
        % A read that still runs from the last call is not started again.
        if ~this.isReading
          this.send(this.message(1, 0, 3, 4, zeros(1, 0, 'uint8')));
          this.isReading = true;
        end
        this.process();
        while this.isReading && toc(began) < seconds
          this.receive(seconds - toc(began));
        end
      catch problem
        this.close();
        rethrow(problem);
      end
      found = struct('interface', {}, 'index', {}, 'name', {}, 'time', {});
      all = playerMessages();
      for event = this.events'
        interface = Player.nameOf(event(1));
        kinds = all.(interface).data;
        name = kinds{[kinds{:, 1}] == event(3), 2};
        found(end + 1) = struct('interface', interface, 'index', event(2), 'name', name, 'time', event(4)); %#ok<AGROW>
      end
      this.events = zeros(0, 4);
    end
    function value = data(this, interface, index, name)
    % data  The last data of a device, a struct; empty: none was read yet.
    %   name: as read returns it, and docs/reference/player.md has it: position2d 'state', 'geometryChanged'; power,
    %   gripper, planner, opaque, actarray and limb 'state'; sonar 'ranges', 'geometryChanged'; laser 'scan',
    %   'posedScan', 'angledScan'; bumper 'state', 'geometryChanged'; ir 'ranges'; localize 'hypotheses'; camera
    %   'image'; map 'info'; imu 'state', 'calibrated', 'quaternion', 'euler', 'fullState'; ranger 'ranges',
    %   'stampedRanges', 'intensities', 'stampedIntensities', 'geometryChanged'
      code = Player.codeOf(interface);
      all = playerMessages();
      kinds = all.(interface).data;
      place = find(strcmp(kinds(:, 2), name));
      if isempty(place)
        fail('badArgument', 'data of %s must be one of: %s', interface, strjoin(kinds(:, 2)', ', '));
      end
      this.subscribe(interface, index);
      value = [];
      known = sprintf('%d:%d:%d', code, index, kinds{place, 1});
      if isKey(this.latest, known)
        value = xdrRead(this.latest(known), 1, kinds{place, 3}, [interface ' ' name]);
      end
    end

    % Properties of a driver. Refused: it has none of this name and kind.
    function setBoolProperty(this, interface, index, name, value)
    % setBoolProperty  Changes a property that is true or false.
      this.property(interface, index, 'setBool', {name, value});
    end
    function value = getBoolProperty(this, interface, index, name)
    % getBoolProperty  A property that is true or false.
      value = this.property(interface, index, 'getBool', {name, false});
    end
    function setTextProperty(this, interface, index, name, value)
    % setTextProperty  Changes a text.
      this.property(interface, index, 'setText', {name, value});
    end
    function value = getTextProperty(this, interface, index, name)
    % getTextProperty  A text.
      value = this.property(interface, index, 'getText', {name, ''});
    end
    function setDoubleProperty(this, interface, index, name, value)
    % setDoubleProperty  Changes a number.
      this.property(interface, index, 'setDouble', {name, value});
    end
    function value = getDoubleProperty(this, interface, index, name)
    % getDoubleProperty  A number.
      value = this.property(interface, index, 'getDouble', {name, 0});
    end
    function setIntProperty(this, interface, index, name, value)
    % setIntProperty  Changes a whole number.
      this.property(interface, index, 'setInt', {name, value});
    end
    function value = getIntProperty(this, interface, index, name)
    % getIntProperty  A whole number.
      value = this.property(interface, index, 'getInt', {name, 0});
    end
    function hasMessage(this, interface, index, kind, number)
    % hasMessage  Asks whether the device handles a message. Refused: it does not.
    %   kind: 2 command, 3 request; number: of the message
      this.property(interface, index, 'hasMessage', {kind, number});
    end

    function powerSetChargingPolicy(this, index, input, output)
    % powerSetChargingPolicy  Whether a battery may be charged, and may charge others.
      this.call('power', index, 'setChargingPolicy', {input, output});
    end

    function gripperOpen(this, index)
    % gripperOpen  Opens the fingers.
      this.call('gripper', index, 'open');
    end
    function gripperClose(this, index)
    % gripperClose  Closes the fingers.
      this.call('gripper', index, 'close');
    end
    function gripperStop(this, index)
    % gripperStop  Stops the fingers.
      this.call('gripper', index, 'stop');
    end
    function gripperStore(this, index)
    % gripperStore  Puts the held object into the store.
      this.call('gripper', index, 'store');
    end
    function gripperRetrieve(this, index)
    % gripperRetrieve  Takes an object out of the store.
      this.call('gripper', index, 'retrieve');
    end
    function geometry = gripperGetGeometry(this, index)
    % gripperGetGeometry  Pose and sizes.
      geometry = this.call('gripper', index, 'getGeometry');
    end

    function position2dSetVelocity(this, index, velocity, motorsOn)
    % position2dSetVelocity  Drives with a velocity until the next command: [ahead, left, yaw], m/s and rad/s.
      if nargin < 4, motorsOn = true; end
      this.call('position2d', index, 'setVelocity', {velocity, motorsOn});
    end
    function position2dSetPosition(this, index, pose, velocity, motorsOn)
    % position2dSetPosition  Drives to a pose of the odometry's frame.
    %   velocity: maximum velocities; 0: the driver's
      if nargin < 4, velocity = [0 0 0]; end
      if nargin < 5, motorsOn = true; end
      this.call('position2d', index, 'setPosition', {pose, velocity, motorsOn});
    end
    function position2dSetCar(this, index, speed, angle)
    % position2dSetCar  Drives with a steering angle, rad.
      this.call('position2d', index, 'setCar', {speed, angle});
    end
    function position2dSetVelocityHeading(this, index, speed, heading)
    % position2dSetVelocityHeading  Drives in a direction of the odometry's frame, rad.
      this.call('position2d', index, 'setVelocityHeading', {speed, heading});
    end
    function geometry = position2dGetGeometry(this, index)
    % position2dGetGeometry  Size, and pose of its origin on the robot.
      geometry = this.call('position2d', index, 'getGeometry');
    end
    function position2dSetMotorPower(this, index, on)
    % position2dSetMotorPower  Motors on or off.
      this.call('position2d', index, 'setMotorPower', {on});
    end
    function position2dSetVelocityMode(this, index, mode)
    % position2dSetVelocityMode  How velocities are controlled; the driver defines the numbers.
      this.call('position2d', index, 'setVelocityMode', {mode});
    end
    function position2dSetPositionMode(this, index, mode)
    % position2dSetPositionMode  0: controlled by velocity, 1: by position.
      this.call('position2d', index, 'setPositionMode', {mode});
    end
    function position2dSetOdometry(this, index, pose)
    % position2dSetOdometry  Sets the odometry to [x y yaw].
      this.call('position2d', index, 'setOdometry', {pose});
    end
    function position2dResetOdometry(this, index)
    % position2dResetOdometry  Sets the odometry to 0, 0, 0. Client libraries send position2dSetOdometry instead.
      this.call('position2d', index, 'resetOdometry');
    end
    function position2dSetSpeedPid(this, index, gains)
    % position2dSetSpeedPid  Gains of the controller of velocities: [p i d].
      this.call('position2d', index, 'setSpeedPid', {gains});
    end
    function position2dSetPositionPid(this, index, gains)
    % position2dSetPositionPid  Gains of the controller of positions: [p i d].
      this.call('position2d', index, 'setPositionPid', {gains});
    end
    function position2dSetSpeedProfile(this, index, speed, acceleration)
    % position2dSetSpeedProfile  Maximum speed and acceleration of motions to positions.
      this.call('position2d', index, 'setSpeedProfile', {speed, acceleration});
    end

    function geometry = sonarGetGeometry(this, index)
    % sonarGetGeometry  Poses of the ultrasonic sensors.
      geometry = this.call('sonar', index, 'getGeometry');
    end
    function sonarSetPower(this, index, on)
    % sonarSetPower  Sensors on or off.
      this.call('sonar', index, 'setPower', {on});
    end

    function geometry = laserGetGeometry(this, index)
    % laserGetGeometry  Pose and size of a scanner.
      geometry = this.call('laser', index, 'getGeometry');
    end
    function used = laserSetConfig(this, index, config)
    % laserSetConfig  Changes the configuration, a struct as from laserGetConfig; returns the one in effect.
      used = this.call('laser', index, 'setConfig', config);
    end
    function config = laserGetConfig(this, index)
    % laserGetConfig  The configuration: rad, m, Hz.
      config = this.call('laser', index, 'getConfig');
    end
    function laserSetPower(this, index, on)
    % laserSetPower  Laser on or off.
      this.call('laser', index, 'setPower', {on});
    end
    function id = laserGetId(this, index)
    % laserGetId  Serial number.
      found = this.call('laser', index, 'getId');
      id = found.id;
    end
    function laserSetFilter(this, index, kind, parameters)
    % laserSetFilter  Filter of the device: 'median', 'edge', 'range' or 'mean', and at most 8 parameters.
      if nargin < 4, parameters = []; end
      this.call('laser', index, 'setFilter', {kind, parameters});
    end

    function geometry = bumperGetGeometry(this, index)
    % bumperGetGeometry  Poses and sizes of the bumpers.
      geometry = this.call('bumper', index, 'getGeometry');
    end

    function geometry = irGetGeometry(this, index)
    % irGetGeometry  Poses of the infrared sensors.
      geometry = this.call('ir', index, 'getGeometry');
    end
    function irSetPower(this, index, on)
    % irSetPower  Sensors on or off.
      this.call('ir', index, 'setPower', {on});
    end

    function localizeSetPose(this, index, pose, covariance)
    % localizeSetPose  Starts the localization at a pose.
    %   covariance: [xx yy yaw-yaw xy y-yaw x-yaw], m^2, rad^2, m rad
      if nargin < 4, covariance = [0.25 0.25 0.07 0 0 0]; end
      this.call('localize', index, 'setPose', {pose, covariance});
    end
    function particles = localizeGetParticles(this, index)
    % localizeGetParticles  Particles of the filter: rows [x y yaw weight].
      particles = this.call('localize', index, 'getParticles');
    end

    function simulationPause(this, index)
    % simulationPause  Pauses the simulation, or continues it.
      this.call('simulation', index, 'pause');
    end
    function simulationReset(this, index)
    % simulationReset  Puts all objects back to their initial poses.
      this.call('simulation', index, 'reset');
    end
    function simulationSave(this, index)
    % simulationSave  Saves the world.
      this.call('simulation', index, 'save');
    end
    function pose = simulationGetPose2d(this, index, name)
    % simulationGetPose2d  An object's pose [x y yaw].
      found = this.call('simulation', index, 'getPose2d', {name, [0 0 0]});
      pose = found.pose;
    end
    function simulationSetPose2d(this, index, name, pose)
    % simulationSetPose2d  Puts an object to a pose [x y yaw].
      this.call('simulation', index, 'setPose2d', {name, pose});
    end
    function pose = simulationGetPose3d(this, index, name)
    % simulationGetPose3d  An object's pose [x y z roll pitch yaw].
      found = this.call('simulation', index, 'getPose3d', {name, zeros(1, 6), 0});
      pose = found.pose;
    end
    function simulationSetPose3d(this, index, name, pose)
    % simulationSetPose3d  Puts an object to a pose [x y z roll pitch yaw].
      this.call('simulation', index, 'setPose3d', {name, pose, 0});
    end
    function value = simulationGetProperty(this, index, name, property, count)
    % simulationGetProperty  A property of an object: its bytes, of which there are count.
      count = whole(count, 'count', 0, 65536);
      found = this.call('simulation', index, 'getProperty', {name, property, 0, zeros(1, count)});
      value = found.value;
    end
    function simulationSetProperty(this, index, name, property, bytes)
    % simulationSetProperty  Changes a property of an object.
      this.call('simulation', index, 'setProperty', {name, property, 0, bytes});
    end

    function source = cameraGetSource(this, index)
    % cameraGetSource  The input in use: its norm and number.
      source = this.call('camera', index, 'getSource');
    end
    function cameraSetSource(this, index, norm, source)
    % cameraSetSource  Chooses the input.
      this.call('camera', index, 'setSource', {norm, source});
    end
    function image = cameraGetImage(this, index)
    % cameraGetImage  A current image; see Player.picture.
      image = this.call('camera', index, 'getImage');
    end

    function info = mapGetInfo(this, index)
    % mapGetInfo  Size of the grid: side of a cell in m, cells along x and y, pose of the first cell.
      info = this.call('map', index, 'getInfo');
    end
    function tile = mapGetTile(this, index, column, row, width, height)
    % mapGetTile  A tile of the grid, its first cell counted from 0: a struct with column, row, valueRange and cells.
    %   cells: a row for each y; -valueRange is free, 0 unknown, valueRange occupied
      tile = this.call('map', index, 'getTile', {column, row, width, height, 0, 0, 0});
      tile = cellsOf(tile);
    end
    function map = mapGetVector(this, index)
    % mapGetVector  The map as line segments: rows [x0 y0 x1 y1].
      map = this.call('map', index, 'getVector');
    end

    function plannerSetGoal(this, index, pose)
    % plannerSetGoal  Plans a path to a pose [x y yaw], and drives along it.
      this.call('planner', index, 'setGoal', {pose});
    end
    function plannerSetStart(this, index, pose)
    % plannerSetStart  Plans from this pose instead of the robot's pose.
      this.call('planner', index, 'setStart', {pose});
    end
    function path = plannerGetWaypoints(this, index)
    % plannerGetWaypoints  The path: its length, and rows [x y yaw].
      path = this.call('planner', index, 'getWaypoints');
    end
    function plannerEnable(this, index, on)
    % plannerEnable  Lets the robot drive, or stops it.
      this.call('planner', index, 'enable', {on});
    end

    function logSetWriteState(this, index, on)
    % logSetWriteState  Starts or stops recording.
      this.call('log', index, 'setWriteState', {on});
    end
    function logSetReadState(this, index, on)
    % logSetReadState  Starts or stops playing back.
      this.call('log', index, 'setReadState', {on});
    end
    function state = logGetState(this, index)
    % logGetState  State of the log: kind ('read' or 'write') and isEnabled.
      state = this.call('log', index, 'getState');
    end
    function logRewind(this, index)
    % logRewind  Plays back from the start.
      this.call('log', index, 'rewind');
    end
    function logSetFileName(this, index, name)
    % logSetFileName  File to record to: at most 255 bytes.
      this.call('log', index, 'setFileName', {name});
    end

    function opaqueCommand(this, index, data)
    % opaqueCommand  A command to the driver: bytes.
      this.call('opaque', index, 'command', {data});
    end
    function data = opaqueRequest(this, index, data)
    % opaqueRequest  A request to the driver: bytes; returns those of its answer.
      found = this.call('opaque', index, 'request', {data});
      data = found.data;
    end

    function actarraySetPosition(this, index, joint, position)
    % actarraySetPosition  Moves a joint, counted from 0, to a position, rad or m.
      this.call('actarray', index, 'setPosition', {joint, position});
    end
    function actarraySetPositions(this, index, positions)
    % actarraySetPositions  Moves all joints to positions.
      this.call('actarray', index, 'setPositions', {positions});
    end
    function actarraySetSpeed(this, index, joint, speed)
    % actarraySetSpeed  Moves a joint with a speed.
      this.call('actarray', index, 'setSpeed', {joint, speed});
    end
    function actarraySetSpeeds(this, index, speeds)
    % actarraySetSpeeds  Moves all joints with speeds.
      this.call('actarray', index, 'setSpeeds', {speeds});
    end
    function actarrayHome(this, index, joint)
    % actarrayHome  Moves a joint to its home position; without a joint all.
      if nargin < 3, joint = -1; end
      this.call('actarray', index, 'home', {joint});
    end
    function actarraySetCurrent(this, index, joint, current)
    % actarraySetCurrent  Moves a joint with a current, A; joint -1: all.
      this.call('actarray', index, 'setCurrent', {joint, current});
    end
    function actarraySetCurrents(this, index, currents)
    % actarraySetCurrents  Moves all joints with currents.
      this.call('actarray', index, 'setCurrents', {currents});
    end
    function actarraySetPower(this, index, on)
    % actarraySetPower  Power of all joints on or off; they may move when it is switched on.
      this.call('actarray', index, 'setPower', {on});
    end
    function actarraySetBrakes(this, index, on)
    % actarraySetBrakes  Brakes of all joints on or off.
      this.call('actarray', index, 'setBrakes', {on});
    end
    function geometry = actarrayGetGeometry(this, index)
    % actarrayGetGeometry  Links, axes and limits.
      geometry = this.call('actarray', index, 'getGeometry');
    end
    function actarraySetJointSpeed(this, index, joint, speed)
    % actarraySetJointSpeed  Speed of a joint's motions from now on.
      this.call('actarray', index, 'setJointSpeed', {joint, speed});
    end
    function actarraySetJointAcceleration(this, index, joint, acceleration)
    % actarraySetJointAcceleration  Acceleration of a joint's motions from now on.
      this.call('actarray', index, 'setJointAcceleration', {joint, acceleration});
    end

    function limbHome(this, index)
    % limbHome  Moves an arm to its home position.
      this.call('limb', index, 'home');
    end
    function limbStop(this, index)
    % limbStop  Stops now.
      this.call('limb', index, 'stop');
    end
    function limbSetPose(this, index, position, approach, orientation)
    % limbSetPose  Moves to a pose in the robot's frame.
    %   approach: vector from the end effector to what it grips
    %   orientation: vector from one finger to the other
      this.call('limb', index, 'setPose', {position, approach, orientation});
    end
    function limbSetPosition(this, index, position)
    % limbSetPosition  Moves to a position [x y z], with any orientation.
      this.call('limb', index, 'setPosition', {position});
    end
    function limbMoveAlong(this, index, direction, length)
    % limbMoveAlong  Moves along a straight line: a vector, and m.
      this.call('limb', index, 'moveAlong', {direction, length});
    end
    function limbSetPower(this, index, on)
    % limbSetPower  Power on or off; the arm may move when it is switched on.
      this.call('limb', index, 'setPower', {on});
    end
    function limbSetBrakes(this, index, on)
    % limbSetBrakes  Brakes on or off.
      this.call('limb', index, 'setBrakes', {on});
    end
    function position = limbGetGeometry(this, index)
    % limbGetGeometry  Position of the base in the robot's frame: [x y z].
      found = this.call('limb', index, 'getGeometry');
      position = found.position;
    end
    function limbSetSpeed(this, index, speed)
    % limbSetSpeed  Speed of the end effector from now on, m/s.
      this.call('limb', index, 'setSpeed', {speed});
    end

    function imuSetDataKind(this, index, kind)
    % imuSetDataKind  Chooses the data that is sent: 'state', 'calibrated', 'quaternion' or 'euler'.
      this.call('imu', index, 'setDataKind', {kind});
    end
    function imuResetOrientation(this, index, value)
    % imuResetOrientation  Resets the orientation; the driver defines the number.
      if nargin < 3, value = 0; end
      this.call('imu', index, 'resetOrientation', {value});
    end
    function imuResetEuler(this, index, pose)
    % imuResetEuler  Sets the orientation: [x y z roll pitch yaw].
      this.call('imu', index, 'resetEuler', {pose});
    end

    function geometry = rangerGetGeometry(this, index)
    % rangerGetGeometry  Poses and sizes of range sensors.
      geometry = this.call('ranger', index, 'getGeometry');
    end
    function rangerSetPower(this, index, on)
    % rangerSetPower  Sensors on or off.
      this.call('ranger', index, 'setPower', {on});
    end
    function rangerSendIntensities(this, index, on)
    % rangerSendIntensities  Whether intensities are sent.
      this.call('ranger', index, 'sendIntensities', {on});
    end
    function used = rangerSetConfig(this, index, config)
    % rangerSetConfig  Changes the configuration, a struct as from rangerGetConfig; returns the one in effect.
      used = this.call('ranger', index, 'setConfig', config);
    end
    function config = rangerGetConfig(this, index)
    % rangerGetConfig  The configuration: rad, m, Hz.
      config = this.call('ranger', index, 'getConfig');
    end

    function info = vectormapGetInfo(this, index)
    % vectormapGetInfo  Layers and bounds [x0 y0 x1 y1], and the number of the spatial reference system; 0: none.
      info = this.call('vectormap', index, 'getInfo');
    end
    function layer = vectormapGetLayer(this, index, name)
    % vectormapGetLayer  Shapes of a layer, in the well-known binary form of the Open Geospatial Consortium.
      layer = this.call('vectormap', index, 'getLayer', {name, []});
    end
    function vectormapWriteLayer(this, index, layer)
    % vectormapWriteLayer  Replaces the shapes of a layer: a struct as from vectormapGetLayer.
      this.call('vectormap', index, 'writeLayer', layer);
    end
  end

  methods (Access = private)
    function answer = call(this, interface, index, name, values)
      if nargin < 5, values = {}; end
      all = playerMessages();
      answer = this.carryOut(interface, index, all.(interface).(name), [interface ' ' name], values);
    end
    function answer = carryOut(this, interface, index, one, what, values)
      answer = [];
      % Invalid arguments are refused before the connection is opened.
      body = xdrWrite(one.form, values, what);
      this.subscribe(interface, index);
      this.open();
      code = Player.codeOf(interface);
      if one.kind == 2
        try
          this.send(this.message(code, index, 2, one.number, body));
        catch problem
          this.close();
          rethrow(problem);
        end
        return
      end
      body = this.ask(code, index, one.number, body, what);
      if ~isempty(one.answer), answer = xdrRead(body, 1, one.answer, what); end
    end
    function value = property(this, interface, index, name, values)
      all = playerMessages();
      one = all.property.(name);
      if isempty(one.answer)
        this.carryOut(interface, index, one, [name 'Property'], values);
      else
        found = this.carryOut(interface, index, one, [name 'Property'], values);
        value = found.value;
      end
    end
    function answer = server(this, name, values)
      this.open();
      answer = this.serverConnected(name, values);
    end
    function answer = serverConnected(this, name, values, what)
      if nargin < 4, what = name; end
      all = playerMessages();
      one = all.player.(name);
      answer = this.ask(1, 0, one.number, xdrWrite(one.form, values, name), what);
      if ~isempty(one.answer), answer = xdrRead(answer, 1, one.answer, name); end
    end
    function access(this, code, index, how)
      words = {'open', 'close'};
      what = sprintf('%s %s:%d', words{how}, Player.nameOf(code), index);
      found = this.serverConnected('subscribe', {0, 0, code, index, how, ''}, what);
      if found.access == 3
        fail('refused', 'DENIED: %s: there is no such device, or it does not work', what);
      end
    end

    function hasNoAnswer(this)
      fail('timeout', 'connect: no answer within %g s; is %s:%d a Player server?', this.timeout, this.host, this.port);
    end

    function open(this)
    % Data may wait before the end of the connection.
      if ~isempty(this.link)
        try
          bytes = receiveBytes(this.link, 1e-3, this.host, this.port);
          while ~isempty(bytes)
            this.received = [this.received, bytes];
            bytes = receiveBytes(this.link, 1e-3, this.host, this.port);
          end
        catch
          this.close();
        end
      end
      if ~isempty(this.link), return, end
      this.received = zeros(1, 0, 'uint8');
      this.abandoned = zeros(1, 0);
      this.isReading = false;
      this.banner = '';
      began = tic;
      this.link = openTcp(this.host, this.port, this.timeout);
      try
        while isempty(this.banner)
          left = this.timeout - toc(began);
          if left <= 0, this.hasNoAnswer(); end
          this.receive(left);
        end
        if ~isempty(this.key), this.serverConnected('authenticate', {[this.key, 0]}); end
        this.serverConnected('mode', {2});
        % Newer data replaces older data of the same device and kind; -1 is all.
        this.serverConnected('replaceRule', {[-1 -1 1 -1 1]});
        for one = this.opened'
          this.access(one(1), one(2), 1);
        end
      catch problem
        this.close();
        rethrow(problem);
      end
    end

    function bytes = message(this, code, index, kind, number, body)
      if numel(body) > 2^23 - 40, fail('badArgument', '%d bytes are too many for a message', numel(body)); end
      this.sequence = mod(this.sequence, 65535) + 1;
      bytes = [bigEndian([0 0 code index kind number 0 0 this.sequence numel(body)]), body];
    end
    function send(this, bytes)
      try
        write(this.link, bytes);
      catch problem
        fail('connectionLost', 'connection to %s:%d lost: %s', this.host, this.port, problem.message);
      end
    end
    function receive(this, seconds)
      this.received = [this.received, receiveBytes(this.link, seconds, this.host, this.port)];
      this.process();
    end

    function body = ask(this, code, index, number, body, what)
    % The connection stays open after a time-out, because answers identify their requests.
      bytes = this.message(code, index, 3, number, body);
      this.pending = struct('key', [code index number], 'isDone', false, 'isRefused', false, 'body', []);
      isLate = false;
      began = tic;
      try
        this.send(bytes);
        this.process();
        while ~this.pending.isDone && ~isLate
          left = this.timeout - toc(began);
          if left <= 0
            isLate = true;
          else
            this.receive(left);
          end
        end
      catch problem
        this.pending = [];
        this.close();
        rethrow(problem);
      end
      answer = this.pending;
      this.pending = [];
      if isLate
        this.abandoned(end + 1) = this.sequence;
        fail('timeout', '%s: no answer within %g s', what, this.timeout);
      end
      if answer.isRefused, fail('refused', 'NACK: %s: the driver has no such request, or refused it', what); end
      body = answer.body;
    end

    function process(this)
    % Processes all complete messages of the received bytes.
      at = 1;
      if isempty(this.banner) && numel(this.received) >= 32
        first = char(this.received(1:32));
        if ~strncmp(first, 'Player', 6)
          fail('badReply', 'this is no Player server: it does not begin with Player');
        end
        this.banner = first(1:find([first, char(0)] == 0, 1) - 1);
        at = 33;
      end
      while ~isempty(this.banner) && numel(this.received) - at + 1 >= 40
        words = double(typecast(fliplr(this.received(at:at + 39)), 'uint32'));
        [size, sequence, number, kind, index, code] = deal(words(1), words(2), words(5), words(6), words(7), words(8));
        time = typecast(fliplr(this.received(at + 24:at + 31)), 'double');
        if size > 2^23 - 40 || kind < 1 || kind > 6
          fail('badReply', 'a message of kind %d with %d bytes: the stream is out of step', kind, size);
        end
        if numel(this.received) - at + 1 < 40 + size, break, end
        body = this.received(at + 40:at + 39 + size);
        at = at + 40 + size;
        this.take([code index number], kind, time, sequence, body);
      end
      this.received = this.received(at:end);
    end
    function take(this, key, kind, time, sequence, body)
      if kind == 1
        if Player.isKnown(key)
          this.latest(sprintf('%d:%d:%d', key)) = body;
          % At most 1000 are kept for the program.
          this.events = [this.events(max(1, end - 998):end, :); key, time];
        end
      elseif kind == 5
        % 2: the server dropped data.
        if key(3) == 2 && numel(body) >= 4
          this.lostData = this.lostData + double(typecast(fliplr(body(1:4)), 'uint32'));
        end
        this.isReading = false;
      elseif any(this.abandoned == sequence)
        this.abandoned(this.abandoned == sequence) = [];
      elseif isequal(key, [1 0 4])
        this.isReading = false;
      elseif ~isempty(this.pending) && isequal(key, this.pending.key)
        this.pending.isDone = true;
        this.pending.isRefused = kind == 6;
        this.pending.body = body;
      end
    end
  end

  methods (Static)
    function pixels = picture(image)
    % picture  The pixels of an image that is not compressed: height x width of uint8 or uint16, or x 3 for colours.
    %   image: as from cameraGetImage, or data('camera', index, 'image'). The data of JPEG and others is that of a file.
      sizes = struct('mono8', 1, 'mono16', 2, 'rgb888', 3);
      if ~strcmp(image.compression, 'raw') || ~isfield(sizes, image.format)
        fail('badArgument', 'an image in %s with compression %s', image.format, image.compression);
      end
      if numel(image.data) ~= sizes.(image.format) * image.width * image.height
        fail('badReply', '%d bytes in an image of %d x %d', numel(image.data), image.width, image.height);
      end
      switch image.format
        case 'mono8'
          pixels = reshape(image.data, image.width, image.height)';
        case 'mono16'
          pixels = reshape(swapbytes(typecast(image.data, 'uint16')), image.width, image.height)';
        case 'rgb888'
          pixels = permute(reshape(image.data, 3, image.width, image.height), [3 2 1]);
      end
    end
  end

  methods (Static, Hidden)
    % For tests that compare bytes with those of the original.
    function all = messages()
      all = playerMessages();
    end
    function bytes = encoded(form, value)
      bytes = xdrWrite(form, value, 'value');
    end
    function value = decoded(form, bytes)
      [value, at] = xdrRead(bytes, 1, form, 'value');
      if at ~= numel(bytes) + 1, fail('badReply', '%d bytes too many', numel(bytes) + 1 - at); end
    end
    function tile = tileOf(tile)
      tile = cellsOf(tile);
    end
  end

  methods (Static, Access = private)
    function code = codeOf(interface)
      all = playerMessages();
      interface = char(interface);
      if ~isfield(all, interface) || ~isfield(all.(interface), 'code')
        names = setdiff(fieldnames(all), {'player', 'property'});
        fail('badArgument', 'interface must be one of %s', strjoin(names', ', '));
      end
      code = all.(interface).code;
    end
    function name = nameOf(code)
      all = playerMessages();
      name = sprintf('%d', code);
      for one = fieldnames(all)'
        if isfield(all.(one{1}), 'code') && all.(one{1}).code == code, name = one{1}; end
      end
    end
    function is = isKnown(key)
      all = playerMessages();
      name = Player.nameOf(key(1));
      is = isfield(all, name) && any([all.(name).data{:, 1}] == key(3));
    end
  end
end

function bytes = bigEndian(values)
  bytes = reshape(flipud(reshape(typecast(uint32(values), 'uint8'), 4, [])), 1, []);
end

function found = cellsOf(answer)
% The cells of a tile, which are compressed, as a matrix: cells(1, 1) is the first one, columns go along x.
  count = answer.width * answer.height;
  if count > 2^26, fail('badReply', 'map getTile: a tile of %g cells', count); end
  cells = typecast(inflate(answer.cells, count, 'map getTile'), 'int8');
  found = struct('column', answer.column, 'row', answer.row, 'valueRange', answer.valueRange, ...
                 'cells', double(reshape(cells, answer.width, answer.height)'));
end
