function grey = greyFromDepth(depth)
% greyFromDepth  Grey values from depths; near is bright.
%
%   grey = greyFromDepth(depth)
%
%   depth   m along the optical axis; NaN or 0 where nothing was measured
%   grey    255 at 0.4 m and nearer, 0 at 4.5 m, farther, and where nothing was measured
%
%   The simulator's picture in the thesis is linear in the depth; we use the Kinect's range as its limits. Its
%   threshold of 120 is then 2.57 m.
%
%   Example:
%     greyFromDepth([0.4 2.57 4.5 NaN])
%
%   See also navigateTargets
  depth = double(depth);
  grey = 255 * max(0, min(1, (4.5 - depth) / (4.5 - 0.4)));
  grey(~isfinite(depth) | depth <= 0) = 0;
end
