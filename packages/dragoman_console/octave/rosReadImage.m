function image = rosReadImage(message)
% rosReadImage  For GNU Octave: the picture of a sensor_msgs/Image.
%
%   image = rosReadImage(message)
%
%   message   from receive
%   image     rows x columns, for colours x 3: red, green, blue. Its class is the encoding's: uint8, uint16, single
%
%   Example:
%     depth = rosReadImage(receive(camera, 3));
%
%   See also receive
  kinds = {'mono8', 'uint8', 1; '8UC1', 'uint8', 1; 'rgb8', 'uint8', 3; 'bgr8', 'uint8', 3; '8UC3', 'uint8', 3
           'rgba8', 'uint8', 4; 'bgra8', 'uint8', 4; 'mono16', 'uint16', 1; '16UC1', 'uint16', 1; '32FC1', 'single', 1};
  row = find(strcmp(kinds(:, 1), message.encoding));
  if isempty(row), error('ros2:encoding', 'unknown encoding ''%s''', message.encoding); end
  [kind, channels] = kinds{row, 2:3};
  [height, width] = deal(double(message.height), double(message.width));
  bytes = numel(typecast(cast(0, kind), 'uint8'));
  % Rows may have bytes after their last pixel.
  rows = reshape(message.data, double(message.step), height);
  rows = rows(1:width * channels * bytes, :);
  values = typecast(rows(:), kind);
  if message.is_bigendian, values = swapbytes(values); end
  image = permute(reshape(values, channels, width, height), [3 2 1]);
  if strncmp(message.encoding, 'bgr', 3), image = image(:, :, [3 2 1]); end
  if channels == 4, image = image(:, :, 1:3); end
end
