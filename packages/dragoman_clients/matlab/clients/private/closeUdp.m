function closeUdp(link)
% Closes the port. MATLAB closes it with its last variable.
  if isfield(link, 'number'), disconnect(link.number); end
end
