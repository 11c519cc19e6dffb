function message = ros2message(of)
  if isstruct(of)
    of = of.type;
  end
  message = emptyMessage(of);
end
