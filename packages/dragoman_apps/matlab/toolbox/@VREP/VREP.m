classdef VREP < handle
% VREP  The toolbox of the TurtleBot thesis (tables A.1 to A.4), over MATLAB's ROS Toolbox for ROS 2.
%
%   robot = VREP(mode)
%   robot = VREP(mode, noise)
%
%   mode    'vrep' (default): the simulated robot; 'real': the real one; 'mixed': both at once, see 'dragoman up --mode
%           mixed'
%   noise   'noise' (default) or 'noiseless': whether the samples of the simulated gyro, imu_data_raw, have noise
%
%   Functions of table A.3: rosinit, rostopic, rosservice, rosshutdown, rospublisher, rossubscriber, rossvcclient,
%   rosmessage, send, receive, call, getPingTime, pause, isVREPEnabled, isROSEnabled. Besides them, for the simulation:
%   startSimulation, pauseSimulation, stopSimulation, resetSimulation, setSimulationSpeed, setSimulationTimeStep.
%
%   Messages have the field names of ROS 1 in MATLAB: message.Linear.X, message.Data. The network is that of ROS 2: set
%   ROS_DOMAIN_ID before rosinit. docs/matlab.md explains the set-up.
%
%   Example:
%     robot = VREP('vrep');
%     robot.rosinit('127.0.0.1', 19999, '127.0.0.1', 11311);
%     odometry = robot.rossubscriber('/odom');
%     message = robot.receive(odometry, 3);
%     robot.rosshutdown;
  properties
    % Namespaces of the robots; '' is the root. Set them before rosinit, if they are not those of 'dragoman up'.
    v_namespace = ''
    r_namespace = ''
  end
  properties (SetAccess = private)
    operating_mode = 0    % 0 vrep, 1 real, 2 mixed
    noise = true
    v_ip_addr = ''
    v_port = 0
    r_ip_addr = ''
    r_port = 0
    node = []
  end
  properties (Access = private)
    clients = struct()    % of the simulation's services
    clock = []            % subscriber of the simulation's time
    encoder_zero = [0 0]  % counters of the simulated base, left and right, at the last reset of its odometry
  end

  methods
    function robot = VREP(mode, noise)
      if nargin < 1, mode = 'vrep'; end
      if nargin < 2, noise = 'noise'; end
      robot.operating_mode = VREP.choice(mode, {'vrep', 'real', 'mixed'}, 'mode') - 1;
      robot.noise = VREP.choice(noise, {'noise', 'noiseless'}, 'noise') == 1;
      if robot.operating_mode == 2
        robot.v_namespace = '/sim';
        robot.r_namespace = '/real';
      end
    end

    function returnCode = rosinit(robot, v_ip_addr, v_port, r_ip_addr, r_port)
    % rosinit  Starts the connection.
    %
    %   returnCode = robot.rosinit(v_ip_addr, v_port, r_ip_addr, r_port)
    %
    %   The four arguments are kept, and not used: nodes of ROS 2 find each other by their domain, ROS_DOMAIN_ID.
    %   returnCode is 0; an error is thrown if a simulator is needed and does not answer.
      addresses = {'', 0, '', 0};
      if nargin > 1, addresses{1} = v_ip_addr; end
      if nargin > 2, addresses{2} = v_port; end
      if nargin > 3, addresses{3} = r_ip_addr; end
      if nargin > 4, addresses{4} = r_port; end
      [robot.v_ip_addr, robot.v_port, robot.r_ip_addr, robot.r_port] = addresses{:};
      robot.node = ros2node('vrep_toolbox');
      if robot.isVREPEnabled()
        robot.clock = ros2subscriber(robot.node, '/simulation/sim_time', 'std_msgs/Float64');
        try
          receive(robot.clock, 10);
        catch
          error('VREP:noSimulator', 'Cannot connect to the simulator: start ''dragoman up'', check ROS_DOMAIN_ID');
        end
        robot.setNoise();
        robot.say('Connected from MATLAB');
      end
      returnCode = 0;
    end

    function returnCode = rosshutdown(robot)
    % rosshutdown  Ends the connection.
      if robot.isVREPEnabled()
        robot.say('Disconnected from Matlab.');
      end
      robot.clients = struct();
      robot.clock = [];
      robot.node = [];
      returnCode = 0;
    end

    function [out, returnCode] = rostopic(robot, what, topic)
    % rostopic  Topics of the robot, and their types.
    %
    %   topics = robot.rostopic('list')          % cell array
    %   type = robot.rostopic('type', topic)
      if nargin < 3, topic = ''; end
      table = VREP.topics();
      known = strcmp(table(:, 1), topic);
      returnCode = 0;
      if strcmp(what, 'list')
        out = table(robot.listed(table(:, 4)), 1);
      elseif strcmp(what, 'type') && any(known)
        out = table{known, 2};
      else
        out = {};
        returnCode = -1;
      end
    end

    function returnCode = rosservice(robot, what)
    % rosservice  Prints the services of the robot.
    %
    %   robot.rosservice('list')
      returnCode = -1;
      if strcmp(what, 'list')
        table = VREP.services();
        fprintf('%s\n', table{robot.listed(table(:, 3)), 1});
        returnCode = 0;
      end
    end

    function [publisher, returnCode] = rospublisher(robot, topic)
    % rospublisher  A publisher for send.
      publisher = robot.ends(topic, @ros2publisher);
      returnCode = 0;
    end

    function [subscriber, returnCode] = rossubscriber(robot, topic)
    % rossubscriber  A subscriber for receive.
      subscriber = robot.ends(topic, @ros2subscriber);
      returnCode = 0;
    end

    function [client, returnCode] = rossvcclient(robot, service)
    % rossvcclient  A client for call.
      type = VREP.typeOf(VREP.services(), service);
      client = struct('ServerName', service, 'ServiceType', type, 'real', [], 'virtual', []);
      robot.check();
      if robot.isROSEnabled()
        client.real = ros2svcclient(robot.node, [robot.r_namespace service], type);
      end
      if robot.isVREPEnabled()
        client.virtual = ros2svcclient(robot.node, [robot.v_namespace service], type);
      end
      returnCode = 0;
    end

    function [message, returnCode] = rosmessage(robot, entity)
    % rosmessage  A message for a publisher, a subscriber, or a client.
    %
    %   message = robot.rosmessage(publisher)
      if isempty(entity.virtual)
        entity.virtual = entity.real;
      end
      message = VREP.toRos1(ros2message(entity.virtual));
      returnCode = 0;
    end

    function returnCode = send(robot, publisher, message, v_publisher, v_message)
    % send  Publishes a message.
    %
    %   robot.send(publisher, message)
    %   robot.send(r_publisher, r_message, v_publisher, v_message)    % mode 'mixed'
    %
    %   With two arguments, mode 'mixed' sends the message to both robots.
      if nargin < 4
        v_publisher = publisher;
        v_message = message;
      end
      if ~isempty(publisher.real)
        send(publisher.real, VREP.toRos2(message, ros2message(publisher.real)));
      end
      if ~isempty(v_publisher.virtual)
        if strcmp(v_publisher.TopicName, '/mobile_base/commands/reset_odometry')
          robot.resetEncoders();
        end
        send(v_publisher.virtual, VREP.toRos2(v_message, ros2message(v_publisher.virtual)));
      end
      robot.check();
      returnCode = 0;
    end

    function [out_1, out_2, out_3] = receive(robot, subscriber, varargin)
    % receive  The next message.
    %
    %   [message, returnCode] = robot.receive(subscriber, timeout)
    %   [r_message, v_message, returnCode] = robot.receive(r_subscriber, v_subscriber, timeout)    % mode 'mixed'
    %
    %   timeout is in s, by default infinite. Without a message in this time there is an error. With one subscriber, mode
    %   'mixed' receives from both robots.
      robot.check();
      v_subscriber = subscriber;
      if ~isempty(varargin) && isstruct(varargin{1})
        v_subscriber = varargin{1};
        varargin(1) = [];
      end
      timeout = Inf;
      if ~isempty(varargin), timeout = varargin{1}; end
      [real, virtual] = deal([]);
      if ~isempty(subscriber.real)
        real = VREP.received(subscriber.real, subscriber.TopicName, timeout, false);
      end
      if ~isempty(v_subscriber.virtual)
        virtual = VREP.received(v_subscriber.virtual, v_subscriber.TopicName, timeout, true);
        if isfield(virtual, 'LeftEncoder')
          counters = mod(double([virtual.LeftEncoder virtual.RightEncoder]) - robot.encoder_zero, 65536);
          [virtual.LeftEncoder, virtual.RightEncoder] = deal(uint16(counters(1)), uint16(counters(2)));
        end
      end
      [out_1, out_2, out_3] = robot.results(subscriber, real, virtual);
    end

    function [out_1, out_2, out_3] = call(robot, client, request)
    % call  Calls a service.
    %
    %   [response, returnCode] = robot.call(client, request)
    %   [r_response, returnCode, v_response] = robot.call(client, request)    % mode 'mixed'
    %
    %   Without a request an empty one is sent.
      robot.check();
      if nargin < 3, request = robot.rosmessage(client); end
      [real, virtual] = deal([]);
      if ~isempty(client.real)
        real = VREP.called(client.real, request);
      end
      if ~isempty(client.virtual)
        virtual = VREP.called(client.virtual, request);
      end
      out_2 = 0;
      out_3 = [];
      if robot.operating_mode == 2
        out_1 = real;
        out_3 = virtual;
      elseif robot.operating_mode == 1
        out_1 = real;
      else
        out_1 = virtual;
      end
    end

    function milliseconds = getPingTime(robot)
    % getPingTime  Time from a command to the simulator until its answer, ms.
      robot.checkSimulator();
      name = [robot.v_namespace '/mobile_base/get_geometry'];
      client = robot.serviceClient(name, 'dragoman_msgs/GetGeometry');
      began = tic;
      call(client, ros2message(client), 'Timeout', 3);
      milliseconds = 1000 * toc(began);
    end

    function milliseconds = getPingTme(robot)
    % getPingTme  getPingTime, under the name of table A.3.
      milliseconds = robot.getPingTime();
    end

    function pause(robot, seconds)
    % pause  Waits; in the simulation's time, except in mode 'real'.
      if ~robot.isVREPEnabled()
        pause(seconds);
        return
      end
      robot.check();
      began = robot.simulationTime();
      while robot.simulationTime() - began < seconds
      end
    end

    function yes = isVREPEnabled(robot)
    % isVREPEnabled  Whether there is a connection to the simulated robot.
      yes = robot.operating_mode ~= 1;
    end

    function yes = isVREPEEnabled(robot)
    % isVREPEEnabled  isVREPEnabled, under the name of table A.3.
      yes = robot.isVREPEnabled();
    end

    function yes = isROSEnabled(robot)
    % isROSEnabled  Whether there is a connection to the real robot.
      yes = robot.operating_mode ~= 0;
    end

    function startSimulation(robot)
    % startSimulation  The button Start of the simulator.
      robot.control('start', 'std_srvs/Trigger');
    end

    function pauseSimulation(robot)
    % pauseSimulation  The button Pause of the simulator: time stands still.
      robot.control('pause', 'std_srvs/Trigger');
    end

    function stopSimulation(robot)
    % stopSimulation  The button Stop of the simulator: everything is as before the start, and waits for it.
      robot.control('stop', 'std_srvs/Trigger');
      robot.encoder_zero = [0 0];
    end

    function resetSimulation(robot)
    % resetSimulation  Stop, and start again if the simulation was running.
      robot.control('reset', 'std_srvs/Trigger');
      robot.encoder_zero = [0 0];
    end

    function setSimulationSpeed(robot, factor)
    % setSimulationSpeed  Simulated time per real time: the buttons with the turtle and the hare.
      robot.control('set_speed', 'dragoman_msgs/SetSimulationSpeed', 'factor', factor);
    end

    function setSimulationTimeStep(robot, seconds)
    % setSimulationTimeStep  The simulator's time step, s; in the thesis 0.05, 0.025 or 0.01. 0: as fine as possible.
      robot.control('set_time_step', 'dragoman_msgs/SetTimeStep', 'time_step', seconds);
    end
  end

  methods (Access = private)
    function seconds = simulationTime(robot)
      message = receive(robot.clock, 10);
      seconds = message.data;
    end

    function resetEncoders(robot)
    % The counters of a Kobuki go on; those of the thesis' simulator (3.6.1) begin again.
      topic = [robot.v_namespace '/mobile_base/sensors/core'];
      message = receive(ros2subscriber(robot.node, topic, 'kobuki_ros_interfaces/SensorState'), 10);
      robot.encoder_zero = double([message.left_encoder message.right_encoder]);
    end

    function check(robot)
      if isempty(robot.node)
        error('VREP:notConnected', 'Call rosinit first');
      end
    end

    function checkSimulator(robot)
      robot.check();
      if ~robot.isVREPEnabled()
        error('VREP:notSimulated', 'There is no simulator in mode ''real''');
      end
    end

    function rows = listed(robot, owners)
    % Rows of a table in this mode: the simulator's own are not there on the real robot.
      rows = strcmp(owners, 'robot') | robot.isVREPEnabled();
    end

    function entity = ends(robot, topic, create)
    % The publishers or subscribers of a topic on the robots of this mode.
      robot.check();
      table = VREP.topics();
      type = VREP.typeOf(table, topic);
      entity = struct('TopicName', topic, 'MessageType', type, 'real', [], 'virtual', []);
      is_simulators = strcmp(table{strcmp(table(:, 1), topic), 4}, 'simulator');
      if robot.isROSEnabled() && ~is_simulators
        entity.real = create(robot.node, [robot.r_namespace topic], type);
      end
      if robot.isVREPEnabled()
        namespace = robot.v_namespace;
        if is_simulators, namespace = ''; end
        entity.virtual = create(robot.node, [namespace topic], type);
      end
    end

    function [out_1, out_2, out_3] = results(robot, entity, real, virtual)
      out_3 = 0;
      if robot.operating_mode == 2 && ~isempty(entity.real)
        [out_1, out_2] = deal(real, virtual);
      elseif ~isempty(real)
        [out_1, out_2] = deal(real, 0);
      else
        [out_1, out_2] = deal(virtual, 0);
      end
    end

    function client = serviceClient(robot, name, type)
      key = regexprep(name, '[^a-z0-9]', '_');
      key = ['s' key];
      if ~isfield(robot.clients, key)
        clients = robot.clients;
        clients.(key) = ros2svcclient(robot.node, name, type);
        robot.clients = clients;
      end
      client = robot.clients.(key);
    end

    function control(robot, name, type, field, value)
      robot.checkSimulator();
      client = robot.serviceClient(['/simulation/' name], type);
      request = ros2message(client);
      if nargin > 3
        request.(field) = double(value);
      end
      response = call(client, request, 'Timeout', 10);
      if ~response.success
        error('VREP:refused', '%s: %s', name, response.message);
      end
    end

    function setNoise(robot)
      client = robot.serviceClient('/simulation/set_parameters', 'rcl_interfaces/SetParameters');
      parameter = ros2message('rcl_interfaces/Parameter');
      parameter.name = 'imu_noise';
      parameter.value.type = uint8(1);
      parameter.value.bool_value = robot.noise;
      request = ros2message(client);
      request.parameters = parameter;
      call(client, request, 'Timeout', 10);
    end

    function say(robot, text)
      publisher = ros2publisher(robot.node, '/vrep/status_bar_message', 'std_msgs/String');
      message = ros2message(publisher);
      message.data = text;
      send(publisher, message);
    end
  end

  methods (Static, Access = private)
    table = topics()
    table = services()
    message = toRos1(message)
    message = toRos2(message, template)
    message = received(subscriber, topic, timeout, isSimulated)

    function number = choice(value, choices, name)
      number = find(strcmp(value, choices));
      if isempty(number)
        error('VREP:argument', '%s is one of: %s', name, strjoin(choices, ', '));
      end
    end

    function type = typeOf(table, name)
      known = strcmp(table(:, 1), name);
      if ~any(known)
        error('VREP:unknownName', '%s: not implemented', name);
      end
      type = table{known, 2};
    end

    function response = called(client, request)
      request = VREP.toRos2(request, ros2message(client));
      response = VREP.toRos1(call(client, request, 'Timeout', 10));
    end
  end
end
