function bytes = xdrWrite(form, value, what)
% The bytes of a value of this form; see xdrRead. A structure is a struct, or a cell array of its values.
  if ischar(form), form = {form}; end
  switch form{1}
    case 'struct'
      names = form{2}(:, 1);
      parts = cell(1, numel(names));
      for i = 1:numel(names)
        if iscell(value)
          field = value{i};
        elseif isstruct(value) && isscalar(value) && isfield(value, names{i})
          field = value.(names{i});
        else
          fail('badArgument', '%s must be a struct with %s', what, strjoin(names', ', '));
        end
        parts{i} = xdrWrite(form{2}{i, 2}, field, names{i});
      end
      bytes = [zeros(1, 0, 'uint8'), parts{:}];
    case 'row'
      if ~isnumeric(value) || numel(value) ~= form{3}
        fail('badArgument', '%s must have %d finite numbers', what, form{3});
      end
      bytes = bytesOf(value, form{2}, what);
    case 'list'
      bytes = listOf(form, value, what);
    case 'bytes'
      if ~isnumeric(value) || ~all(value(:) == fix(value(:)) & value(:) >= 0 & value(:) <= 255)
        fail('badArgument', '%s must be bytes', what);
      end
      bytes = opaque(uint8(value(:)'));
    case 'text'
      if ~(ischar(value) || isa(value, 'string')), fail('badArgument', '%s must be a text', what); end
      data = reshape(uint8(unicode2native(char(value), 'UTF-8')), 1, []);
      most = 4096;
      if numel(form) > 1, most = form{2}; end
      if numel(data) > most, fail('badArgument', '%s must have at most %d bytes', what, most); end
      if any(data == 0), fail('badArgument', '%s contains a NUL', what); end
      if ~isempty(data), data(end + 1) = 0; end
      bytes = opaque(data);
    case 'code'
      if ischar(value) || isa(value, 'string')
        place = find(strcmp(form{3}(:, 2), char(value)));
        if isempty(place)
          fail('badArgument', '%s must be one of %s', what, strjoin(form{3}(:, 2)', ', '));
        end
        value = form{3}{place, 1};
      end
      bytes = bytesOf(value, form{2}, what);
    otherwise
      if numel(value) ~= 1, fail('badArgument', '%s must be one number', what); end
      bytes = bytesOf(value, form{1}, what);
  end
end

function bytes = listOf(form, value, what)
  element = form{2};
  if ischar(element)
    count = numel(value);
    parts = {bytesOf(value, element, what)};
  elseif strcmp(element{1}, 'row')
    if ~isnumeric(value) || ~(isempty(value) || size(value, 2) == element{3})
      fail('badArgument', '%s must have rows of %d numbers', what, element{3});
    end
    count = size(value, 1);
    parts = {bytesOf(value', element{2}, what)};
  else
    count = numel(value);
    parts = cell(1, count);
    for i = 1:count
      parts{i} = xdrWrite(element, value(i), sprintf('%s(%d)', what, i));
    end
  end
  if numel(form) > 2 && count > form{3}, fail('badArgument', '%s must have at most %d elements', what, form{3}); end
  bytes = [bytesOf([count count], 'u32', what), parts{:}];
end

function bytes = opaque(data)
  count = numel(data);
  bytes = [bytesOf([count count], 'u32', ''), data, zeros(1, mod(-count, 4), 'uint8')];
end

function bytes = bytesOf(values, kind, what)
  if strcmp(kind, 'flag')
    if ~all(values(:) == 0 | values(:) == 1), fail('badArgument', '%s must be true or false', what); end
    values = uint32(values);
  else
    if ~isnumeric(values) || ~isreal(values) || ~all(isfinite(values(:)))
      fail('badArgument', '%s must have finite numbers', what);
    end
    values = double(values);
    switch kind
      case 'f64'
      case 'f32'
        values = single(values);
        if ~all(isfinite(values(:))), fail('badArgument', '%s is too large', what); end
      otherwise
        limits = struct('u32', [0, 2^32 - 1], 'i32', [-2^31, 2^31 - 1], 'u16', [0 65535], 'u8', [0 255], ...
                        'i8', [-128 127]);
        for one = values(:)'
          whole(one, what, limits.(kind)(1), limits.(kind)(2));
        end
        values = int32(values - 2^32 * (values >= 2^31));
    end
  end
  width = 4 + 4 * strcmp(kind, 'f64');
  bytes = reshape(flipud(reshape(typecast(values(:)', 'uint8'), width, [])), 1, []);
end
