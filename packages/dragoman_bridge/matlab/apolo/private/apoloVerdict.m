function ret = apoloVerdict(command, names, data)
% Asks what is answered with yes (1) or no (0). Without an answer: empty.
  kind = apoloAsk(command, names, data);
  if isempty(kind)
    ret = [];
  else
    ret = double(kind == 'T');
  end
end
