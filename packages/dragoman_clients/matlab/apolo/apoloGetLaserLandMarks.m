function ret = apoloGetLaserLandMarks(laser, world)
% apoloGetLaserLandMarks  The landmarks that a laser sees.
%
%   ret = apoloGetLaserLandMarks(laser, world)
%
%   laser    name of the laser, e.g. 'LMS100'
%   world    name of the world; without it the first world that has it
%   ret      structure of three row vectors with one element for each landmark: id; angle, rad, counter-clockwise from
%            straight ahead; distance, m. All are empty if there is none, or the name is unknown.
%
%   Example:
%     marks = apoloGetLaserLandMarks('LMS100');
%     for i = 1:length(marks.id)
%       fprintf('%d: %g rad, %g m\n', marks.id(i), marks.angle(i), marks.distance(i));
%     end
%
%   See also apoloGetLaserData
  apoloNeeds(nargin, {'laser'});
  if nargin < 2, world = ''; end
  [kind, payload] = apoloAsk('B', {world, laser}, []);
  ret = struct('id', zeros(1, 0), 'angle', zeros(1, 0), 'distance', zeros(1, 0));
  if isempty(kind) || kind ~= 'b'
    return
  end
  count = floor((numel(payload) - 2) / 18);
  marks = reshape(payload(3:2 + 18 * count), 18, count);
  ret.id = double(marks(1, :)) + 256 * double(marks(2, :));
  ret.angle = typecast(reshape(marks(3:10, :), 1, []), 'double');
  ret.distance = typecast(reshape(marks(11:18, :), 1, []), 'double');
end
