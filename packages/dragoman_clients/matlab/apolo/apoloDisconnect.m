function apoloDisconnect()
% apoloDisconnect  Closes the connection to Apolo.
%
%   apoloDisconnect
%
%   The next function connects again, to the same host and port.
%
%   See also apoloConnect
  apoloLink('drop');
end
