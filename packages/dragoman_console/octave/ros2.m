function found = ros2(what, action, name)
% ros2  For GNU Octave: topics, services and nodes.
%
%   ros2 topic list
%   ros2 topic type NAME
%   ros2 service list
%   ros2 service type NAME
%   ros2 node list
%   list = ros2('topic', 'list')
%
%   Example:
%     ros2 topic list
%
%   See also ros2subscriber, ros2svcclient
  if nargin < 3, name = ''; end
  what = lower(what);
  if ~any(strcmp(what, {'topic', 'service', 'node'})), error('ros2:command', 'unknown: ros2 %s', what); end
  if strcmp(action, 'list')
    % A topic of two types is listed for each.
    found = unique(rosbridge('service', sprintf('/rosapi/%ss', what), struct(), 10).([what 's']));
  elseif strcmp(action, 'type') && ~strcmp(what, 'node')
    found = rosbridge('service', sprintf('/rosapi/%s_type', what), struct(what, name), 10).type;
    if isempty(found), error('ros2:unknown', 'there is no %s %s', what, name); end
  else
    error('ros2:command', 'unknown: ros2 %s %s', what, action);
  end
  if nargout == 0
    if ischar(found), found = {found}; end
    printf('%s\n', found{:});
    clear found
  end
end
