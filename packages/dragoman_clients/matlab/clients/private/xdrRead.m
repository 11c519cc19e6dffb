function [value, at] = xdrRead(bytes, at, form, what)
% Reads a value of this form from this place on, in XDR (RFC 4506) with Player's differences.
%
% Forms: 'u32', 'i32', 'u16', 'u8', 'i8', 'flag', 'f32', 'f64', each of four bytes, 'f64' of eight; 'bytes' and 'text',
% padded to four bytes, with their length twice, 'bytes1' once; {'row', form, count} of numbers; {'list', form}, with
% its length twice: a row of numbers, a matrix of rows, or a struct array; {'code', form, {number, name; ...}}, read as
% the name; {'struct', {name, form; ...}}.
  if ischar(form), form = {form}; end
  switch form{1}
    case 'struct'
      value = struct();
      for i = 1:size(form{2}, 1)
        [value.(form{2}{i, 1}), at] = xdrRead(bytes, at, form{2}{i, 2}, what);
      end
    case 'row'
      [value, at] = numbersOf(bytes, at, form{3}, form{2}, what);
    case 'list'
      % Only the second length is used.
      [counts, at] = numbersOf(bytes, at, 2, 'u32', what);
      count = counts(2);
      element = form{2};
      if ischar(element)
        [value, at] = numbersOf(bytes, at, count, element, what);
      elseif strcmp(element{1}, 'row')
        [value, at] = numbersOf(bytes, at, count * element{3}, element{2}, what);
        value = reshape(value, element{3}, count)';
      else
        % An element has four bytes at least.
        cut(bytes, at, 4 * count, what);
        value = cell(1, count);
        for i = 1:count
          [value{i}, at] = xdrRead(bytes, at, element, what);
        end
        value = [value{:}];
      end
    case {'bytes', 'text', 'bytes1'}
      [counts, at] = numbersOf(bytes, at, 2 - strcmp(form{1}, 'bytes1'), 'u32', what);
      [part, at] = cut(bytes, at, 4 * ceil(counts(end) / 4), what);
      value = part(1:counts(end));
      if strcmp(form{1}, 'text')
        % A text that is not empty ends with a NUL.
        value = native2unicode(value(1:find([value, 0] == 0, 1) - 1), 'UTF-8');
      end
    case 'code'
      [number, at] = numbersOf(bytes, at, 1, form{2}, what);
      place = find([form{3}{:, 1}] == number);
      % Numbers without a name are kept, as texts.
      value = sprintf('%d', number);
      if ~isempty(place), value = form{3}{place, 2}; end
    otherwise
      [value, at] = numbersOf(bytes, at, 1, form{1}, what);
  end
end

function [values, at] = numbersOf(bytes, at, count, kind, what)
  width = 4 + 4 * strcmp(kind, 'f64');
  [part, at] = cut(bytes, at, count * width, what);
  % Big-endian: MATLAB and Octave run on little-endian machines only.
  part = reshape(flipud(reshape(part, width, [])), 1, []);
  types = struct('f64', 'double', 'f32', 'single', 'i32', 'int32', 'i8', 'int32');
  type = 'uint32';
  if isfield(types, kind), type = types.(kind); end
  values = double(typecast(part, type));
  switch kind
    case 'flag'
      values = values ~= 0;
    % Only the low bits are used if the type is narrower than the field.
    case 'u16'
      values = mod(values, 65536);
    case 'u8'
      values = mod(values, 256);
    case 'i8'
      values = mod(values + 128, 256) - 128;
  end
end

function [part, at] = cut(bytes, at, count, what)
  if at + count - 1 > numel(bytes)
    fail('badReply', '%s: %g bytes are missing after byte %d', what, at + count - 1 - numel(bytes), numel(bytes));
  end
  part = bytes(at:at + count - 1);
  at = at + count;
end
