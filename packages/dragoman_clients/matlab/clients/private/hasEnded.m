function ended = hasEnded(link, host, port)
% Whether the server closed the connection while nothing was asked.
  try
    % What comes unasked belongs to no question.
    receiveBytes(link, 1e-3, host, port);
    ended = false;
  catch
    ended = true;
  end
end
