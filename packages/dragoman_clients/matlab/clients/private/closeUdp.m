function closeUdp(link)
% Gives the port back. In MATLAB it ends with its last variable.
  if isfield(link, 'number'), disconnect(link.number); end
end
