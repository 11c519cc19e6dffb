function entries = logged(topic)
% What the scripted robot has received on a topic or service: cells of time, name and value.
  global ROBOT
  entries = ROBOT.log(cellfun(@(entry) strcmp(entry{2}, topic), ROBOT.log));
end
