function message = withCapitals(message)
% A message with the names that MATLAB gives fields in ROS 1.
  if ~isstruct(message), return, end
  names = fieldnames(message);
  values = cell(numel(names), numel(message));
  for i = 1:numel(names)
    for k = 1:numel(message)
      values{i, k} = withCapitals(message(k).(names{i}));
    end
  end
  capitals = cellfun(@capitalized, names, 'UniformOutput', false);
  message = reshape(cell2struct(values, capitals, 1), size(message));
end
