function sendDatagram(link, bytes)
% Sends a datagram.
  if isfield(link, 'number')
    if send(link.number, bytes) < 0
      % The error of the previous datagram, which the system reports once.
      send(link.number, bytes);
    end
  else
    write(link.udp, bytes, 'uint8', link.host, link.port);
  end
end
