function ret = apoloVerdict(command, names, data)
% Asks a question whose answer is yes (1) or no (0). Without an answer: empty.
  kind = apoloAsk(command, names, data);
  if isempty(kind)
    ret = [];
  else
    ret = double(kind == 'T');
  end
end
