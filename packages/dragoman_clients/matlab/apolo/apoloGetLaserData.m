function ret = apoloGetLaserData(laser, world)
% apoloGetLaserData  One scan of a laser.
%
%   ret = apoloGetLaserData(laser, world)
%
%   laser    name of the laser, e.g. 'LMS100'
%   world    name of the world; without it the first world that has it
%   ret      ranges in m, one for each beam, counter-clockwise from the first; empty if the name is unknown
%
%   Example:
%     plot(apoloGetLaserData('LMS100'))
%
%   See also apoloGetLaserLandMarks
  apoloNeeds(nargin, {'laser'});
  if nargin < 2, world = ''; end
  ret = apoloVector('l', {world, laser});
end
