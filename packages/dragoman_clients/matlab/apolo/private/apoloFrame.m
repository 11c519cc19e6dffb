function frame = apoloFrame(command, names, data)
% The bytes of a request: 'aa', size, command, names, data.
  payload = zeros(1, 0, 'uint8');
  for i = 1:numel(names)
    name = names{i};
    if ~(ischar(name) || isa(name, 'string')) || numel(char(name)) > 254
      error('apolo:name', 'a name is a text of at most 254 characters');
    end
    name = reshape(uint8(char(name)), 1, []);
    if isempty(name)
      payload = [payload, uint8(0)]; %#ok<AGROW>
    else
      payload = [payload, uint8(numel(name) + 1), name, uint8(0)]; %#ok<AGROW>
    end
  end
  payload = [payload, reshape(uint8(data), 1, [])];
  len = numel(payload) + 5;
  frame = [uint8('aa'), uint8(mod(len, 256)), uint8(floor(len / 256)), uint8(command), payload];
end
