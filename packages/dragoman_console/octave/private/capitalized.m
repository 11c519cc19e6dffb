function name = capitalized(name)
% The name that MATLAB gives a field in ROS 1: is_bigendian is IsBigendian.
  if any(strcmp(name, {'nanosec', 'MessageType'}))
    if strcmp(name, 'nanosec'), name = 'Nsec'; end
    return
  end
  words = strsplit(name, '_');
  words = words(~cellfun(@isempty, words));
  words = cellfun(@(word) [upper(word(1)) word(2:end)], words, 'UniformOutput', false);
  name = [words{:}];
end
