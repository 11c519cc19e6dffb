function [client, request] = rossvcclient(service, varargin)
% rossvcclient  For GNU Octave: a service client of MATLAB's for ROS 1, for call, and an empty request.
%
%   [client, request] = rossvcclient(service)
%   [client, request] = rossvcclient(service, type)
%
%   service   name of the service, e.g. '/ranger/stop'
%   type      e.g. 'std_srvs/Trigger'; without it the service's own
%
%   Example:
%     [client, request] = rossvcclient('/ranger/stop');
%     response = call(client, request, 'Timeout', 5);
%
%   See also rosinit, rosmessage, call
  if mod(numel(varargin), 2) == 1
    type = varargin{1};
  else
    type = typeOf('service', char(service));
  end
  client = ros2svcclient(ros2node('octave'), service, type);
  client.isRos1 = true;
  if nargout > 1, request = rosmessage(client); end
end
