% Asks one question per line of standard input, and prints what comes of it: for the tests of faults.
%     PROTOCOL PORT SECONDS     a client of its own
%     again                     the same client once more
1;

function kind = kindOf(identifier)
  kind = regexprep(identifier, '^\w+:', '');
  if ~isempty(kind), kind(1) = upper(kind(1)); end
end

% Of Apolo's functions a warning; it would be printed among the answers.
warning('off', 'apolo:noAnswer');
client = [];
while true
  % fgetl(stdin) would wait until the input ends.
  try
    line = input('', 's');
  catch
    break
  end
  try
    if ~strcmp(line, 'again')
      words = strsplit(line, ' ');
      protocol = words{1};
      [port, seconds] = deal(str2double(words{2}), str2double(words{3}));
      switch protocol
        case 'neobotix'
          client = Neobotix('127.0.0.1', port, seconds);
        case 'player'
          client = Player('127.0.0.1', port, seconds);
        case {'arm31', 'arm31_start'}
          client = RangerArm('127.0.0.1', port, seconds);
          client.repeatInterval = 0.1;
        case 'apolo'
          % The functions connect at once.
          apoloConnect('127.0.0.1', port, seconds);
        case 'rosbridge'
          rosbridgeConnect('127.0.0.1', port);
      end
    end
    switch protocol
      case 'neobotix'
        value = client.getPosition().x;
      case 'player'
        value = numel(client.devices());
      case 'arm31'
        value = client.jointPositions()(1);
      case 'arm31_start'
        client.beginMotion();
        value = 0;
      case 'apolo'
        found = apoloGetLocationMRobot('Neo');
        if isempty(found), error('apolo:nothing', 'no value'); end
        value = found(1);
    end
    printf('OK %g\n', value);
  catch problem
    % The functions of Apolo have an error of their own for this.
    kind = strrep(kindOf(problem.identifier), 'NotConnected', 'ConnectionLost');
    printf('%s %s\n', kind, problem.message);
  end
  fflush(stdout);
end
