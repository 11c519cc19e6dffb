function theta = thetaTo360(theta)
% thetaTo360  An angle from -180 to 180 degrees as one from 0 to 360.
%
%   theta = thetaTo360(theta)
%
%   Example:
%     thetaTo360(-90)      % 270
%
%   See also getKobukiPoseAndOrientation
  theta = mod(theta, 360);
end
