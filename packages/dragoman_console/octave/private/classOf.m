function name = classOf(type)
% MATLAB's class of a primitive type of ROS.
  switch type
    case {'bool', 'boolean'}
      name = 'logical';
    case 'float64'
      name = 'double';
    case 'float32'
      name = 'single';
    case {'byte', 'octet', 'char'}
      name = 'uint8';
    otherwise
      name = type;
  end
end
