function bytes = receiveBytes(link, seconds, host, port)
% Received bytes as a row; waits for the first one. Empty: none within this time.
  bytes = zeros(1, 0, 'uint8');
  try
    if link.NumBytesAvailable == 0
      link.Timeout = max(seconds, 1e-3);
      bytes = reshape(uint8(read(link, 1)), 1, []);
    end
    count = link.NumBytesAvailable;
    if count > 0
      bytes = [bytes, reshape(uint8(read(link, count)), 1, [])];
    end
  catch problem
    fail('connectionLost', '%s:%d closed the connection: %s', host, port, problem.message);
  end
end
