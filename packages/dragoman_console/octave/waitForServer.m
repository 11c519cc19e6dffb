function [isThere, status, statusText] = waitForServer(client, varargin)
% waitForServer  For GNU Octave: waits until a service is there.
%
%   isThere = waitForServer(client, 'Timeout', seconds)
%
%   client    from ros2svcclient
%   seconds   default: 60
%
%   Example:
%     waitForServer(client, 'Timeout', 5);
%
%   See also ros2svcclient, call
  timeout = 60;
  if numel(varargin) == 2, timeout = varargin{2}; end
  began = tic;
  while true
    found = rosbridge('service', '/rosapi/services', struct(), 10).services;
    isThere = any(strcmp(client.ServiceName, found));
    if isThere || toc(began) >= timeout, break, end
    pause(0.1);
  end
  status = isThere;
  statusText = '';
  if ~isThere, statusText = sprintf('%s is not there', client.ServiceName); end
end
