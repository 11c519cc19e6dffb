function [x, y, theta] = poseFromOdometry(message)
% poseFromOdometry  Position and heading out of a message of the odometry.
%
%   [x, y, theta] = poseFromOdometry(message)
%
%   message   nav_msgs/Odometry, as receive gives it for /odom
%   x, y      where the base is, seen from where its odometry began, m
%   theta     heading, counterclockwise, in degrees, more than -180 and up to 180
%
%   Example:
%     [x, y, theta] = poseFromOdometry(receive(odometry, 1));
%
%   See also firstProgram, carryCube, navigateTargets
  x = message.pose.pose.position.x;
  y = message.pose.pose.position.y;
  q = message.pose.pose.orientation;
  % Only the rotation about the vertical counts on a floor.
  theta = rad2deg(atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y ^ 2 + q.z ^ 2)));
end
