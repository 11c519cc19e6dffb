function image = readImage(message)
% readImage  The picture of an image message, as the function of the Robotics System Toolbox.
%
%   image = readImage(message)
%
%   message   of robot.receive for an image topic
%   image     height x width (x 3 for colours); /camera/depth/image has grey values, near is bright
%
%   Example:
%     image = readImage(robot.receive(depth, 3));
%     line = image(240, :);
%
%   See also drawKinectImage
  [height, width] = deal(double(message.Height), double(message.Width));
  switch message.Encoding
    case {'mono8', '8UC1'}
      image = reshape(message.Data, width, height)';
    case {'rgb8', 'bgr8'}
      image = permute(reshape(message.Data, 3, width, height), [3 2 1]);
      if strcmp(message.Encoding, 'bgr8')
        image = image(:, :, [3 2 1]);
      end
    case '32FC1'
      image = reshape(typecast(uint8(message.Data(:)), 'single'), width, height)';
    case '16UC1'
      image = reshape(typecast(uint8(message.Data(:)), 'uint16'), width, height)';
    otherwise
      error('readImage:encoding', 'unknown encoding %s', message.Encoding);
  end
end
