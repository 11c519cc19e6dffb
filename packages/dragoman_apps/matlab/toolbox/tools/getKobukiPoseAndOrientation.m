function [x, y, theta] = getKobukiPoseAndOrientation(message)
% getKobukiPoseAndOrientation  Position and heading from a message of /odom.
%
%   [x, y, theta] = getKobukiPoseAndOrientation(message)
%
%   x, y      m, relative to the start of the odometry
%   theta     heading, degrees, counterclockwise, more than -180 and up to 180
%
%   Example:
%     [x, y, theta] = getKobukiPoseAndOrientation(robot.receive(odometry, 3));
%
%   See also thetaTo360
  x = message.Pose.Pose.Position.X;
  y = message.Pose.Pose.Position.Y;
  q = message.Pose.Pose.Orientation;
  theta = rad2deg(atan2(2 * (q.W * q.Z + q.X * q.Y), 1 - 2 * (q.Y ^ 2 + q.Z ^ 2)));
end
