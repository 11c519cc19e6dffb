classdef RangerArm < handle
% RangerArm  Client of the 31-byte protocol of the Ranger arm, UDP port 5031: the 20 commands of the Ranger thesis.
%
%   arm = RangerArm()
%   arm = RangerArm(host, port, timeout)
%
%   host      name or address, default '127.0.0.1'
%   port      default 5031
%   timeout   time limit of a call, s, default 6
%
%   Lengths in m, angles in rad, times in s. Questions are repeated every half second; what starts a motion, ON, CM and
%   RC are sent once. Errors and warnings of a running motion are notices: see waitNotices. Property
%   recalibrateUnanswered is for the original controller, which never answers RC; repeatInterval is the time between
%   two copies, s.
%
%   Errors have the identifiers dragoman:badArgument (nothing was sent), dragoman:connectionLost, dragoman:timeout and
%   dragoman:refused, whose message begins with the controller's, such as 'ER20 Cmd BG rejected'.
%
%   For MATLAB (R2020b or later) and GNU Octave with its package sockets.
%
%   Example:
%     arm = RangerArm('127.0.0.1', 5031);
%     arm.setCommandMode('cartesian');
%     [position, quaternion] = arm.pose();
%     arm.setGoalPose(position + [0 0 0.03], quaternion);
%     arm.beginMotion();
%
%   See also Neobotix, apoloSetRobotJoints
  properties (SetAccess = private)
    host
    port
    timeout
  end
  properties
    recalibrateUnanswered = false
    repeatInterval = 0.5
  end
  properties (Access = private)
    link = []
    notices = {}
  end

  methods
    function this = RangerArm(host, port, timeout)
      if nargin < 1, host = '127.0.0.1'; end
      if nargin < 2, port = 5031; end
      if nargin < 3, timeout = 6; end
      this.host = char(host);
      this.port = whole(port, 'port', 1, 65535);
      this.timeout = inRange(timeout, 'timeout', 1e-3, 86400);
    end

    function delete(this)
      this.close();
    end

    function close(this)
    % close  Closes the port. The next call opens another one.
      if ~isempty(this.link), closeUdp(this.link); end
      this.link = [];
    end

    function beginMotion(this)
    % beginMotion  BG: begins the motion to the Cartesian goal.
      this.ask('BG', [], 0);
    end
    function setCommandMode(this, mode)
    % setCommandMode  CM: switches the command mode: 'off', 'joint' or 'cartesian', or 0, 1, 2.
      names = {'off', 'joint', 'cartesian'};
      if ischar(mode) || isa(mode, 'string')
        wanted = find(strcmpi(names, char(mode))) - 1;
        if isempty(wanted), fail('badArgument', 'mode must be one of %s', strjoin(names, ', ')); end
      else
        wanted = whole(mode, 'mode', 0, 2);
      end
      found = this.ask('CM', wanted, 0);
      if found(1) ~= wanted, fail('refused', 'MC %g: the mode is not %s', found(1), names{wanted + 1}); end
    end
    function setGoalPose(this, position, quaternion)
    % setGoalPose  GL: Cartesian goal.
    %   position: [x y z]; quaternion: [x y z w], not zero, normalized by the controller
      turn = singles(quaternion, 'quaternion', 4);
      if norm(turn) < 1e-6, fail('badArgument', 'quaternion must not be zero'); end
      this.ask('GL', [singles(position, 'position', 3), turn], 0);
    end
    function setTimedGoalPose(this, position, rpy, minDuration)
    % setTimedGoalPose  GT: Cartesian goal with a minimum duration, default 0.
    %   position: [x y z]; rpy: [roll pitch yaw]
      if nargin < 4, minDuration = 0; end
      this.ask('GT', [singles(position, 'position', 3), singles(rpy, 'rpy', 3), duration(minDuration)], 0);
    end
    function beginJointMotion(this)
    % beginJointMotion  jB: begins the motion to the joint goal.
      this.ask('jB', [], 0);
    end
    function clearJointViaPoints(this)
    % clearJointViaPoints  jC: clears the joint via points.
      this.ask('jC', [], 0);
    end
    function executeJointViaPoints(this)
    % executeJointViaPoints  jE: executes the joint via points.
      this.ask('jE', [], 0);
    end
    function setJointGoal(this, joints)
    % setJointGoal  jG: joint goal, six angles.
      this.ask('jG', singles(joints, 'joints', 6), 0);
    end
    function joints = jointPositions(this)
    % jointPositions  jP: measured joint positions; seven numbers, those of missing joints are 0.
      joints = this.ask('jP', [], 0);
    end
    function resetJointMotion(this)
    % resetJointMotion  jR: resets the generator of joint motions.
      this.ask('jR', [], 0);
    end
    function setJointViaPoint(this, index, joints, minDuration)
    % setJointViaPoint  jV: joint via point with this index, from 0.
    %   joints: six angles; minDuration: of the motion to it, default 0
      if nargin < 4, minDuration = 0; end
      this.ask('jV', [singles(joints, 'joints', 6), duration(minDuration)], whole(index, 'index', 0, 255));
    end
    function disable(this)
    % disable  OF: disables the arm.
      this.ask('OF', [], 0);
    end
    function enable(this)
    % enable  ON: enables the arm.
      this.ask('ON', [], 0);
    end
    function [position, quaternion] = pose(this)
    % pose  PS: measured pose of the tool in the arm's base frame: [x y z] and [x y z w].
      values = this.ask('PS', [], 0);
      position = values(1:3);
      quaternion = values(4:7);
    end
    function recalibrate(this, joints)
    % recalibrate  RC: declares the present joint angles, six.
      this.ask('RC', singles(joints, 'joints', 6), 0);
    end
    function stop(this)
    % stop  ST: stops.
      this.ask('ST', [], 0);
    end
    function degrees = temperatures(this)
    % temperatures  TM: temperatures of the drives, degrees Celsius; seven, NaN where there is no drive.
      degrees = this.ask('TM', [], 0);
      degrees(degrees <= -1000) = NaN;
    end
    function clearViaPoints(this)
    % clearViaPoints  VC: clears the Cartesian via points.
      this.ask('VC', [], 0);
    end
    function executeViaPoints(this)
    % executeViaPoints  VE: executes the Cartesian via points.
      this.ask('VE', [], 0);
    end
    function setViaPoint(this, index, position, rpy, minDuration)
    % setViaPoint  VP: Cartesian via point with this index, from 0.
    %   position: [x y z]; rpy: [roll pitch yaw]; minDuration: of the motion to it, default 0
      if nargin < 5, minDuration = 0; end
      values = [singles(position, 'position', 3), singles(rpy, 'rpy', 3), duration(minDuration)];
      this.ask('VP', values, whole(index, 'index', 0, 255));
    end

    function texts = waitNotices(this, seconds)
    % waitNotices  Received errors and warnings, such as 'WN12 Joint limit.', as a cell array; waits for the first one.
    %   Empty after this time.
      this.open();
      began = tic;
      while true
        data = receiveDatagram(this.link, max(0, isempty(this.notices) * (seconds - toc(began))));
        if isNotice(data)
          this.keep(data);
        elseif isempty(data) && (~isempty(this.notices) || toc(began) >= seconds)
          break
        end
      end
      texts = this.notices;
      this.notices = {};
    end
  end

  methods (Access = private)
    function open(this)
      if isempty(this.link), this.link = openUdp(this.host, this.port); end
    end

    function keep(this, data)
    % At most 1000 are kept for the program.
      if numel(this.notices) >= 1000, this.notices(1) = []; end
      this.notices{end + 1} = textOf(data);
    end

    function values = ask(this, letters, values, index)
      isRepeatable = ~any(strcmp(letters, {'BG', 'jB', 'jE', 'VE', 'ON', 'CM', 'RC'}));
      sent = single([values, zeros(1, 7 - numel(values))]);
      message = [uint8(letters), typecast(sent, 'uint8'), uint8(index)];
      this.open();
      began = tic;
      copies = 0;
      try
        values = [];
        while isempty(values)
          left = this.timeout - toc(began);
          if left <= 0 || (copies > 0 && ~isRepeatable)
            fail('timeout', '%s: no answer within %g s of %s:%d', letters, this.timeout, this.host, this.port);
          end
          sendDatagram(this.link, message);
          copies = copies + 1;
          if strcmp(letters, 'RC') && this.recalibrateUnanswered, return, end
          if isRepeatable, left = min(left, this.repeatInterval); end
          values = this.answer(letters, sent, index, left);
        end
      catch problem
        % The answer may still arrive; it belongs to no call.
        this.close();
        rethrow(problem);
      end
      % Answers to the other copies may still arrive.
      if copies > 1, this.close(); end
    end

    function values = answer(this, letters, sent, index, seconds)
    % Empty: none within this time.
      values = [];
      began = tic;
      while true
        data = receiveDatagram(this.link, seconds - toc(began));
        if isNotice(data)
          if strcmp(concerned(textOf(data)), letters), fail('refused', '%s', textOf(data)); end
          this.keep(data);
        elseif isAnswer(data, letters, sent, index)
          values = double(typecast(data(3:30), 'single'));
          return
        elseif toc(began) >= seconds
          return
        end
        % Anything else is garbage or a late answer.
      end
    end
  end
end

function yes = isNotice(data)
  yes = numel(data) >= 5 && any(strcmp(char(data(1:2)), {'ER', 'WN'})) && ...
        all(data(3:4) >= '0' & data(3:4) <= '9') && data(5) == ' ';
end

function words = textOf(data)
  words = char(data(1:find([data, uint8(0)] == 0, 1) - 1));
end

function letters = concerned(words)
% The letters of the command that an error belongs to.
  letters = '';
  if strncmp(words, 'ER10', 4)
    letters = 'OF';
  elseif strncmp(words, 'ER11', 4)
    letters = 'ON';
  else
    found = regexp(words, '^ER\d\d (?:Cmd|Msg) (..)', 'tokens', 'once');
    if ~isempty(found), letters = found{1}; end
  end
end

function yes = isAnswer(data, letters, sent, index)
  yes = false;
  if numel(data) ~= 30 && numel(data) ~= 31, return, end
  found = char(data(1:2));
  % The original answers VC with the letters of VP.
  if ~strcmp(found, fliplr(letters)) && ~(strcmp(letters, 'VC') && strcmp(found, 'PV')), return, end
  % The number of values that the answer repeats exactly. The controller may change the other values, or the original
  % does not set them.
  echoed = struct('GL', 3, 'GT', 3, 'VP', 3, 'jG', 6, 'jV', 6, 'RC', 6);
  if isfield(echoed, letters)
    values = typecast(data(3:30), 'single');
    count = echoed.(letters);
    if ~isequal(values(1:count), sent(1:count)), return, end
  end
  place = 0;
  if numel(data) == 31, place = double(data(31)); end
  yes = ~any(strcmp(letters, {'VP', 'jV'})) || place == index;
end

function values = singles(values, what, count)
  values = numbers(values, what, count, -realmax('single'), realmax('single'));
end

function seconds = duration(seconds)
  seconds = inRange(seconds, 'minDuration', 0, realmax('single'));
end
