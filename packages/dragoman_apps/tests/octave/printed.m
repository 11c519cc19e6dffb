function yes = printed(text)
% Whether the console of the scripted robot has this text.
  global ROBOT
  yes = any(cellfun(@(line) ~isempty(strfind(line, text)), ROBOT.console));
end
