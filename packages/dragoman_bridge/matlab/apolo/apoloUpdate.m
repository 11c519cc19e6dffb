function apoloUpdate(world)
% apoloUpdate  Brings what is shown of a world up to date.
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
