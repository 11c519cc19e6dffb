function apoloSend(command, names, data)
% Sends a request that is never answered.
  frame = apoloFrame(command, names, data);
  try
    write(apoloLink('get'), frame);
  catch
    % The connection was lost in the meantime: the request has not been carried out.
    apoloLink('drop');
    write(apoloLink('get'), frame);
  end
end
