function [response, status, statusText] = call(client, request, varargin)
% call  For GNU Octave: calls a service, and waits for its response.
%
%   response = call(client)
%   response = call(client, request, 'Timeout', seconds)
%   [response, status, statusText] = call(...)
%
%   client    from ros2svcclient
%   request   from ros2message(client); without it an empty one
%   seconds   default: 60
%
%   Without a response in time there is an error, or with two results status is false.
%
%   Example:
%     response = call(client, request, 'Timeout', 5);
%
%   See also ros2svcclient
  if ~isstruct(client) || ~strcmp(client.kind, 'client')
    error('ros2:client', 'the first argument is no service client');
  end
  if nargin < 2, request = struct(); end
  timeout = 60;
  if numel(varargin) == 2 && strcmpi(varargin{1}, 'Timeout'), timeout = varargin{2}; end
  details = rosbridge('details', 'service_request', client.ServiceType);
  arguments = toJson(request, details, 1, client.ServiceName, isfield(client, 'isRos1'));
  [response, status, statusText] = deal([], true, '');
  try
    found = rosbridge('service', client.ServiceName, arguments, timeout, client.ServiceType);
  catch problem
    [status, statusText] = deal(false, problem.message);
    if nargout < 2, rethrow(problem); end
    return
  end
  response = fromJson(found, rosbridge('details', 'service_response', client.ServiceType), 1);
  response.MessageType = [client.ServiceType 'Response'];
  if isfield(client, 'isRos1'), response = withCapitals(response); end
end
