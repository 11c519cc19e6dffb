function pause(seconds)
  advanceRobot(seconds);
end
