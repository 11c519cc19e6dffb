classdef RosbridgeLink < handle
% RosbridgeLink  A WebSocket to a rosbridge, for the functions of this folder.
%
%   link = RosbridgeLink(host, port, token)
%
%   Example:
%     rosbridgeConnect('127.0.0.1', 8080)         % what programs call
%
%   See also rosbridgeConnect, ros2subscriber
  properties (Access = private)
    host
    port
    token
    link = []
    received = zeros(1, 0, 'uint8')
    fragments = zeros(1, 0, 'uint8')   % of a message of several frames
    topics = containers.Map()          % the last operation of each topic, as text, and how many there were
    advertised = containers.Map()
    answers = containers.Map()         % of services, by the identifier of the call
    calls = 0
  end

  methods
    function this = RosbridgeLink(host, port, token)
      this.host = host;
      this.port = port;
      this.token = token;
      this.topics = containers.Map();
      this.advertised = containers.Map();
      this.answers = containers.Map();
      this.open();
    end

    function reconnect(this)
    % The next operation opens the connection again.
      this.link = [];
    end

    function subscribe(this, topic, type)
    % Newer messages replace older ones that wait in the console.
      if isKey(this.topics, topic)
        state = this.topics(topic);
        state.users = state.users + 1;
        this.topics(topic) = state;
        return
      end
      this.topics(topic) = struct('type', type, 'count', 0, 'taken', 0, 'text', '', 'users', 1);
      if isempty(this.link)
        this.open();
      else
        this.send(struct('op', 'subscribe', 'topic', topic, 'type', type, 'queue_length', 1));
      end
    end

    function unsubscribe(this, topic)
    % Ends a subscription with its last user.
      if ~isKey(this.topics, topic), return, end
      state = this.topics(topic);
      state.users = state.users - 1;
      this.topics(topic) = state;
      if state.users > 0, return, end
      remove(this.topics, topic);
      if ~isempty(this.link), this.send(struct('op', 'unsubscribe', 'topic', topic)); end
    end

    function advertise(this, topic, type, latch)
      if isKey(this.advertised, topic), return, end
      this.advertised(topic) = struct('type', type, 'latch', latch);
      if isempty(this.link)
        this.open();
      else
        this.send(struct('op', 'advertise', 'topic', topic, 'type', type, 'latch', latch));
      end
    end

    function text = receive(this, topic, type, seconds)
    % The operation of the next message. Empty: none within this time.
      if ~isKey(this.topics, topic), this.subscribe(topic, type); end
      if isempty(this.link), this.open(); end
      while this.take(0), end
      state = this.topics(topic);
      before = state.count;
      % The first call may have what came before it: a topic may have one message only.
      if state.taken == 0 && state.count > 0, before = state.count - 1; end
      began = tic;
      while this.topics(topic).count == before
        left = seconds - toc(began);
        if left <= 0, break, end
        this.take(min(left, 3600));
      end
      state = this.topics(topic);
      text = '';
      if state.count > before
        text = state.text;
        state.taken = state.count;
        this.topics(topic) = state;
      end
    end

    function values = service(this, name, arguments, seconds, type)
      this.calls = this.calls + 1;
      id = sprintf('call %d', this.calls);
      operation = struct('op', 'call_service', 'service', name, 'id', id, 'args', arguments, 'timeout', seconds);
      if nargin > 4, operation.type = type; end
      this.send(operation);
      began = tic;
      % The console answers when its time is over.
      while ~isKey(this.answers, id)
        left = seconds + 2 - toc(began);
        if left <= 0, error('ros2:timeout', '%s: no response within %g s', name, seconds); end
        this.take(left);
      end
      answer = this.answers(id);
      remove(this.answers, id);
      if ~answer.result
        reason = answer.values;
        if ~ischar(reason), reason = jsonencode(reason); end
        error('ros2:service', '%s: %s', name, reason);
      end
      values = answer.values;
    end

    function send(this, operation)
      if isempty(this.link)
        this.open();
      end
      this.sendFrame(1, unicode2native(jsonencode(operation), 'UTF-8'));
    end
  end

  methods (Access = private)
    function open(this)
      needPackage('instrument-control');
      try
        this.link = tcpclient(this.host, this.port, 'Timeout', 5);
      catch problem
        error('ros2:notConnected', 'no console at %s:%d: %s', this.host, this.port, problem.message);
      end
      [this.received, this.fragments] = deal(zeros(1, 0, 'uint8'));
      key = matlab.net.base64encode(uint8(randi([0 255], 1, 16)));
      lines = {'GET /rosbridge HTTP/1.1', sprintf('Host: %s:%d', this.host, this.port), 'Upgrade: websocket', ...
               'Connection: Upgrade', ['Sec-WebSocket-Key: ' key], 'Sec-WebSocket-Version: 13'};
      if ~isempty(this.token), lines{end + 1} = ['Authorization: Bearer ' this.token]; end
      write(this.link, uint8([strjoin(lines, "\r\n") "\r\n\r\n"]));
      began = tic;
      while true
        head = strfind(char(this.received), "\r\n\r\n");
        if ~isempty(head), break, end
        if toc(began) > 5, this.fail('no answer to the request for a WebSocket'); end
        this.read(5);
      end
      answer = char(this.received(1:head(1)));
      this.received = this.received(head(1) + 4:end);
      digest = hash('sha1', [key '258EAFA5-E914-47DA-95CA-C5AB0DC85B11']);
      accept = matlab.net.base64encode(uint8(sscanf(digest, '%2x')'));
      if isempty(regexp(answer, '^HTTP/1.1 101 ', 'once')) || isempty(strfind(answer, accept))
        this.link = [];
        error('ros2:notConnected', 'no rosbridge at %s:%d: %s', this.host, this.port, strtok(answer, "\r"));
      end
      for topic = keys(this.topics)
        state = this.topics(topic{1});
        [state.count, state.taken, state.text] = deal(0, 0, '');
        this.topics(topic{1}) = state;
        this.send(struct('op', 'subscribe', 'topic', topic{1}, 'type', state.type, 'queue_length', 1));
      end
      for topic = keys(this.advertised)
        state = this.advertised(topic{1});
        this.send(struct('op', 'advertise', 'topic', topic{1}, 'type', state.type, 'latch', state.latch));
      end
    end

    function fail(this, reason)
      this.reconnect();
      error('ros2:connectionLost', 'connection to the console at %s:%d lost: %s', this.host, this.port, reason);
    end

    function found = read(this, seconds)
    % Takes bytes that have come; waits for the first one.
      found = false;
      try
        if this.link.NumBytesAvailable == 0
          if seconds <= 0, return, end
          this.link.Timeout = max(seconds, 1e-3);
          this.received = [this.received, reshape(uint8(read(this.link, 1)), 1, [])];
        end
        count = this.link.NumBytesAvailable;
        if count > 0, this.received = [this.received, reshape(uint8(read(this.link, count)), 1, [])]; end
        found = true;
      catch problem
        this.fail(problem.message);
      end
    end

    function found = take(this, seconds)
    % Handles one frame; waits for it. False: none within this time.
      began = tic;
      while true
        [opcode, isLast, payload, found] = this.frame();
        if found, break, end
        left = seconds - toc(began);
        if ~this.read(max(left, 0)) && left <= 0, return, end
        if left <= 0 && seconds > 0, return, end
      end
      switch opcode
        case {0, 1, 2}
          this.fragments = [this.fragments, payload];
          if isLast
            text = char(this.fragments);
            this.fragments = zeros(1, 0, 'uint8');
            this.operation(text);
          end
        case 8
          this.fail('closed by the console');
        case 9
          % The console stops what a client drives that does not answer.
          this.sendFrame(10, payload);
      end
    end

    function [opcode, isLast, payload, found] = frame(this)
    % The first whole frame of what was received.
      [opcode, isLast, payload, found] = deal(0, false, [], false);
      data = this.received;
      if numel(data) < 2, return, end
      opcode = double(bitand(data(1), uint8(15)));
      isLast = data(1) > 127;
      size = double(bitand(data(2), uint8(127)));
      start = 2;
      if size == 126 || size == 127
        count = 2 + 6 * (size == 127);
        if numel(data) < 2 + count, return, end
        size = double(data(3:2 + count)) * (256 .^ (count - 1:-1:0))';
        start = 2 + count;
      end
      if numel(data) < start + size, return, end
      payload = data(start + 1:start + size);
      this.received = data(start + size + 1:end);
      found = true;
    end

    function operation(this, text)
    % Messages are decoded when they are wanted.
      head = regexp(text(1:min(end, 300)), '^\{"op":"publish","topic":"([^"]*)"', 'tokens', 'once');
      if ~isempty(head)
        if isKey(this.topics, head{1})
          state = this.topics(head{1});
          state.count = state.count + 1;
          state.text = text;
          this.topics(head{1}) = state;
        end
        return
      end
      value = jsondecode(text);
      if strcmp(value.op, 'service_response')
        this.answers(value.id) = value;
      elseif strcmp(value.op, 'status') && isfield(value, 'level') && strcmp(value.level, 'error')
        warning('ros2:status', '%s', value.msg);
      end
    end

    function sendFrame(this, opcode, payload)
    % Frames of clients are masked.
      payload = reshape(uint8(payload), 1, []);
      size = numel(payload);
      if size < 126
        head = uint8([128 + opcode, 128 + size]);
      elseif size < 65536
        head = [uint8([128 + opcode, 254]), fliplr(typecast(uint16(size), 'uint8'))];
      else
        head = [uint8([128 + opcode, 255]), fliplr(typecast(uint64(size), 'uint8'))];
      end
      mask = uint8(randi([0 255], 1, 4));
      masked = bitxor(payload, mask(mod(0:size - 1, 4) + 1));
      try
        sent = write(this.link, [head, mask, masked]);
      catch problem
        this.fail(problem.message);
      end
      if sent < 0, this.fail('it was closed'); end
    end
  end
end
