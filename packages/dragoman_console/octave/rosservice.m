function found = rosservice(action, name)
% rosservice  For GNU Octave: services.
%
%   rosservice list
%   rosservice type NAME
%
%   Example:
%     services = rosservice('list');
%
%   See also rostopic, ros2
  if nargin < 2, name = ''; end
  found = ros2('service', action, name);
  if nargout == 0
    printf('%s\n', cellstr(found){:});
    clear found
  end
end
