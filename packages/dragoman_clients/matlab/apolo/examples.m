% The examples of Apolo's manual, one after the other.
%
%   examples
%
% They need a world with the arm 'Puma560', the wheeled robots 'Neo' and 'Pioneer3AT', and the object 'pieza'. The
% environment variables APOLO_HOST and APOLO_PORT, or apoloConnect, set the server's address.

disp('apoloCheckRobotJoints')
res = apoloCheckRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1');
if res == 1
  disp('Puma560 would collide');
else
  disp('Puma560 would not collide');
end

disp('apoloGetLocation')
apoloGetLocation('pieza')

disp('apoloGetLocationMRobot')
apoloGetLocationMRobot('Neo')

disp('apoloMoveMRobot')
apoloMoveMRobot('Pioneer3AT', [0.1 0.0], 0.1)
apoloUpdate

disp('apoloPlace')
apoloPlace('pieza', [1 1 1], [0.5 0 0])

disp('apoloPlaceMRobot')
apoloPlaceMRobot('Pioneer3AT', [0.7 0.7 0], 0.23)

disp('apoloPlaceXYZ')
apoloPlaceXYZ('Pioneer3AT', 1, 1, 1)

disp('apoloSetRobotJoints')
apoloSetRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1');

disp('apoloUpdate')
apoloUpdate('World1')
apoloUpdate

% Updates have no answer: one more question ensures that all were carried out.
apoloGetLocation('pieza');
