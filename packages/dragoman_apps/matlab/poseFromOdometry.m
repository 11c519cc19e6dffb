function [x, y, theta] = poseFromOdometry(message)
% poseFromOdometry  Position and heading from an odometry message.
%
%   [x, y, theta] = poseFromOdometry(message)
%
%   message   nav_msgs/Odometry, as returned by receive for /odom
%   x, y      position of the base relative to the start of its odometry, m
%   theta     heading, counterclockwise, in degrees, more than -180 and up to 180
%
%   Example:
%     [x, y, theta] = poseFromOdometry(receive(odometry, 1));
%
%   See also firstProgram, carryCube, navigateTargets
  x = message.pose.pose.position.x;
  y = message.pose.pose.position.y;
  q = message.pose.pose.orientation;
  % On a floor only the rotation about the vertical matters.
  theta = rad2deg(atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y ^ 2 + q.z ^ 2)));
end
