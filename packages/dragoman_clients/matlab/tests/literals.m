% Bodies of Player's messages as the original writes them, read and written again: the same bytes. FILE of the
% environment: tests/player/literals.txt of dragoman_bridge. And tiles of maps that are damaged.
1;

function all = literals()
  all = containers.Map();
  for line = strsplit(fileread(getenv('FILE')), "\n")
    line = line{1};
    if strncmp(line, '    ', 4)
      all(key) = [all(key), uint8(hex2dec(reshape(strtrim(line), 2, [])'))'];
    elseif ~isempty(line) && line(1) ~= '#'
      key = line;
      all(key) = zeros(1, 0, 'uint8');
    end
  end
end

function check(key, form, bytes)
  value = Player.decoded(form, bytes);
  found = Player.encoded(form, value);
  if ~isequal(found, bytes), error('%s is written as %s', key, sprintf('%02x', found)); end
end

known = literals();
messages = Player.messages();
read = {};
for name = fieldnames(messages)'
  interface = messages.(name{1});
  label = name{1};
  if strcmp(label, 'property'), label = 'properties'; end
  if isfield(interface, 'data')
    for i = 1:size(interface.data, 1)
      key = sprintf('%s data %d', label, interface.data{i, 1});
      check(key, interface.data{i, 3}, known(key));
      read{end + 1} = key;
    end
  end
  for one = setdiff(fieldnames(interface), {'code', 'data'})'
    message = interface.(one{1});
    kinds = {'', 'command', 'request'};
    key = sprintf('%s %s %d', label, kinds{message.kind}, message.number);
    if ~isKey(known, key) || strcmp(key, 'map request 2'), continue, end
    % A literal is a question's, or an answer's if the question has nothing.
    forms = {message.form, message.answer};
    forms = forms(~cellfun(@(form) isempty(form) || isempty(form{2}), forms));
    check(key, forms{1}, known(key));
    read{end + 1} = key;
  end
end
left = setdiff(keys(known), [read, {'map request 2'}]);
if ~isempty(left), error('left out: %s', strjoin(left, ', ')); end

% What the numbers mean, once: place k of a message has the value k, with a fraction.
state = Player.decoded(messages.position2d.data{1, 3}, known('position2d data 1'));
assert(isequal(state.pose, [1.25 -2.5 3.75]) && isequal(state.velocity, [-4 5.25 -6.5]) && state.isStalled);
power = Player.decoded(messages.power.data{1, 3}, known('power data 1'));
assert(power.volts == -2.5 && power.watts == 5.25 && strcmp(power.charging, 'receiving'));

% Twelve bytes from 0 on, in a block with fixed codes and in a stored one. A lab's map has blocks with their own codes.
packed = uint8([120 156 99 96 100 98 102 97 101 99 231 224 228 226 6 0 1 42 0 67]);
answer = struct('column', 1, 'row', 2, 'width', 4, 'height', 3, 'valueRange', 100, 'cells', packed);
stored = uint8([120 1 1 12 0 243 255 0 1 2 3 4 5 6 7 8 9 10 11 1 42 0 67]);
for cells = {packed, stored}
  tile = Player.tileOf(setfield(answer, 'cells', cells{1}));
  assert(isequal(tile.cells, reshape(0:11, 4, 3)'));
end
for damage = {packed(1:end - 1), [packed(1:5), 0, packed(7:end)], uint8([1 2 3]), packed(1:end - 5)}
  try
    Player.tileOf(setfield(answer, 'cells', damage{1}));
    error('test:taken', 'a damaged tile was taken');
  catch problem
    if ~strcmp(problem.identifier, 'dragoman:badReply'), rethrow(problem); end
  end
end
printf('literals %d\n', numel(read));
