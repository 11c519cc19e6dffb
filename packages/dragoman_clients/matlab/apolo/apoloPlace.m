function apoloPlace(object, pos, or, world)
% apoloPlace  Places an object, without a check for collisions.
%
%   apoloPlace(object, pos, or, world)
%
%   object   name of the object, e.g. 'pieza'
%   pos      [x y z], m
%   or       [roll pitch yaw], rad
%   world    name of the world; without it the first world that has it
%
%   Example:
%     apoloPlace('pieza', [1 1 1], [0.5 0 0])
%
%   See also apoloPlaceXYZ, apoloPlaceMRobot, apoloGetLocation
  apoloNeeds(nargin, {'object', 'pos', 'or'});
  if nargin < 4, world = ''; end
  data = [apoloDoubles(pos, 3, 'pos must be a vector of three numbers'), ...
          apoloDoubles(or, 3, 'or must be a vector of three numbers')];
  apoloSend('P', {world, object}, data);
end
