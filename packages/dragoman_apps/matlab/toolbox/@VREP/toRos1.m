function message = toRos1(message)
% toRos1  A message of ROS 2 with the field names of ROS 1 in MATLAB: is_bigendian becomes IsBigendian.
  if ~isstruct(message)
    return
  end
  names = fieldnames(message);
  converted = cell(numel(names), numel(message));
  for i = 1:numel(names)
    for k = 1:numel(message)
      converted{i, k} = VREP.toRos1(message(k).(names{i}));
    end
  end
  message = reshape(cell2struct(converted, cellfun(@capitalized, names, 'UniformOutput', false), 1), size(message));
end

function name = capitalized(name)
  if strcmp(name, 'nanosec')
    name = 'Nsec';
    return
  end
  words = strsplit(name, '_');
  words = words(~cellfun(@isempty, words));
  words = cellfun(@(word) [upper(word(1)) word(2:end)], words, 'UniformOutput', false);
  name = [words{:}];
end
