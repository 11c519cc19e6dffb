function link = openTcp(host, port, timeout)
% A connection over TCP.
  if exist('OCTAVE_VERSION', 'builtin'), needPackage('instrument-control'); end
  try
    if exist('OCTAVE_VERSION', 'builtin')
      link = tcpclient(host, port, 'Timeout', timeout);
    else
      % Send small messages at once.
      link = tcpclient(host, port, 'Timeout', timeout, 'EnableTransferDelay', false);
    end
  catch problem
    fail('connectionLost', 'cannot connect to %s:%d: %s', host, port, problem.message);
  end
end
