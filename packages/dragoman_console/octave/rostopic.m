function found = rostopic(action, name)
% rostopic  For GNU Octave: topics.
%
%   rostopic list
%   rostopic type NAME
%
%   Example:
%     topics = rostopic('list');
%
%   See also rosservice, ros2
  if nargin < 2, name = ''; end
  found = ros2('topic', action, name);
  if nargout == 0
    printf('%s\n', cellstr(found){:});
    clear found
  end
end
