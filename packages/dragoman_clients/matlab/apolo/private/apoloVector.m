function values = apoloVector(command, names)
% Asks a question whose answer is a vector: a row. Unknown names, or no answer: empty.
  values = [];
  [kind, payload] = apoloAsk(command, names, []);
  if isempty(kind) || kind ~= 'D' || numel(payload) < 10
    return
  end
  values = typecast(payload(3:end), 'double');
end
