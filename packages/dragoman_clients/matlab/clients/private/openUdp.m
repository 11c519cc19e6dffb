function link = openUdp(host, port)
% A port that sends to one address.
  if exist('OCTAVE_VERSION', 'builtin')
    needPackage('sockets');
    link = struct('number', socket(AF_INET, SOCK_DGRAM, 0), 'host', host, 'port', port);
    try
      failed = connect(link.number, struct('addr', host, 'port', port)) < 0;
    catch
      failed = true;
    end
    if failed
      disconnect(link.number);
      fail('connectionLost', 'cannot reach %s:%d', host, port);
    end
  else
    link = struct('udp', udpport('datagram', 'IPV4'), 'host', host, 'port', port);
  end
end
