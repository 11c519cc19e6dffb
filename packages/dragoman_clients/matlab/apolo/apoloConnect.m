function apoloConnect(host, port, timeout)
% apoloConnect  Connects to Apolo, or to a server that speaks its protocol.
%
%   apoloConnect(host, port, timeout)
%
%   host      name or address; default: environment variable APOLO_HOST, or else '127.0.0.1'
%   port      TCP port; default: environment variable APOLO_PORT, or else 12000
%   timeout   time limit of an answer in seconds; default: 5
%
%   All functions share one connection. They open it when needed, so this function is only necessary for another server.
%   An existing connection is closed first. After a connection was lost, the next function connects again, to the same
%   host and port.
%
%   Example:
%     apoloConnect('192.168.1.20')
%
%   See also apoloDisconnect, examples
  if nargin < 1, host = ''; end
  if nargin < 2, port = []; end
  if nargin < 3, timeout = []; end
  apoloLink('connect', char(host), port, timeout);
end
