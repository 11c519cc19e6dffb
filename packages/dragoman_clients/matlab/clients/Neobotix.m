classdef Neobotix < handle
% Neobotix  Client of Neobotix' PlatformCtrl, TCP ports 10000 and 10002: all commands of the PlatformCtrl guide, 6.3.
%
%   platform = Neobotix()
%   platform = Neobotix(host, port, timeout, withHeader)
%
%   host         name or address, default '127.0.0.1'
%   port         default 10000; the other one is 10002. A platform has one client on each
%   timeout      time limit of a call, s, default 5
%   withHeader   false: messages without a header, as in the guide's example; default true
%
%   Lengths in m, angles in rad, velocities in m/s and rad/s. A method has the name of its command: moveToStation is
%   CMD_MOVE_TO_STATION; breakMotion and continueMotion are CMD_BREAK and CMD_CONTINUE. Most commands have no answer:
%   they are done when they are sent, and getStatus shows their effect. prepare, waitUntilReached, goToStation and goTo
%   send commands and wait for it.
%
%   Errors have the identifiers dragoman:badArgument (nothing was sent), dragoman:connectionLost, dragoman:timeout (the
%   command may have been carried out), dragoman:badReply and dragoman:refused. The connection opens with the first
%   call, and again after it was lost.
%
%   For MATLAB (R2020b or later) and GNU Octave with its package instrument-control.
%
%   Example:
%     platform = Neobotix('127.0.0.1', 10000);
%     platform.goToStation('middle')
%     status = platform.getStatus();
%     plot(status.scan(:, 1), status.scan(:, 2), '.')
%
%   See also RangerArm, apoloConnect
  properties (SetAccess = private)
    host
    port
    timeout
    withHeader
  end
  properties (Access = private)
    link = []
    received = zeros(1, 0, 'uint8')
  end
  properties (Constant)
    % Motion modes of setMode and prepare (guide, 4.3); their numbers are 0 to 6.
    MODES = {'no', 'joyhard', 'joysoft', 'vel', 'automatic', 'program', 'postProcessReplay'};
    % Operation states in getStatus (guide, 4.2).
    OPERATION_STATES = {'ready', 'running', 'broken', 'notInitialized'};
    PLANNER_STATES = {'standby', 'planning', 'noPath', 'pathFound', 'collisionStart', 'collisionTarget'};
  end

  methods
    function this = Neobotix(host, port, timeout, withHeader)
      if nargin < 1, host = '127.0.0.1'; end
      if nargin < 2, port = 10000; end
      if nargin < 3, timeout = 5; end
      if nargin < 4, withHeader = true; end
      this.host = char(host);
      this.port = whole(port, 'port', 1, 65535);
      this.timeout = inRange(timeout, 'timeout', 1e-3, 86400);
      this.withHeader = logical(withHeader);
    end

    function close(this)
    % close  Closes the connection. The next call opens it again.
      this.link = [];
    end

    function connectToPltf(this)
    % connectToPltf  Connects the platform's CAN nodes, and tests them.
      this.tell(0);
    end
    function shutdownPltf(this)
    % shutdownPltf  Disconnects the CAN nodes.
      this.tell(1);
    end
    function initPltf(this)
    % initPltf  Initializes the hardware, and tests the platform.
      this.tell(2);
    end
    function setBrake(this, motor, released)
    % setBrake  Holds or releases the brake of a motor.
    %   motor: 1 right, 2 left; released: whether the wheel is free
      this.tell(3, [uint8(whole(motor, 'motor', 1, 2)), flag(released)]);
    end
    function setDigout(this, board, channel, high)
    % setDigout  Sets a digital output.
    %   board: 0 I/O board, 1 relay board; channel: its address; high: whether it is high
      this.tell(4, [ints([whole(board, 'board', 0, 1), whole(channel, 'channel')]), flag(high)]);
    end
    function startUltrasonic(this, channel)
    % startUltrasonic  Starts measuring with ultrasonic sensors. Dragoman's platforms take a bit mask.
      this.tell(5, ints(whole(channel, 'channel')));
    end
    function stopUltrasonic(this)
    % stopUltrasonic  Stops measuring with ultrasonic sensors.
      this.tell(6);
    end
    function addCanListeningId(this, id)
    % addCanListeningId  Stores received CAN messages with this id.
      this.tell(7, ints(whole(id, 'id', 0, 2^29 - 1)));
    end
    function removeCanListeningId(this, id)
    % removeCanListeningId  Stores no more CAN messages with this id.
      this.tell(8, ints(whole(id, 'id', 0, 2^29 - 1)));
    end
    function sendCanMessage(this, id, data)
    % sendCanMessage  Sends a CAN message of eight bytes.
      bytes = uint8(numbers(data, 'data', 8, 0, 255));
      this.tell(9, [ints(whole(id, 'id', 0, 2^29 - 1)), bytes]);
    end
    function messages = getCanMessages(this, remove)
    % getCanMessages  Stored CAN messages: a struct array with timeStamp, id and data.
    %   remove: whether they are deleted after reading, default true
      if nargin < 2, remove = true; end
      messages = this.ask(10, {'list', {'struct', {'timeStamp', 'double'; 'id', 'int'; 'data', {'bytes', 8}}}}, ...
                          flag(remove), false);
    end
    function start(this)
    % start  Starts the motion mode.
      this.tell(11);
    end
    function breakMotion(this)
    % breakMotion  Pauses the motion: CMD_BREAK.
      this.tell(12);
    end
    function continueMotion(this)
    % continueMotion  Continues after a pause: CMD_CONTINUE.
      this.tell(13);
    end
    function stop(this)
    % stop  Stops the motion mode.
      this.tell(14);
    end
    function setMode(this, mode)
    % setMode  Changes the motion mode; only while the platform is ready.
    %   mode: a name of Neobotix.MODES, or its number from 0
      this.tell(15, ints(Neobotix.modeNumber(mode)));
    end
    function exit(this)
    % exit  Shuts the platform down.
      this.tell(16);
    end
    function closeSocket(this)
    % closeSocket  Lets the platform close the connection.
      this.tell(17);
    end
    function status = getStatus(this)
    % getStatus  Status of the platform.
    %   Poses are rows [x y angle]; scan, reflectors, corners and path have a point [x y] in each row, in the world;
    %   lines have [targetX targetY sourceX sourceY] in the platform's frame, circles [x y radius]. Boards have the
    %   guide's numbers. motionMode, operationState and plannerState are names of MODES, OPERATION_STATES and
    %   PLANNER_STATES.
      status = this.ask(18, statusForm(), [], true);
      status.motionMode = nameOf(Neobotix.MODES, status.motionMode);
      status.operationState = nameOf(Neobotix.OPERATION_STATES, status.operationState);
      status.plannerState = nameOf(Neobotix.PLANNER_STATES, status.plannerState);
    end
    function movePath(this, path)
    % movePath  Drives on a path to its end.
    %   path: rows [x y angle] in the world; the last one is the target
      if ~isnumeric(path) || size(path, 2) ~= 3 || size(path, 1) < 1 || size(path, 1) > 10000
        fail('badArgument', 'path must have 1 to 10000 rows of three numbers');
      end
      data = ints(size(path, 1));
      for i = 1:size(path, 1)
        data = [data, frame(path(i, 1), path(i, 2), path(i, 3))]; %#ok<AGROW>
      end
      this.tell(19, data);
    end
    function moveToStation(this, station)
    % moveToStation  Drives on the roadmap to a station.
      this.tell(20, text(station, 'station', 1024, false));
    end
    function moveAbs(this, x, y, angle)
    % moveAbs  Drives to a pose in the world.
      this.tell(21, frame(x, y, angle));
    end
    function moveRel(this, x, y, angle)
    % moveRel  Drives to a pose relative to the platform.
      this.tell(22, frame(x, y, angle));
    end
    function moveVelWheel(this, right, left)
    % moveVelWheel  Velocities of the wheels; to be repeated. In mode 'vel'.
      this.tell(23, ints([scaled(right, 1000, 'right'), scaled(left, 1000, 'left')]));
    end
    function moveVel(this, translation, rotation, lateral)
    % moveVel  Velocities of the platform; to be repeated. In modes 'joysoft' and 'vel'.
    %   lateral: to the left, only for omnidirectional platforms of Dragoman
      data = ints([scaled(translation, 1000, 'translation'), scaled(rotation, 1000, 'rotation')]);
      if nargin > 3, data = [data, ints(scaled(lateral, 1000, 'lateral'))]; end
      this.tell(24, data);
    end
    function setMap(this, xml, name)
    % setMap  Sets the active map: its XML text, and its name.
      this.tell(25, [text(name, 'name', 1024, false), text(xml, 'xml', 2^24, false)]);
    end
    function map = getMap(this)
    % getMap  The active map: a struct with xml and name.
      map = this.ask(26, documentForm(), [], false);
    end
    function loadMap(this)
    % loadMap  Loads the map from the platform's disk.
      this.tell(27);
    end
    function saveMap(this)
    % saveMap  Saves the map to the platform's disk.
      this.tell(28);
    end
    function mappingStart(this)
    % mappingStart  Starts mapping.
      this.tell(29);
    end
    function mappingReset(this)
    % mappingReset  Deletes the mapped lines.
      this.tell(30);
    end
    function mappingStop(this)
    % mappingStop  Stops mapping.
      this.tell(31);
    end
    function setRoadmap(this, xml, name)
    % setRoadmap  Sets the active roadmap: its XML text, and its name.
      this.tell(32, [text(name, 'name', 1024, false), text(xml, 'xml', 2^24, false)]);
    end
    function roadmap = getRoadmap(this)
    % getRoadmap  The active roadmap: a struct with xml and name.
      roadmap = this.ask(33, documentForm(), [], false);
    end
    function loadRoadmap(this)
    % loadRoadmap  Loads the roadmap from the platform's disk.
      this.tell(34);
    end
    function saveRoadmap(this)
    % saveRoadmap  Saves the roadmap to the platform's disk.
      this.tell(35);
    end
    function setFrmPltf(this, x, y, angle)
    % setFrmPltf  Sets the platform's pose: where it is in the world.
      this.tell(36, frame(x, y, angle));
    end
    function setPltfParam(this, key, value)
    % setPltfParam  Sets a parameter, in the guide's units (section 5.9).
      if islogical(value)
        names = {'false', 'true'};
        value = names{value + 1};
      elseif isnumeric(value)
        value = sprintf('%.15g', numbers(value, 'value', 1));
      end
      this.tell(37, [text(key, 'key', 1024, false), text(value, 'value', 1024, true)]);
    end
    function parameter = getPltfParam(this, key)
    % getPltfParam  A parameter: a struct with key, value, category, type (0 boolean, 1 integer, 2 double), minimum and
    %   maximum. The value is a text.
      parameter = this.ask(38, parameterForm(), text(key, 'key', 1024, false), false);
    end
    function parameters = getPltfParamVec(this)
    % getPltfParamVec  All parameters: a struct array as from getPltfParam.
      parameters = this.ask(39, {'list', parameterForm()}, [], false);
    end
    function setProgram(this, xml)
    % setProgram  Sets the program: its XML text.
      this.tell(40, text(xml, 'xml', 2^24, false));
    end
    function xml = getProgram(this)
    % getProgram  The program: its XML text.
      xml = this.ask(41, 'text', [], false);
    end
    function loadProgram(this)
    % loadProgram  Loads the program from the platform's disk.
      this.tell(42);
    end
    function saveProgram(this)
    % saveProgram  Saves the program to the platform's disk.
      this.tell(43);
    end
    function speakText(this, words)
    % speakText  Speaks a text.
      this.tell(44, text(words, 'words', 65536, true));
    end
    function playSound(this, fileName)
    % playSound  Plays a sound file of the platform.
      this.tell(45, text(fileName, 'fileName', 1024, false));
    end
    function grabImage(this, fileName)
    % grabImage  Saves an image of the camera on the platform.
      this.tell(46, text(fileName, 'fileName', 1024, false));
    end
    function setPosHeadDrive(this, angle)
    % setPosHeadDrive  Turns the head to an angle; sent as whole degrees.
      this.tell(47, ints(scaled(angle, 180 / pi, 'angle')));
    end
    function setVelHeadDrive(this, velocity)
    % setVelHeadDrive  Turns the head with a velocity; sent as hundredths of a degree per second.
      this.tell(48, ints(scaled(velocity, 18000 / pi, 'velocity')));
    end
    function setPosPanTiltCamera(this, position)
    % setPosPanTiltCamera  Turns the pan-tilt camera: a text in the camera's own format.
      this.tell(49, text(position, 'position', 65536, true));
    end
    function data = getDebugData(this)
    % getDebugData  Debug data: graphical objects, detected objects and messages of the platform.
    %   protocolQueue has the messages of programs, and from Dragoman's platforms the refused commands with the reasons.
      data = this.ask(50, debugForm(), [], true);
    end
    function debug1(this)
    % debug1  Debug command 1; raises the user event debug1 on Dragoman's platforms. So do debug2 to debug4.
      this.tell(51);
    end
    function debug2(this)
      this.tell(52);
    end
    function debug3(this)
      this.tell(53);
    end
    function debug4(this)
      this.tell(54);
    end
    function mouseMove(this, x, y, button)
    % mouseMove  Places the obstacle of the mouse (button 2), or removes it (button 5).
      if ~isequal(button, 2) && ~isequal(button, 5), fail('badArgument', 'button must be 2 or 5'); end
      this.tell(55, ints([scaled(x, 1000, 'x'), scaled(y, 1000, 'y'), button]));
    end
    function setLogEnabled(this)
    % setLogEnabled  Enables logging; the original does not use it.
      this.tell(56);
    end
    function setPostProcessFilename(this)
    % setPostProcessFilename  Sets the file of recordings; the original does not use it.
      this.tell(57);
    end
    function setEvent(this, event)
    % setEvent  Starts or stops a recording (1, 2) or a replay (3, 4); breaks or continues a replay (5, 6).
      this.tell(58, ints(whole(event, 'event', 1, 6)));
    end
    function camera = getCamera(this)
    % getCamera  Address of the camera: a struct with address and id.
      camera = this.ask(59, {'struct', {'address', 'text'; 'id', 'text'}}, [], false);
    end
    function position = getPosition(this)
    % getPosition  Position and velocities: a struct with x, y, angle, translation and rotation.
      form = {'x', 'mm'; 'y', 'mm'; 'angle', 'double'; 'translation', 'double'; 'rotation', 'double'};
      position = this.ask(74, {'struct', form}, [], false);
      position.translation = position.translation / 1000;
    end

    function status = prepare(this, mode, seconds)
    % prepare  Connects and initializes the platform, chooses a motion mode and starts it; returns when it is started.
    %   mode: a name of Neobotix.MODES; seconds: time limit, default 20
      if nargin < 3, seconds = 20; end
      wanted = Neobotix.MODES{Neobotix.modeNumber(mode) + 1};
      isReady = @(s) s.isInitialized && ~strcmp(s.operationState, 'notInitialized');
      if ~isReady(this.getStatus())
        this.connectToPltf();
        this.initPltf();
        this.waitFor('initPltf', isReady, seconds);
      end
      this.stop();
      this.waitFor('stop', @(s) strcmp(s.operationState, 'ready'), seconds);
      this.setMode(mode);
      this.waitFor('setMode', @(s) strcmp(s.motionMode, wanted), seconds);
      this.start();
      status = this.waitFor('start', @(s) strcmp(s.operationState, 'running'), seconds);
    end

    function status = waitUntilReached(this, seconds)
    % waitUntilReached  Waits until the target of a motion that was commanded now is reached.
    %   seconds: time limit, default 120. The error dragoman:refused: there is no path, the platform has aborted the
    %   motion, or its localization is lost. A report about an earlier motion counts after 1 s.
      if nargin < 2, seconds = 120; end
      status = this.untilReached(seconds, '');
    end

    function position = goToStation(this, station, seconds)
    % goToStation  Prepares the platform, drives to a station, and returns its pose.
    %   seconds: time limit of the drive, default 120
      if nargin < 3, seconds = 120; end
      text(station, 'station', 1024, false);
      before = this.prepareToDrive();
      this.moveToStation(station);
      try
        this.untilReached(seconds, before);
      catch reason
        % The protocol has the same answer for a station that does not exist, and for one that cannot be reached.
        if ~isempty(strfind(reason.message, 'PLANNER_NO_PATH'))
          names = this.stationNames();
          if ~isempty(names) && ~any(strcmp(names, station))
            fail('refused', 'no station ''%s''; there are %s', station, strjoin(names, ', '));
          end
        end
        rethrow(reason);
      end
      position = this.getPosition();
    end

    function position = goTo(this, x, y, angle, seconds)
    % goTo  Prepares the platform, drives to a pose in the world, and returns its pose.
      if nargin < 5, seconds = 120; end
      frame(x, y, angle);
      before = this.prepareToDrive();
      this.moveAbs(x, y, angle);
      this.untilReached(seconds, before);
      position = this.getPosition();
    end
  end

  methods (Access = private)
    function names = stationNames(this)
    % The stations of the active roadmap; none if it cannot be read.
      names = {};
      try
        roadmap = this.getRoadmap();
        names = regexp(roadmap.xml, '<station\>[^>]*\sname="([^"]*)"', 'tokens');
        names = cellfun(@(one) one{1}, names, 'UniformOutput', false);
      catch
      end
    end

    function planner = prepareToDrive(this)
    % The planner's state before the command of a motion.
      status = this.getStatus();
      if ~strcmp(status.motionMode, 'automatic') || ~strcmp(status.operationState, 'running')
        status = this.prepare('automatic');
      end
      planner = status.plannerState;
    end

    function status = untilReached(this, seconds, before)
    % before: the planner's state before the command; '': unknown.
      began = tic;
      watch = [];
      if ~isempty(before), watch = Neobotix.motionWatch(before); end
      while true
        status = this.getStatus();
        if isempty(watch), watch = Neobotix.motionWatch(status.plannerState); end
        [watch, report] = ...
          Neobotix.motionReport(watch, toc(began), status.plannerState, status.isTargetReached);
        checkMotion(status, report);
        if strcmp(report, 'reached'), return, end
        pauseUnlessOver('waitUntilReached', status, toc(began), seconds);
      end
    end

    function status = waitFor(this, what, isReached, seconds)
      began = tic;
      while true
        status = this.getStatus();
        if isReached(status), return, end
        pauseUnlessOver(what, status, toc(began), seconds);
      end
    end

    function tell(this, number, data)
      if nargin < 3, data = zeros(1, 0, 'uint8'); end
      message = this.message(number, data);
      this.open();
      try
        write(this.link, message);
      catch problem
        this.close();
        fail('connectionLost', 'connection to %s:%d lost: %s', this.host, this.port, problem.message);
      end
    end

    function value = ask(this, number, form, data, isChecked)
      if isempty(data), data = zeros(1, 0, 'uint8'); end
      this.tell(number, data);
      try
        bytes = this.answer(number);
      catch problem
        % A late answer would be taken for the answer to another question.
        this.close();
        rethrow(problem);
      end
      [value, at] = take(bytes, 2, form);
      if isChecked
        [check, at] = take(bytes, at, 'int');
        if check ~= -1, fail('badReply', 'the message check at the end of reply %d is not -1', number); end
      end
      if at <= numel(bytes), fail('badReply', 'reply %d has %d bytes too many', number, numel(bytes) - at + 1); end
    end

    function bytes = answer(this, number)
      began = tic;
      while true
        [bytes, this.received] = wholeMessage(this.received);
        if ~isempty(bytes)
          % Telegrams without a request are skipped; the protocol has none.
          if bytes(1) == number, return, end
          continue
        end
        left = this.timeout - toc(began);
        if left <= 0, this.hasNoAnswer(number); end
        this.received = [this.received, receiveBytes(this.link, left, this.host, this.port)];
      end
    end

    function hasNoAnswer(this, number)
      fail('timeout', 'command %d: no answer within %g s; is %s:%d a server of PlatformCtrl''s protocol?', number, ...
           this.timeout, this.host, this.port);
    end

    function message = message(this, number, data)
      message = [bigEndian(uint32(numel(data) + 1)), uint8(number), data];
      if this.withHeader, message = [uint8([255 1 254 2]), message]; end
    end

    function open(this)
      if ~isempty(this.link) && hasEnded(this.link, this.host, this.port), this.close(); end
      if isempty(this.link)
        this.received = zeros(1, 0, 'uint8');
        this.link = openTcp(this.host, this.port, this.timeout);
      end
    end
  end

  methods (Static, Hidden)
    function watch = motionWatch(planner)
    % Follows a motion that is commanded now; the argument is the planner's present state. The protocol does not
    % number motions, and the first status after a command may be older than the command.
      watch = struct('first', NaN, 'isSeen', false, 'isFailureOld', hasNoWay(planner), 'planning', 'notYet');
      if isBusy(planner), watch.planning = 'onEarlier'; end
    end

    function [watch, report] = motionReport(watch, seconds, planner, isTargetReached)
    % Processes the next status, which was queried after the command, at this time, s. Returns 'underway', 'reached' or
    % 'failed'. A reported target counts as reached if a status since the command has reported the opposite, or 1 s
    % after the first status, because the command itself may be slow. The motion has failed if the planner reports it,
    % or if it is idle again although the target is not reached: the platform has aborted the motion.
      if isnan(watch.first), watch.first = seconds; end
      isSettled = seconds - watch.first >= 1;
      watch.isSeen = watch.isSeen || ~isTargetReached || isSettled;
      watch.isFailureOld = watch.isFailureOld && hasNoWay(planner) && ~isSettled;
      if any(strcmp(watch.planning, {'onEarlier', 'earlierEnded'})) && isSettled
        watch.planning = 'seen';
      elseif strcmp(watch.planning, 'onEarlier')
        if ~isBusy(planner), watch.planning = 'earlierEnded'; end
      elseif isBusy(planner)
        watch.planning = 'seen';
      end
      isGivenUp = strcmp(planner, 'standby') && ~isTargetReached && strcmp(watch.planning, 'seen');
      report = 'underway';
      if isTargetReached && watch.isSeen
        report = 'reached';
      elseif isGivenUp || (hasNoWay(planner) && ~watch.isFailureOld)
        report = 'failed';
      end
    end
  end

  methods (Static, Access = private)
    function number = modeNumber(mode)
      if ischar(mode) || isa(mode, 'string')
        number = find(strcmpi(Neobotix.MODES, char(mode))) - 1;
        if isempty(number), fail('badArgument', 'mode must be one of %s', strjoin(Neobotix.MODES, ', ')); end
      else
        number = whole(mode, 'mode', 0, 6);
      end
    end
  end
end

function is = hasNoWay(planner)
  is = any(strcmp(planner, {'noPath', 'collisionStart', 'collisionTarget'}));
end

function is = isBusy(planner)
  is = any(strcmp(planner, {'planning', 'pathFound'}));
end

function pauseUnlessOver(what, status, since, seconds)
  if status.emergencyState == 1
    fail('refused', 'ST_EM_ACTIVE: %s: the emergency stop is active', what);
  end
  if since > seconds
    fail('timeout', '%s: not within %g s; the platform is %s', what, seconds, status.operationState);
  end
  pause(0.1);
end

function checkMotion(status, report)
  if status.isLocalizationLost
    fail('refused', 'LOCALIZATION_LOST: the platform does not know where it is');
  end
  if strcmp(status.operationState, 'notInitialized')
    fail('refused', 'ST_OP_NOT_INITIALIZED: the platform does not move');
  end
  codes = struct('noPath', 'PLANNER_NO_PATH', 'collisionStart', 'PLANNER_COLLISION_START', ...
                 'collisionTarget', 'PLANNER_COLLISION_TARGET', 'standby', 'PLANNER_STANDBY');
  if strcmp(report, 'failed')
    why = 'the target cannot be reached';
    if strcmp(status.plannerState, 'standby'), why = 'the platform has given the motion up'; end
    fail('refused', '%s: %s', codes.(status.plannerState), why);
  end
end

function name = nameOf(names, number)
% Numbers that the guide does not list are kept, as texts.
  if number < numel(names)
    name = names{number + 1};
  else
    name = sprintf('%d', number);
  end
end

% Forms of replies (guide, 6.4), field by field in the order of the wire; see take.

function form = statusForm()
  pose = {'row', [1000, 1000, 180000 / pi]};
  point = {'rows', [1000 1000]};
  form = {'struct', {
    'commanded', pose; 'estimated', pose; 'covariance', {'row', [1000, 1000, 180000 / pi, 180000 / pi]}
    'scan', {'rows16', [1000 1000]}; 'reflectors', point; 'lines', {'rows', [1000 1000 1000 1000]}
    'circles', {'rows', [1000 1000 1000]}; 'corners', point; 'path', point; 'joystickButtons', {'flags', -1}
    'velocity', {'row', [1000 1000]}
    'relayBoard', {'struct', {'digitalIn', 'int'; 'status', 'int'; 'analogIn', {'row', ones(1, 8)}
                              'opticalDistance', {'row', ones(1, 4)}}}
    'ioBoard', {'struct', {'batteryVoltage', 'int'; 'digitalIn', 'int'; 'digitalOut', 'int'; 'status', 'int'
                           'analogIn', {'row', ones(1, 8)}}}
    'motors', {'struct', {'rightStatus', 'int'; 'leftStatus', 'int'; 'rightTemperature', 'int'
                          'leftTemperature', 'int'}}
    'ultrasonic', {'row', 1000 * ones(1, 16)}; 'ultrasonicAnalogIn', {'row', ones(1, 8)}; 'ultrasonicStatus', 'int'
    'radarVelocity', {'row', 1000 * ones(1, 4)}; 'radarStatus', 'int'
    'latitude', 'double'; 'longitude', 'double'
    'gyro', {'struct', {'acceleration', {'row', 10000 * ones(1, 3)}; 'angle', {'row', 10000}; 'temperature', 'int'
                        'status', 'int'}}
    'isInitialized', 'flag'; 'isTargetReached', 'flag'; 'motionMode', 'byte'; 'operationState', 'byte'
    'emergencyState', 'int'; 'applicationMode', 'byte'; 'plannerState', 'int'; 'timeStamp', 'int'
    'applicationError', 'int'; 'isDocked', 'flag'; 'isLocalizationLost', 'flag'; 'isColliding', 'flag'
    'lookupPercent', 'byte'; 'infrared', {'flags', 4}; 'siren', 'flag'; 'flashLight', 'flag'
    'headAngle', {'row', 180 / pi}}};
end

function form = documentForm()
  % The number of the name's characters, modulo 256, is not needed.
  form = {'struct', {'characters', 'byte'; 'xml', 'text'; 'name', 'text'}};
end

function form = parameterForm()
  form = {'struct', {'key', 'text'; 'value', 'text'; 'category', 'int'; 'type', 'int'; 'minimum', 'int'
                     'maximum', 'int'}};
end

function form = debugForm()
  gate = {'rows', 1000 * ones(1, 8)};
  pathPose = {'rows', [1000 1000 1]};
  segments = {'rows', 1000 * ones(1, 4)};
  clusters = {'rows', [1000 1000 1]};
  mapping = {'struct', {'segments', segments; 'exploredSegments', segments; 'frames', pathPose
                        'visibleLines', segments; 'validationGates', gate}};
  form = {'struct', {
    'validationGates', gate; 'mapping', {'optional', mapping}; 'path', pathPose
    'graphicalObjects', {'rows', [1, 1, 1000, 1000, 180 / pi, 1000, 1000, 180000 / pi, 1]}
    'variables', {'list', {'struct', {'id', 'int'; 'value', 'text'}}}
    'movingClusters', clusters; 'personClusters', clusters; 'ballClusters', clusters
    'protocolQueue', {'texts'}; 'tcp', {'row', ones(1, 10)}; 'safeVelocities', {'row', 1000 * ones(1, 5)}}};
end

function [value, at] = take(bytes, at, form)
% Reads a value of this form from this place on; rows and lists have their number before them.
  if ischar(form), form = {form}; end
  switch form{1}
    case 'int'
      [value, at] = wholeNumbers(bytes, at, 1, 4);
    case 'byte'
      [part, at] = cut(bytes, at, 1);
      value = double(part);
    case 'flag'
      [part, at] = cut(bytes, at, 1);
      value = part ~= 0;
    case 'mm'
      [value, at] = wholeNumbers(bytes, at, 1, 4);
      value = value / 1000;
    case 'double'
      [part, at] = cut(bytes, at, 8);
      value = typecast(fliplr(part), 'double');
    case 'bytes'
      [value, at] = cut(bytes, at, form{2});
    case 'text'
      [count, at] = wholeNumbers(bytes, at, 1, 4);
      [part, at] = cut(bytes, at, count);
      value = char(part);
    case 'row'
      [value, at] = wholeNumbers(bytes, at, numel(form{2}), 4);
      value = value ./ form{2};
    case {'rows', 'rows16'}
      [count, at] = wholeNumbers(bytes, at, 1, 4);
      width = numel(form{2});
      size = 4;
      if strcmp(form{1}, 'rows16'), size = 2; end
      [value, at] = wholeNumbers(bytes, at, count * width, size);
      value = reshape(value, width, count)' ./ repmat(form{2}, count, 1);
    case 'flags'
      count = form{2};
      if count < 0, [count, at] = wholeNumbers(bytes, at, 1, 4); end
      [part, at] = cut(bytes, at, count);
      value = part ~= 0;
    case 'texts'
      [count, at] = wholeNumbers(bytes, at, 1, 4);
      value = cell(1, checkedCount(bytes, at, count));
      for i = 1:count
        [value{i}, at] = take(bytes, at, 'text');
      end
    case 'list'
      [count, at] = wholeNumbers(bytes, at, 1, 4);
      found = cell(1, checkedCount(bytes, at, count));
      for i = 1:count
        [found{i}, at] = take(bytes, at, form{2});
      end
      value = [found{:}];
    case 'optional'
      [isThere, at] = take(bytes, at, 'flag');
      value = [];
      if isThere, [value, at] = take(bytes, at, form{2}); end
    case 'struct'
      value = struct();
      fields = form{2};
      for i = 1:length(fields(:, 1))
        [one, at] = take(bytes, at, fields{i, 2});
        value.(fields{i, 1}) = one;
      end
  end
end

function [part, at] = cut(bytes, at, count)
  if count < 0 || at + count - 1 > numel(bytes)
    missing = at + count - 1 - numel(bytes);
    fail('badReply', 'reply %d: %d bytes are missing after byte %d', bytes(1), missing, numel(bytes));
  end
  part = bytes(at:at + count - 1);
  at = at + count;
end

function count = checkedCount(bytes, at, count)
  if count < 0 || count > numel(bytes) - at + 1
    left = numel(bytes) - at + 1;
    fail('badReply', 'reply %d: %d elements at byte %d, %d bytes are left', bytes(1), count, at, left);
  end
end

function [values, at] = wholeNumbers(bytes, at, count, size)
  [part, at] = cut(bytes, at, count * size);
  % Big-endian: MATLAB and Octave run on little-endian machines only.
  part = flipud(reshape(part, size, []));
  if size == 4
    values = double(typecast(part(:)', 'int32'));
  else
    values = double(typecast(part(:)', 'int16'));
  end
end

function [bytes, rest] = wholeMessage(received)
% The data of the first message; empty: it is not whole yet.
  bytes = [];
  rest = received;
  start = 0;
  if numel(received) >= 4 && isequal(received(1:4), uint8([255 1 254 2])), start = 4; end
  if numel(received) < start + 4, return, end
  size = double(typecast(fliplr(received(start + 1:start + 4)), 'uint32'));
  if size < 1 || size > 2^24
    fail('badReply', ['a message of %d bytes: the stream is out of step, or this is no server of ' ...
         'PlatformCtrl''s protocol'], size);
  end
  if numel(received) < start + 4 + size, return, end
  bytes = received(start + 5:start + 4 + size);
  rest = received(start + 5 + size:end);
end

% Arguments

function bytes = bigEndian(number)
  bytes = fliplr(typecast(number, 'uint8'));
end

function bytes = ints(values)
  bytes = zeros(1, 0, 'uint8');
  for value = values
    bytes = [bytes, bigEndian(int32(value))]; %#ok<AGROW>
  end
end

function bytes = frame(x, y, angle)
  bytes = ints([scaled(x, 1000, 'x'), scaled(y, 1000, 'y'), scaled(angle, 180000 / pi, 'angle')]);
end

function number = scaled(value, perUnit, what)
  number = round(inRange(value, what, (-2^31 - 0.4) / perUnit, (2^31 - 0.6) / perUnit) * perUnit);
end

function byte = flag(value)
  if ~isscalar(value) || ~(islogical(value) || isequal(value, 0) || isequal(value, 1))
    fail('badArgument', 'true or false is needed');
  end
  byte = uint8(value);
end

function bytes = text(value, what, maximum, mayBeEmpty)
  if ~(ischar(value) || isa(value, 'string')), fail('badArgument', '%s must be a text', what); end
  bytes = unicode2native(char(value), 'UTF-8');
  bytes = reshape(uint8(bytes), 1, []);
  if isempty(bytes) && ~mayBeEmpty, fail('badArgument', '%s must not be empty', what); end
  if numel(bytes) > maximum, fail('badArgument', '%s must have at most %d bytes', what, maximum); end
  bytes = [bigEndian(uint32(numel(bytes))), bytes];
end
