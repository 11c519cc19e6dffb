function client = ros2svcclient(node, service, type, varargin)
% ros2svcclient  For GNU Octave: a client for call.
%
%   client = ros2svcclient(node, service, type)
%
%   node      from ros2node
%   service   name of the service, e.g. '/ranger/stop'
%   type      e.g. 'std_srvs/Trigger'
%
%   Example:
%     client = ros2svcclient(ros2node('my_program'), '/ranger/stop', 'std_srvs/Trigger');
%     response = call(client, ros2message(client), 'Timeout', 5);
%
%   See also call, ros2message
  service = absolute(node, service);
  client = struct('kind', 'client', 'ServiceName', service, 'ServiceType', char(type));
  rosbridge('details', 'service_request', client.ServiceType);
  rosbridge('details', 'service_response', client.ServiceType);
end
