function out = inflate(bytes, count, what)
% Decompresses a zlib stream (RFC 1950, 1951) to this many bytes. MATLAB has this in Java only, Octave not at all.
  if numel(bytes) < 6 || mod(bytes(1), 16) ~= 8 || mod(256 * double(bytes(1)) + double(bytes(2)), 31) ~= 0 ...
      || bitand(bytes(2), 32) ~= 0
    broken(what);
  end
  data = [bytes(3:end - 4), zeros(1, 8, 'uint8')];
  bits = reshape(bitget(repmat(data, 8, 1), repmat(uint8(1:8)', 1, numel(data))), 1, []);
  % window(i) has the 16 bits from bit i on: codes and numbers are looked up, not read bit by bit.
  last = numel(bits) - 64;
  window = zeros(1, last + 48, 'uint16');
  for i = 0:15
    window = bitor(window, bitshift(uint16(bits(1 + i:last + 48 + i)), i));
  end
  lengths = [3:10, 11:2:17, 19:4:31, 35:8:59, 67:16:115, 131:32:227, 258];
  lengthBits = [zeros(1, 8), reshape(repmat(1:5, 4, 1), 1, []), 0];
  distanceBits = [0 0, reshape(repmat(0:13, 2, 1), 1, [])];
  distances = cumsum([1, 2 .^ distanceBits(1:29)]);
  out = zeros(1, count, 'uint8');
  done = 0;
  at = 1;
  isLast = false;
  while ~isLast
    if at > last, broken(what); end
    head = double(window(at));
    isLast = mod(head, 2) == 1;
    kind = mod(floor(head / 2), 4);
    at = at + 3;
    if kind == 0
      start = ceil((at - 1) / 8);
      if 8 * start + 32 > last, broken(what); end
      size = double(data(start + 1:start + 2)) * [1; 256];
      complement = double(data(start + 3:start + 4)) * [1; 256];
      start = start + 4;
      if complement ~= 65535 - size || 8 * (start + size) > last || done + size > count, broken(what); end
      out(done + 1:done + size) = data(start + 1:start + size);
      done = done + size;
      at = 8 * (start + size) + 1;
      continue
    elseif kind == 1
      [symbols, widths] = codes([8 * ones(1, 144), 9 * ones(1, 112), 7 * ones(1, 24), 8 * ones(1, 8)], what);
      [ways, wayWidths] = codes(5 * ones(1, 30), what);
    elseif kind == 2
      [sizes, split, at] = codeLengths(window, at, last, what);
      [symbols, widths] = codes(sizes(1:split), what);
      [ways, wayWidths] = codes(sizes(split + 1:end), what);
    else
      broken(what);
    end
    while true
      if at > last, broken(what); end
      peek = mod(double(window(at)), 32768) + 1;
      width = widths(peek);
      if width == 0, broken(what); end
      at = at + width;
      symbol = symbols(peek);
      if symbol < 256
        if done == count, broken(what); end
        done = done + 1;
        out(done) = symbol;
      elseif symbol == 256
        break
      else
        if symbol > 285 || at > last, broken(what); end
        extra = lengthBits(symbol - 256);
        size = lengths(symbol - 256) + mod(double(window(at)), 2 ^ extra);
        at = at + extra;
        if at > last, broken(what); end
        peek = mod(double(window(at)), 32768) + 1;
        if wayWidths(peek) == 0, broken(what); end
        at = at + wayWidths(peek);
        symbol = ways(peek) + 1;
        if symbol > 30 || at > last, broken(what); end
        distance = distances(symbol) + mod(double(window(at)), 2 ^ distanceBits(symbol));
        at = at + distanceBits(symbol);
        if distance > done || done + size > count, broken(what); end
        % A copy may overlap with itself.
        out(done + 1:done + size) = out(done - distance + 1 + mod(0:size - 1, distance));
        done = done + size;
      end
    end
  end
  if at - 1 > last || done ~= count || checksum(out) ~= double(bytes(end - 3:end)) * [2^24; 2^16; 256; 1]
    broken(what);
  end
end

function [sizes, split, at] = codeLengths(window, at, last, what)
% The lengths of a dynamic block's codes: those of literals and lengths, from split + 1 on those of distances.
  if at + 14 > last, broken(what); end
  head = double(window(at));
  split = mod(head, 32) + 257;
  total = split + mod(floor(head / 32), 32) + 1;
  count = mod(floor(head / 1024), 16) + 4;
  at = at + 14;
  if at + 3 * count > last, broken(what); end
  order = [16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15] + 1;
  sizes = zeros(1, 19);
  sizes(order(1:count)) = mod(double(window(at + 3 * (0:count - 1))), 8);
  at = at + 3 * count;
  [symbols, widths] = codes(sizes, what);
  sizes = zeros(1, 0);
  [bits, least] = deal([2 3 7], [3 3 11]);
  while numel(sizes) < total
    if at > last, broken(what); end
    peek = mod(double(window(at)), 32768) + 1;
    if widths(peek) == 0, broken(what); end
    at = at + widths(peek);
    symbol = symbols(peek);
    if symbol < 16
      sizes(end + 1) = symbol; %#ok<AGROW>
    else
      if at > last || (symbol == 16 && isempty(sizes)), broken(what); end
      repeats = least(symbol - 15) + mod(double(window(at)), 2 ^ bits(symbol - 15));
      at = at + bits(symbol - 15);
      value = 0;
      if symbol == 16, value = sizes(end); end
      sizes = [sizes, value * ones(1, repeats)]; %#ok<AGROW>
    end
  end
  if numel(sizes) > total, broken(what); end
end

function [symbols, widths] = codes(sizes, what)
% Symbol and width of the code that begins each sequence of 15 bits, its first bit the lowest; width 0: no code.
  symbols = zeros(1, 32768);
  widths = zeros(1, 32768);
  code = 0;
  for width = 1:15
    for symbol = find(sizes == width)
      if code >= 2 ^ width, broken(what); end
      first = sum(bitget(code, width:-1:1) .* 2 .^ (0:width - 1));
      symbols(first + 1:2 ^ width:end) = symbol - 1;
      widths(first + 1:2 ^ width:end) = width;
      code = code + 1;
    end
    code = 2 * code;
  end
end

function sum32 = checksum(bytes)
% Adler-32 (RFC 1950).
  [a, b] = deal(1, 0);
  for start = 1:65536:numel(bytes)
    part = double(bytes(start:min(start + 65535, end)));
    count = numel(part);
    b = mod(b + count * a + (count:-1:1) * part', 65521);
    a = mod(a + sum(part), 65521);
  end
  sum32 = 65536 * b + a;
end

function broken(what)
  fail('badReply', '%s: the compressed bytes are damaged', what);
end
