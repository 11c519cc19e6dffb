function ended = hasEnded(link, host, port)
% Whether the server closed the connection between two calls.
  try
    % Bytes received between two calls belong to no question.
    receiveBytes(link, 1e-3, host, port);
    ended = false;
  catch
    ended = true;
  end
end
