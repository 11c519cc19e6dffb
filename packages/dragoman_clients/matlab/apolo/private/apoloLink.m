function [link, seconds] = apoloLink(action, host, port, timeout)
% The one connection.
%   apoloLink('connect', host, port, timeout)   opens a new connection; empty arguments have their default
%   [link, seconds] = apoloLink('get')          the connection, opened if necessary, and its timeout
%   apoloLink('drop')                           closes it
  persistent current address
  if isempty(address)
    address = defaults('', [], []);
  end
  switch action
    case 'connect'
      current = [];
      address = defaults(host, port, timeout);
    case 'drop'
      current = [];
      return
  end
  if isempty(current)
    current = open(address);
  end
  link = current;
  seconds = address.timeout;
end

function address = defaults(host, port, timeout)
  if isempty(host), host = getenv('APOLO_HOST'); end
  if isempty(host), host = '127.0.0.1'; end
  if isempty(port), port = str2double(getenv('APOLO_PORT')); end
  if isnan(port), port = 12000; end
  if ~(isnumeric(port) && isscalar(port) && port == fix(port) && port >= 1 && port <= 65535)
    error('apolo:arguments', 'the port must be a whole number between 1 and 65535');
  end
  if isempty(timeout), timeout = 5; end
  address = struct('host', host, 'port', double(port), 'timeout', double(timeout));
end

function link = open(address)
  if exist('OCTAVE_VERSION', 'builtin'), needPackage('instrument-control'); end
  try
    if exist('OCTAVE_VERSION', 'builtin')
      link = tcpclient(address.host, address.port, 'Timeout', address.timeout);
    else
      % Send small messages at once.
      link = tcpclient(address.host, address.port, 'Timeout', address.timeout, 'EnableTransferDelay', false);
    end
  catch problem
    error('apolo:notConnected', 'no connection to Apolo at %s:%d: %s', address.host, address.port, problem.message);
  end
end
