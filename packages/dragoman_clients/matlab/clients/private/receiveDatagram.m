function bytes = receiveDatagram(link, seconds)
% The next datagram as a row. Empty: none within this time, or an empty one.
  bytes = zeros(1, 0, 'uint8');
  began = tic;
  while true
    if isfield(link, 'number')
      [data, count] = recv(link.number, 2000, MSG_DONTWAIT);
      if count >= 0
        bytes = reshape(uint8(data), 1, []);
        return
      end
    elseif link.udp.NumDatagramsAvailable > 0
      datagram = read(link.udp, 1, 'uint8');
      bytes = reshape(uint8(datagram.Data), 1, []);
      return
    end
    if toc(began) >= seconds, return, end
    pause(0.001);
  end
end
