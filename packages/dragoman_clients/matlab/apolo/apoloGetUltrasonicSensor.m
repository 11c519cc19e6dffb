function ret = apoloGetUltrasonicSensor(sensor, world)
% apoloGetUltrasonicSensor  Range of one ultrasonic sensor.
%
%   ret = apoloGetUltrasonicSensor(sensor, world)
%
%   sensor   name of the sensor, e.g. 'uc0'
%   world    name of the world; without it the first world that has it
%   ret      range in m; empty if the name is unknown
%
%   Example:
%     apoloGetUltrasonicSensor('uc0')
%
%   See also apoloGetAllultrasonicSensors
  apoloNeeds(nargin, {'sensor'});
  if nargin < 2, world = ''; end
  ret = apoloVector('u', {world, sensor});
end
