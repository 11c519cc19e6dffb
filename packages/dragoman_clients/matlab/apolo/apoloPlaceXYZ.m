function apoloPlaceXYZ(object, x, y, z, world)
% apoloPlaceXYZ  Places an object upright, without a check for collisions.
%
%   apoloPlaceXYZ(object, x, y, z, world)
%
%   object    name of the object, e.g. 'pieza'
%   x, y, z   position, m
%   world     name of the world; without it the first world that has it
%
%   Example:
%     apoloPlaceXYZ('Pioneer3AT', 1, 1, 1)
%
%   See also apoloPlace
  apoloNeeds(nargin, {'object', 'x', 'y', 'z'});
  if nargin < 5, world = ''; end
  apoloPlace(object, [x y z], [0 0 0], world);
end
