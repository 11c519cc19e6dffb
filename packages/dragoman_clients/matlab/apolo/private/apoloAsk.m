function [kind, payload] = apoloAsk(command, names, data)
% Sends a request and reads its answer. kind is the letter of the answer, or empty if there was none in time.
  frame = apoloFrame(command, names, data);
  for attempt = 1:2
    [link, seconds] = apoloLink('get');
    began = tic;
    try
      write(link, frame);
      [kind, payload] = answer(link);
    catch
      kind = '';
      payload = [];
    end
    if ~isempty(kind)
      return
    end
    % The answer may still come; a new connection prevents that it is taken for the answer to another question.
    apoloLink('drop');
    if toc(began) > 0.9 * seconds
      warning('apolo:noAnswer', 'no answer to ''%s'' in %g s: the name may be unknown', command, seconds);
      return
    end
    % The connection was lost. Repeat requests that change nothing, or have the same effect when repeated.
    if command == 'm'
      error('apolo:connectionLost', 'the connection to Apolo was lost; the robot may have moved');
    end
  end
  error('apolo:connectionLost', 'the connection to Apolo was lost twice: is this the port of Apolo''s protocol?');
end

function [kind, payload] = answer(link)
  kind = '';
  payload = [];
  head = receive(link, 5);
  if numel(head) < 5 || any(head(1:2) ~= uint8('aa'))
    return
  end
  len = double(head(3)) + 256 * double(head(4)) - 5;
  if len > 0
    payload = receive(link, len);
    if numel(payload) < len
      return
    end
  end
  kind = char(head(5));
end

function bytes = receive(link, len)
  bytes = reshape(uint8(read(link, len)), 1, []);
end
