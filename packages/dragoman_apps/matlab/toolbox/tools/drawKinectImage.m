function surface = drawKinectImage(first, second)
% drawKinectImage  Draws the pictures of the Kinect: the colours on a surface of the depths.
%
%   drawKinectImage(color, depth)
%
%   color     message of /camera/rgb/image_color or /camera/rgb/image_mono
%   depth     message of /camera/depth/image
%
%   The thesis does not print the order of the arguments (table A.4): any is accepted, and either may be missing.
%
%   Example:
%     drawKinectImage(robot.receive(color, 3), robot.receive(depth, 3));
%
%   See also readImage
  messages = {first};
  if nargin > 1, messages{2} = second; end
  [color, depth] = deal([]);
  for i = 1:numel(messages)
    picture = readImage(messages{i});
    if size(picture, 3) == 3 || (~isempty(depth) && isempty(color))
      color = picture;
    else
      depth = picture;
    end
  end
  if isempty(depth)
    depth = zeros(size(color, 1), size(color, 2));
  end
  % The first row is at the top.
  heights = double(flipud(depth));
  if isempty(color)
    surface = surf(heights, 'EdgeColor', 'none');
  else
    if size(color, 3) == 1
      color = repmat(color, [1 1 3]);
    end
    surface = surf(heights, double(flip(color, 1)) / 255, 'EdgeColor', 'none');
  end
  view(2);
end
