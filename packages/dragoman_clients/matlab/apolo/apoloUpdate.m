function apoloUpdate(world)
% apoloUpdate  Updates the display of a world.
%
%   apoloUpdate(world)
%
%   world    name of the world; without it all worlds
%
%   Example:
%     apoloUpdate('World1')
%     apoloUpdate
  if nargin < 1, world = ''; end
  apoloSend('U', {world}, []);
end
