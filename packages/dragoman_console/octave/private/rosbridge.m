function out = rosbridge(action, varargin)
% The one connection to the console's rosbridge, as a WebSocket over TCP (RFC 6455).
%   rosbridge('connect', host, port, token)        opens a new connection; empty arguments have their default
%   rosbridge('open')                              opens it if necessary
%   rosbridge('drop')                              closes it
%   rosbridge('send', operation)                   sends an operation
%   rosbridge('subscribe', topic, type), rosbridge('unsubscribe', topic)
%   rosbridge('advertise', topic, type, latch)
%   text = rosbridge('receive', topic, type, seconds)       the next message's operation; empty: none
%   values = rosbridge('service', name, arguments, seconds, type)
%   details = rosbridge('details', kind, type)     of a message, service_request or service_response; see emptyMessage
  persistent link address types
  if isempty(address), address = defaults('', [], ''); end
  if isempty(types), types = containers.Map(); end
  out = [];
  switch action
    case 'connect'
      address = defaults(varargin{:});
      link = [];
    case 'drop'
      link = [];
      return
  end
  if strcmp(action, 'unsubscribe') && isempty(link), return, end
  if isempty(link), link = RosbridgeLink(address.host, address.port, address.token); end
  switch action
    case 'send'
      link.send(varargin{1});
    case 'subscribe'
      link.subscribe(varargin{:});
    case 'unsubscribe'
      link.unsubscribe(varargin{:});
    case 'advertise'
      link.advertise(varargin{:});
    case 'receive'
      out = link.receive(varargin{:});
    case 'service'
      out = link.service(varargin{:});
    case 'details'
      [kind, type] = varargin{:};
      key = [kind ' ' type];
      if ~isKey(types, key)
        found = link.service(['/rosapi/' kind '_details'], struct('type', type), 10).typedefs;
        types(key) = withPlaces(found);
      end
      out = types(key);
  end
end

function address = defaults(host, port, token)
  if isempty(host), host = getenv('ROSBRIDGE_HOST'); end
  if isempty(host), host = '127.0.0.1'; end
  if isempty(port), port = str2double(getenv('ROSBRIDGE_PORT')); end
  if isnan(port), port = 8080; end
  if ~(isnumeric(port) && isscalar(port) && port == fix(port) && port >= 1 && port <= 65535)
    error('ros2:address', 'the port must be a whole number between 1 and 65535');
  end
  if isempty(token), token = getenv('ROSBRIDGE_TOKEN'); end
  address = struct('host', char(host), 'port', double(port), 'token', char(token));
end

function details = withPlaces(found)
% As emptyMessage needs them. jsondecode makes a cell array if the definitions' fields differ in their shape.
  if iscell(found), found = [found{:}]; end
  names = {found.type};
  details = struct('type', names, 'fieldnames', [], 'fieldtypes', [], 'fieldarraylen', [], 'places', []);
  for i = 1:numel(found)
    details(i).fieldnames = cellstr(found(i).fieldnames);
    details(i).fieldtypes = cellstr(found(i).fieldtypes);
    if isempty(found(i).fieldnames), [details(i).fieldnames, details(i).fieldtypes] = deal({}); end
    details(i).fieldarraylen = double(found(i).fieldarraylen(:));
    [~, places] = ismember(details(i).fieldtypes, names);
    details(i).places = places;
  end
end
